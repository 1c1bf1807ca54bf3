import type { SyncStore } from '#shared/sync/record.ts';
import type { SessionRecord } from './chat-records.ts';
import { deleteUnusedBlobs, BLOB_STORES } from './blob-store.ts';
import { putInStore } from './store-requests.ts';
import { computeStoredBytes } from './session-totals.ts';
import { readPreview } from './session-rows.ts';
import type { Transactions } from './transactions.ts';
import type { RecordStoreName, StoreName, StoredMessage, VaultSchema } from './vault-schema.ts';

/** Stores whose texts can be found and changed; sessions are changed with their messages. */
type ForgetStoreName = Exclude<RecordStoreName, 'config' | 'secrets'>;

/** A record of any of these stores. */
export interface StoredRecord {
  store: ForgetStoreName;
  key: string;
  value: Record<string, unknown>;
}

/** Finds texts in all stores of the vault, and changes the records that contain them. */
export interface ForgetStore {
  /** Calls `visit` for each record of a store, in slices that leave room for other work. */
  forEach(store: ForgetStoreName, visit: (record: StoredRecord) => void): Promise<void>;
  /**
   * Strict: replaces a record with the result of `change`; undefined removes it, and the same value leaves it unchanged. Size and preview of
   * a message's chat follow. False if nothing was changed.
   */
  change(
    store: ForgetStoreName,
    key: string,
    change: (value: Record<string, unknown>) => Record<string, unknown> | undefined,
  ): Promise<boolean>;
  /** Ids of the `forgettings` whose derived data was deleted from this replica. */
  readForgotten(): Promise<Set<string>>;
  addForgotten(ids: readonly string[]): Promise<void>;
}

/** Number of records per read. */
const BATCH_SIZE = 250;
const MESSAGE_STORES: StoreName[] = [...BLOB_STORES, 'sessions'];

export function createForgetStore({ transactions }: { transactions: Transactions }): ForgetStore {
  const readForgotten = async (): Promise<Set<string>> => {
    const row = await transactions.read(['local'], (tx) => tx.objectStore('local').get('forgotten'));
    return new Set(row?.name === 'forgotten' ? row.ids : []);
  };
  return {
    async forEach(store, visit) {
      for (let after: string | undefined; ;) {
        const range = after === undefined ? null : IDBKeyRange.lowerBound(after, true);
        const [keys, values] = await transactions.read([store], (tx) => {
          const records = tx.objectStore(store as SyncStore & StoreName);
          return Promise.all([records.getAllKeys(range, BATCH_SIZE), records.getAll(range, BATCH_SIZE)]);
        });
        keys.forEach((key, index) => visit({ store, key: String(key), value: values[index] as unknown as Record<string, unknown> }));
        if (keys.length < BATCH_SIZE) return;
        after = String(keys.at(-1));
      }
    },

    change: (store, key, change) =>
      transactions.write(store === 'messages' || store === 'trashRecords' ? MESSAGE_STORES : [store], async (write) => {
        const { tx, put, remove, putSession } = write;
        const before = (await tx.objectStore(store).get(key)) as Record<string, unknown> | undefined;
        if (!before) return false;
        const after = change(before);
        if (after === before) return false;
        const fence = typeof before['fence'] === 'number' ? before['fence'] : undefined;
        if (after) await put(store, key, after as unknown as VaultSchema[ForgetStoreName]['value'], fence);
        else await remove(store, key, fence);
        if (store === 'messages' && after) {
          const message = after as unknown as StoredMessage;
          const session = await tx.objectStore('sessions').get(message.sessionKey);
          if (session) {
            const size = session.size + computeStoredBytes(message) - computeStoredBytes(before as unknown as StoredMessage);
            const changed: SessionRecord = { ...session, size, preview: await readPreview(tx, session.headId) };
            await putSession(changed, session);
          }
        }
        const blobs = before['blobs'];
        if (Array.isArray(blobs) && after?.['blobs'] !== blobs) await deleteUnusedBlobs(tx, blobs.map(String));
        return true;
      }),

    readForgotten,

    async addForgotten(ids) {
      const known = await readForgotten();
      await transactions.writeLocal(['local'], async (tx) =>
        putInStore(tx, 'local', { name: 'forgotten', ids: [...new Set([...known, ...ids])] }),
      );
    },
  };
}
