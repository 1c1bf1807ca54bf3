import { unwrap } from 'idb';
import type { Schema, StoreName, WriteTransaction } from './schema.ts';

// Writes without a promise for each request: IndexedDB processes a transaction's requests in order, and a failing one aborts the
// transaction, which reports the error. A promise per request costs as much as the request itself.

export function putInto<Name extends StoreName>(tx: WriteTransaction, store: Name, value: Schema[Name]['value']): void {
  unwrap(tx.objectStore(store)).put(value);
}

export function removeFrom(tx: WriteTransaction, store: StoreName, key: IDBValidKey | IDBKeyRange): void {
  unwrap(tx.objectStore(store)).delete(key);
}
