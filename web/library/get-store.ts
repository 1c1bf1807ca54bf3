import { type StoreNames, unwrap } from 'idb';
import type { Transaction } from '../gateway/storage/database.ts';
import type { WorkspaceSchema } from './workspace-schema.ts';

/**
 * A store for writes that are not awaited one by one: they run in order, and a failed one aborts the transaction, which reports the error.
 */
export const getStore = (tx: Transaction<WorkspaceSchema, 'readwrite'>, store: StoreNames<WorkspaceSchema>): IDBObjectStore =>
  unwrap(tx.objectStore(store));
