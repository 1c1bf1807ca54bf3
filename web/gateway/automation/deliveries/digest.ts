import { toCanonicalJson } from '#shared/canonical-json.ts';
import { sha256 } from '#shared/sha256.ts';
import type { DeliveryRecord } from '../../storage/records/delivery-record.ts';
import type { DeliveryStore } from './delivery-store.ts';

/**
 * Combines a delivery whose digest is due with the others for the same target into a new delivery, in one write. False if it is the only
 * one, which is sent as it is.
 */
export async function combineDigest(store: DeliveryStore, { target, expiresAt }: DeliveryRecord, now: number): Promise<boolean> {
  const targetKey = toCanonicalJson(target);
  const parts = [...store.open.values()]
    .filter((each) => each.state === 'waiting' && each.waitsFor === 'digest' && (each.nextAt ?? 0) <= now)
    .filter((each) => toCanonicalJson(each.target) === targetKey)
    .sort((a, b) => a.createdAt - b.createdAt);
  const [first] = parts;
  if (!first || parts.length < 2) return false;
  const key = `digest:${parts.map(({ id, resends }) => `${id}:${resends}`).join(',')}`;
  const id = (await sha256(key)).slice(0, 32);
  const outside = [...new Set(parts.flatMap((part) => part.outside ?? []))];
  const digest: DeliveryRecord = {
    ...{ id, key, target, source: first.source, state: 'waiting', attempts: 0, resends: 0, sentIds: [], expiresAt },
    text: parts.map(({ title, text }) => (title === undefined ? text : `${title}\n${text}`)).join('\n\n'),
    title: `${parts.length} messages`,
    ...{ createdAt: now, updatedAt: now },
    ...(outside.length > 0 ? { outside } : {}),
  };
  await store.writeAll([
    digest,
    ...parts.map(({ nextAt: _, waitsFor: __, ...part }): DeliveryRecord => ({ ...part, state: 'combined', digestId: id, updatedAt: now })),
  ]);
  return true;
}
