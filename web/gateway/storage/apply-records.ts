import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import { mergeRecord } from '#shared/sync/conflict.ts';
import { findPayloadProblem } from '#shared/sync/payload.ts';
import { SYNC_STORES, type SyncRecord, type SyncStore, wins } from '#shared/sync/record.ts';
import type { RemoteChange } from './vault-interface.ts';
import { isPushed } from './change-log.ts';
import { readValue, toRecord, parsePayload } from './sync-records.ts';
import { putInStore, removeFromStore } from './store-requests.ts';
import { isAncestorHead } from './run-store.ts';
import type { ChangeRow, RecordStoreName, VaultSchema, StoredMessage, WriteTransaction } from './vault-schema.ts';
import type { SessionFields, SessionHead } from './session-records.ts';
import type { CommittedChanges } from './transactions.ts';
import { deleteRunProgress } from './run-progress.ts';
import { SessionRows } from './session-rows.ts';
import { computeStoredBytes } from './session-totals.ts';

interface ApplyResult {
  changes: RemoteChange[];
  /** Local versions that lost a conflict, as new records for the journal. */
  copies: SyncRecord[];
  committed: CommittedChanges;
}

/**
 * Applies records of other hosts in one transaction: each if it wins over the local one (shared/sync/record.ts). `isFresh`: whether the vault
 * is empty. A local version that the journal never saw, and that loses, is stored as a conflict copy, as the journal would have done.
 */
export async function applyRecords(
  tx: WriteTransaction,
  records: readonly SequencedRecord[],
  { pushed, fresh: isFresh, onfault }: { pushed: string; fresh: boolean; onfault: (error: unknown) => void },
): Promise<ApplyResult> {
  const log = tx.objectStore('changes');
  const rows = new Map<string, ChangeRow | undefined>();
  const toRecordId = (store: SyncStore, key: string): string => `${store}/${key}`;
  if (!isFresh) {
    await Promise.all(records.map(async ({ store, key }) => rows.set(toRecordId(store, key), await log.get([store, key]))));
  }
  const isPresent = async (store: SyncStore, key: string): Promise<boolean> => {
    const id = toRecordId(store, key);
    const row = rows.has(id) ? rows.get(id) : await log.get([store, key]);
    return row !== undefined && !row.deleted;
  };
  const sessions = new SessionRows(tx);
  const applied: Pick<ApplyResult, 'changes' | 'copies'> = { changes: [], copies: [] };
  const messages = new Set<string>();
  const copies: { copy: SyncRecord; ours: SyncRecord; theirs: unknown }[] = [];

  for (const record of records) {
    const { store, key, clock, fence } = record;
    const before = rows.get(toRecordId(store, key));
    if (before && !wins(record, before)) continue;
    let value: unknown;
    try {
      value = record.payload === null ? undefined : parsePayload(store as RecordStoreName, record.payload);
      // IndexedDB would abort the transaction, and with it all other records.
      const problem = value === undefined ? undefined : findPayloadProblem(store, key, value);
      if (problem !== undefined) throw new Error(`Skipped a synced record of ${store}: it ${problem}`);
    } catch (error) {
      onfault(error);
      continue;
    }
    if (before && SYNC_STORES[store].conflicts && !isPushed(before, pushed)) {
      const ours = toRecord(before, await readValue(tx, store, key), undefined);
      const copy = ours && mergeRecord(ours, record).copy;
      if (copy) copies.push({ copy, ours, theirs: value });
    }
    const row: ChangeRow = { store, key, clock };
    if (fence !== undefined) row.fence = fence;
    if (value === undefined) row.deleted = 1;
    rows.set(toRecordId(store, key), row);
    putInStore(tx, 'changes', row);
    const change: RemoteChange = { store, key, deleted: value === undefined };
    // A record that never existed here is not reported as deleted: a chat whose first message could not be stored was not deleted.
    if (value !== undefined || (before && !before.deleted)) applied.changes.push(change);

    if (store === 'sessions') {
      change.sessionKey = key;
      await sessions.setEntry(key, value as SessionFields | undefined, () => isPresent('heads', key));
    } else if (store === 'heads') {
      change.sessionKey = key;
      await sessions.setHead(key, value as SessionHead | undefined, () => isPresent('sessions', key));
    } else if (store === 'messages') {
      const message = value as StoredMessage | undefined;
      const stored = (before && !before.deleted) || (!message && !isFresh) ? await tx.objectStore('messages').get(key) : undefined;
      const sessionKey = (message ?? stored)?.sessionKey;
      if (sessionKey === undefined) continue;
      change.sessionKey = sessionKey;
      messages.add(key);
      const bytes = (message ? computeStoredBytes(message) : 0) - (stored ? computeStoredBytes(stored) : 0);
      await sessions.countMessage(sessionKey, message ? (stored ? 0 : 1) : -1, bytes);
      if (message) putInStore(tx, 'messages', message);
      else removeFromStore(tx, 'messages', key);
    } else {
      if (store === 'runs' && value !== undefined) {
        const run = value as VaultSchema['runs']['value'];
        // The partial text of a run does not change the list of chats.
        if (!before || run.endedAt !== undefined) change.sessionKey = run.sessionKey;
        if (run.endedAt !== undefined && before) deleteRunProgress(tx, key);
      }
      if (value === undefined) removeFromStore(tx, store, key);
      else putInStore(tx, store, value as never);
    }
  }
  // Last, since the messages that a head names may come after it.
  for (const { copy, ours, theirs } of copies) {
    if (ours.store === 'heads' && (await isContinuation(tx, ours, theirs as SessionHead | undefined))) continue;
    applied.copies.push(copy);
    applied.changes.push({ store: 'conflicts', key: copy.key, deleted: false });
    putInStore(tx, 'conflicts', parsePayload('conflicts', copy.payload ?? ''));
    putInStore(tx, 'changes', { store: 'conflicts', key: copy.key, clock: copy.clock, own: 1 });
  }
  if (messages.size > 0) putInStore(tx, 'searchPending', { ids: [...messages] });
  return { ...applied, committed: { sessions: await sessions.store(), messages: messages.size } };
}

/** Whether the branch chosen by another host continues from the end of ours: then nothing was lost. */
async function isContinuation(tx: WriteTransaction, { payload }: SyncRecord, theirs: SessionHead | undefined): Promise<boolean> {
  if (payload === null || !theirs || theirs.headId === null) return false;
  const { headId } = JSON.parse(payload) as SessionHead;
  const message = await tx.objectStore('messages').get(theirs.headId);
  return headId !== null && message !== undefined && isAncestorHead(tx, message, headId);
}
