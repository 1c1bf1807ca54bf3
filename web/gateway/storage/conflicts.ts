import type { SyncStore } from '#shared/sync/record.ts';
import type { ConflictCopy } from '#shared/sync/conflict.ts';
import type { Vault } from '../core/vault.ts';
import { readValue, valueOf } from './records.ts';
import type { StoreName } from './schema.ts';
import { sumsOf } from './session-rows.ts';
import { bareSession, type EntryPart, type HeadPart } from './session-parts.ts';
import type { Transactions, Write } from './transaction.ts';

const RESTORED: StoreName[] = ['conflicts', 'sessions', 'messages', 'config', 'memories'];

/** Versions that lost a sync conflict. */
export function conflictStore({ transactions }: { transactions: Transactions }): Vault['conflicts'] {
  return {
    ids: () => transactions.read(['conflicts'], (tx) => tx.objectStore('conflicts').getAllKeys()),

    get: (id) => transactions.read(['conflicts'], (tx) => tx.objectStore('conflicts').get(id)),

    current: (copy) =>
      transactions.read(['sessions', 'config', 'memories', 'files'], async (tx) => {
        const value = await readValue(tx, copy.store as SyncStore, copy.key);
        return value === undefined ? undefined : JSON.stringify(value);
      }),

    resolve: (id, choice) =>
      transactions.write(RESTORED, async (write) => {
        const copy = await write.tx.objectStore('conflicts').get(id);
        if (!copy) return false;
        if (choice === 'restore') await restore(write, copy);
        await write.remove('conflicts', id);
        return true;
      }),
  };
}

/** The losing version becomes a new one, and so the newest. */
async function restore({ tx, put, putSession }: Write, { store, key, payload }: ConflictCopy): Promise<void> {
  if (store === 'config' || store === 'memories') return put(store, key, valueOf(store, payload));
  if (store !== 'sessions' && store !== 'heads') return;
  const before = await tx.objectStore('sessions').get(key);
  const part = JSON.parse(payload) as EntryPart | HeadPart;
  const restored = { ...(before ?? bareSession(key)), ...part };
  await putSession({ ...restored, ...(await sumsOf(tx, key, restored.headId)) }, before);
}
