import type { SyncStore } from '#shared/sync/record.ts';
import type { ConflictCopy } from '#shared/sync/conflict.ts';
import type { Vault } from './vault-interface.ts';
import { readValue, parsePayload } from './sync-records.ts';
import type { StoreName } from './vault-schema.ts';
import { computeSums } from './session-rows.ts';
import { createBareSession, type SessionFields, type SessionHead } from './session-records.ts';
import type { Transactions, VaultWrite } from './transactions.ts';

const RESTORE_STORES: StoreName[] = ['conflicts', 'sessions', 'messages', 'config', 'memories', 'projects'];

/** Versions that lost a sync conflict. */
export function createConflictStore({ transactions }: { transactions: Transactions }): Vault['conflicts'] {
  return {
    ids: () => transactions.read(['conflicts'], (tx) => tx.objectStore('conflicts').getAllKeys()),

    get: (id) => transactions.read(['conflicts'], (tx) => tx.objectStore('conflicts').get(id)),

    current: (copy) =>
      transactions.read(['sessions', 'config', 'memories', 'projects', 'files'], async (tx) => {
        const value = await readValue(tx, copy.store as SyncStore, copy.key);
        return value === undefined ? undefined : JSON.stringify(value);
      }),

    resolve: (id, choice) =>
      transactions.write(RESTORE_STORES, async (write) => {
        const copy = await write.tx.objectStore('conflicts').get(id);
        if (!copy) return false;
        if (choice === 'restore') await restoreVersion(write, copy);
        await write.remove('conflicts', id);
        return true;
      }),
  };
}

/** The losing version becomes a new one, and so the newest. */
async function restoreVersion({ tx, put, putSession }: VaultWrite, { store, key, payload }: ConflictCopy): Promise<void> {
  if (store === 'config' || store === 'memories' || store === 'projects') return put(store, key, parsePayload(store, payload));
  if (store !== 'sessions' && store !== 'heads') return;
  const before = await tx.objectStore('sessions').get(key);
  const part = JSON.parse(payload) as SessionFields | SessionHead;
  const restored = { ...(before ?? createBareSession(key)), ...part };
  await putSession({ ...restored, ...(await computeSums(tx, key, restored.headId)) }, before);
}
