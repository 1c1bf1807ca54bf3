import type { SequencedRecord } from '#shared/ports/journal.ts';
import { mergeInto } from '#shared/sync/conflict.ts';
import { payloadProblem } from '#shared/sync/payload.ts';
import { SYNC_STORES, type SyncRecord, type SyncStore, wins } from '#shared/sync/record.ts';
import type { ForeignChange } from '../core/vault.ts';
import { isPushed } from './change-log.ts';
import { readValue, toRecord, valueOf } from './records.ts';
import { putInto, removeFrom } from './requests.ts';
import { isBelow } from './runs.ts';
import type { ChangeRow, PlainStore, Schema, StoredMessage, WriteTransaction } from './schema.ts';
import type { EntryPart, HeadPart } from './session-parts.ts';
import type { Committed } from './transaction.ts';
import { forgetUnderWay } from './under-way.ts';
import { SessionRows } from './session-rows.ts';
import { storedBytes } from './session-totals.ts';

export interface Applied {
  changes: ForeignChange[];
  /** Local versions that lost a conflict, as new records for the journal. */
  copies: SyncRecord[];
  committed: Committed;
}

/**
 * Applies records of other hosts in one transaction: each if it wins over the local one (shared/sync/record.ts). `fresh`: whether the vault
 * is empty. A local version that the journal never saw, and that loses, is stored as a conflict copy, as the journal would have done.
 */
export async function applyRecords(
  tx: WriteTransaction,
  records: readonly SequencedRecord[],
  { pushed, fresh, onfault }: { pushed: string; fresh: boolean; onfault: (error: unknown) => void },
): Promise<Applied> {
  const log = tx.objectStore('changes');
  const rows = new Map<string, ChangeRow | undefined>();
  const idOf = (store: SyncStore, key: string): string => `${store}/${key}`;
  if (!fresh) {
    await Promise.all(records.map(async ({ store, key }) => rows.set(idOf(store, key), await log.get([store, key]))));
  }
  const lives = async (store: SyncStore, key: string): Promise<boolean> => {
    const id = idOf(store, key);
    const row = rows.has(id) ? rows.get(id) : await log.get([store, key]);
    return row !== undefined && !row.deleted;
  };
  const sessions = new SessionRows(tx);
  const applied: Pick<Applied, 'changes' | 'copies'> = { changes: [], copies: [] };
  const messages = new Set<string>();
  const copies: { copy: SyncRecord; ours: SyncRecord; theirs: unknown }[] = [];

  for (const record of records) {
    const { store, key, clock, fence } = record;
    const before = rows.get(idOf(store, key));
    if (before && !wins(record, before)) continue;
    let value: unknown;
    try {
      value = record.payload === null ? undefined : valueOf(store as PlainStore, record.payload);
      // IndexedDB would abort the transaction, and with it all other records.
      const problem = value === undefined ? undefined : payloadProblem(store, key, value);
      if (problem !== undefined) throw new Error(`Skipped a synced record of ${store}: it ${problem}`);
    } catch (error) {
      onfault(error);
      continue;
    }
    if (before && SYNC_STORES[store].conflicts && !isPushed(before, pushed)) {
      const ours = toRecord(before, await readValue(tx, store, key), undefined);
      const copy = ours && mergeInto(ours, record).copy;
      if (copy) copies.push({ copy, ours, theirs: value });
    }
    const row: ChangeRow = { store, key, clock };
    if (fence !== undefined) row.fence = fence;
    if (value === undefined) row.deleted = 1;
    rows.set(idOf(store, key), row);
    putInto(tx, 'changes', row);
    const change: ForeignChange = { store, key, deleted: value === undefined };
    // A record that never existed here is not reported as deleted: a chat whose first message could not be stored was not deleted.
    if (value !== undefined || (before && !before.deleted)) applied.changes.push(change);

    if (store === 'sessions') {
      change.sessionKey = key;
      await sessions.setEntry(key, value as EntryPart | undefined, () => lives('heads', key));
    } else if (store === 'heads') {
      change.sessionKey = key;
      await sessions.setHead(key, value as HeadPart | undefined, () => lives('sessions', key));
    } else if (store === 'messages') {
      const message = value as StoredMessage | undefined;
      const known = (before && !before.deleted) || (!message && !fresh) ? await tx.objectStore('messages').get(key) : undefined;
      const sessionKey = (message ?? known)?.sessionKey;
      if (sessionKey === undefined) continue;
      change.sessionKey = sessionKey;
      messages.add(key);
      const bytes = (message ? storedBytes(message) : 0) - (known ? storedBytes(known) : 0);
      await sessions.message(sessionKey, message ? (known ? 0 : 1) : -1, bytes);
      if (message) putInto(tx, 'messages', message);
      else removeFrom(tx, 'messages', key);
    } else {
      if (store === 'runs' && value !== undefined) {
        const run = value as Schema['runs']['value'];
        // The partial text of a run does not change the list of chats.
        if (!before || run.endedAt !== undefined) change.sessionKey = run.sessionKey;
        if (run.endedAt !== undefined && before) forgetUnderWay(tx, key);
      }
      if (value === undefined) removeFrom(tx, store, key);
      else putInto(tx, store, value as never);
    }
  }
  // Last, since the messages that a head names may come after it.
  for (const { copy, ours, theirs } of copies) {
    if (ours.store === 'heads' && (await isContinued(tx, ours, theirs as HeadPart | undefined))) continue;
    applied.copies.push(copy);
    applied.changes.push({ store: 'conflicts', key: copy.key, deleted: false });
    putInto(tx, 'conflicts', valueOf('conflicts', copy.payload ?? ''));
    putInto(tx, 'changes', { store: 'conflicts', key: copy.key, clock: copy.clock, own: 1 });
  }
  if (messages.size > 0) putInto(tx, 'searchPending', { ids: [...messages] });
  return { ...applied, committed: { sessions: await sessions.store(), messages: messages.size } };
}

/** Whether the branch chosen by another host continues from the end of ours: then nothing was lost. */
async function isContinued(tx: WriteTransaction, { payload }: SyncRecord, theirs: HeadPart | undefined): Promise<boolean> {
  if (payload === null || !theirs || theirs.headId === null) return false;
  const { headId } = JSON.parse(payload) as HeadPart;
  const message = await tx.objectStore('messages').get(theirs.headId);
  return headId !== null && message !== undefined && isBelow(tx, message, headId);
}
