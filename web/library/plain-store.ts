import { type StoreNames, unwrap } from 'idb';
import type { Transaction } from '../gateway/storage/database.ts';
import type { WorkspaceSchema } from './schema.ts';

/** A store for writes that nobody waits for one by one: they are done in their order, and one that fails aborts the transaction, which is how it is heard of. */
export const plain = (tx: Transaction<WorkspaceSchema, 'readwrite'>, store: StoreNames<WorkspaceSchema>): IDBObjectStore =>
  unwrap(tx.objectStore(store));
