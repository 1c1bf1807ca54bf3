import { unwrap } from 'idb';
import type { VaultSchema, StoreName, WriteTransaction } from './vault-schema.ts';

// Writes without a promise for each request: IndexedDB processes a transaction's requests in order, and a failing one aborts the
// transaction, which reports the error. A promise per request costs as much as the request itself.

export function putInStore<Name extends StoreName>(tx: WriteTransaction, store: Name, value: VaultSchema[Name]['value']): void {
  unwrap(tx.objectStore(store)).put(value);
}

export function removeFromStore(tx: WriteTransaction, store: StoreName, key: IDBValidKey | IDBKeyRange): void {
  unwrap(tx.objectStore(store)).delete(key);
}
