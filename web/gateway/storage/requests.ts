import { unwrap } from 'idb';
import type { Schema, StoreName, WriteTransaction } from './schema.ts';

// Writes that nobody waits for one by one: IndexedDB does a transaction's requests in their order, and one that fails aborts the transaction, which
// is how it is heard of. A promise for each costs the worker as much as the request does.

export function putInto<Name extends StoreName>(tx: WriteTransaction, store: Name, value: Schema[Name]['value']): void {
  unwrap(tx.objectStore(store)).put(value);
}

export function removeFrom(tx: WriteTransaction, store: StoreName, key: IDBValidKey | IDBKeyRange): void {
  unwrap(tx.objectStore(store)).delete(key);
}
