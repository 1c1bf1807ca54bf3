import { randomBytes } from 'node:crypto';
import { HybridClock } from '#shared/sync/hybrid-clock.ts';
import { SYNC_STORES, type SyncRecord, type SyncStore } from '#shared/sync/record.ts';
import type { Journal } from '../journal/journal.ts';
import { isActiveRun } from './backup-format.ts';
import type { Backup } from './read-backup.ts';
import { isRight, withCurrentRights } from './restored-rights.ts';
import type { Secrets, VaultSeal } from './sealed-secrets.ts';

/** Numbers of changes in a store, without the backup's runs in progress. */
export interface StoreChanges {
  added: number;
  changed: number;
  unchanged: number;
  removed: number;
}

/** Writes that a restore would do. */
export interface RestorePlan {
  stores: Record<SyncStore, StoreChanges>;
  records: Omit<SyncRecord, 'clock'>[];
  /** Attachments that the journal lacks. */
  blobs: string[];
  /** Latest timestamp in the journal and its newest sequence number at planning time. */
  latest: string | null;
  head: number;
}

interface RestoreInput {
  journal: Journal;
  backup: Backup;
  /** The backup's records. */
  records: readonly SyncRecord[];
  /** The decrypted secrets, if any, and the vault's seal. */
  secrets: Secrets;
  seal: VaultSeal;
  /** Whether to delete everything that is not in the backup, except secrets, rights and labels of replies. */
  replace: boolean;
}

const PAGE_SIZE = 1000;

const isLabel = ({ store, payload }: Pick<SyncRecord, 'store' | 'payload'>): boolean => store === 'contentLabels' && payload !== null;
/** Whether a label is of a reply that a program may send back, whatever the vault contains. */
const isReplyLabel = ({ store, key }: Pick<SyncRecord, 'store' | 'key'>): boolean => store === 'contentLabels' && key.startsWith('reply:');

const toRecordId = ({ store, key }: Pick<SyncRecord, 'store' | 'key'>): string => `${store}/${key}`;

/** Compares a backup with the journal without writing anything. */
export async function planRestore({ journal, backup, records, secrets, seal, replace }: RestoreInput): Promise<RestorePlan> {
  const plan: RestorePlan = { stores: createEmptyChanges(), records: [], blobs: [], latest: null, head: journal.head };
  const remaining = new Map(
    records.filter((record) => !isActiveRun(record) && !isRight(record)).map((record) => [toRecordId(record), record]),
  );
  const blobs = new Set([...remaining.values()].flatMap((record) => record.blobs ?? []).filter((hash) => backup.blobs.has(hash)));
  const values = new Map(secrets.map(({ name, value }) => [name, value]));

  const write = (next: Pick<SyncRecord, 'store' | 'key' | 'payload' | 'fence' | 'blobs'>, current?: SyncRecord): void => {
    const { store, key, payload, blobs } = next;
    // The higher fence wins before clocks are compared (shared/sync/record.ts).
    const fence = Math.max(next.fence ?? 0, current?.fence ?? 0);
    plan.records.push({
      store,
      key,
      ...(fence > 0 && { fence }),
      ...(SYNC_STORES[store].conflicts && { base: current?.clock ?? null }),
      ...(payload === null && { deleted: true }),
      seal: 'none',
      payload,
      ...(blobs && { blobs }),
    });
  };

  for await (const current of journal.snapshot()) {
    const { store, key, payload, clock } = current;
    const [id, changes] = [toRecordId(current), plan.stores[store]];
    if (plan.latest === null || clock > plan.latest) plan.latest = clock;
    const found = remaining.get(id);
    const before = found && { ...found, payload: withCurrentRights(found, payload) };
    const value = store === 'secrets' ? values.get(key) : undefined;
    if (isRight(current)) continue;
    if (isActiveRun(current)) remaining.delete(id);
    else if (before || value !== undefined) {
      remaining.delete(id);
      if (value !== undefined) values.delete(key);
      const same = value === undefined ? payload === before?.payload : payload !== null && seal.open(key, payload) === value;
      changes[payload === null ? 'added' : same ? 'unchanged' : 'changed']++;
      if (!same) write(before ?? { store, key, payload: seal.seal(key, value ?? '') }, current);
    } else if (replace && payload !== null && store !== 'secrets' && !isReplyLabel(current)) {
      changes.removed++;
      write({ store, key, payload: null }, current);
    }
  }
  for (const record of remaining.values()) {
    plan.stores[record.store].added++;
    write({ ...record, payload: withCurrentRights(record, null) });
  }
  for (const [key, value] of values) {
    plan.stores.secrets.added++;
    write({ store: 'secrets', key, payload: seal.seal(key, value) });
  }
  // Hosts apply them in this order: content must not arrive before its label.
  const [labels, others] = [plan.records.filter(isLabel), plan.records.filter((record) => !isLabel(record))];
  plan.records = [...labels, ...others];
  for (const hash of blobs) if (!(await journal.getBlob(hash))) plan.blobs.push(hash);
  return plan;
}

/**
 * Writes a plan atomically. Its timestamps are later than all in the journal, so that every replica accepts it. Changes made since the plan
 * are kept as copies in stores that have those.
 */
export async function applyRestore(
  { records, blobs, latest, head }: RestorePlan,
  { journal, backup }: Pick<RestoreInput, 'journal' | 'backup'>,
): Promise<void> {
  const origin = `restore-${randomBytes(8).toString('hex')}`;
  // Attachments first, since a record must not precede what it refers to. Without records they have no effect.
  for (const hash of blobs) await journal.putBlob(hash, await backup.blob(hash));
  if (records.length === 0) return;
  await journal.open({ origin, schema: Math.max(1, backup.manifest.schema), position: null });
  const clock = new HybridClock(Date.now, origin);
  if (latest !== null) clock.receive(latest);
  for (let after = head; ;) {
    const since = await journal.pull(after, PAGE_SIZE);
    for (const record of since.records) clock.receive(record.clock);
    after = since.next;
    if (after >= since.head) break;
  }
  await journal.push(
    records.map((record) => ({ ...record, clock: clock.tick() })),
    origin,
  );
}

const createEmptyChanges = (): RestorePlan['stores'] => {
  const stores = Object.keys(SYNC_STORES) as SyncStore[];
  return Object.fromEntries(stores.map((store) => [store, { added: 0, changed: 0, unchanged: 0, removed: 0 }])) as RestorePlan['stores'];
};
