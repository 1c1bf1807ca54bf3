import type { Collection, Collections, RecordWrite } from '../core/vault.ts';
import type { Schema } from './schema.ts';
import type { Transactions, Write } from './transaction.ts';

/** Keys of records: the key paths of their stores. */
const KEYS: { [Name in keyof Collections]: (record: Collections[Name]) => string } = {
  plans: ({ id }) => id,
  jobs: ({ id }) => id,
  jobRuns: ({ id }) => id,
  execRequests: ({ requestId }) => requestId,
  execPolicies: ({ hash }) => hash,
  approvals: ({ id }) => id,
  devices: ({ id }) => id,
  apiKeys: ({ id }) => id,
  responses: ({ id }) => id,
  conversations: ({ id }) => id,
  apiFiles: ({ id }) => id,
  systemEvents: ({ id }) => id,
  mcpTools: ({ id }) => id,
  channelStates: ({ id }) => id,
  drawings: ({ id }) => id,
  drawingChanges: ({ key }) => key,
  contentLabels: ({ id }) => id,
  fileVersions: ({ id }) => id,
};

/**
 * For records that only advance, the stage of a written version as its fence: a concurrent version of an earlier stage never wins. A device
 * revoked by one host stays revoked, even if another host saw it later. Undefined: deleted.
 */
const STAGES: { [Name in keyof Collections]?: (record: Collections[Name] | undefined) => number } = {
  devices: (record) => (record === undefined ? 2 : record.state === 'paired' ? 1 : 0),
  apiKeys: (record) => (record === undefined ? 1 : 0),
  // The previous holder of the channel may still write, under an earlier lease.
  channelStates: (record) => record?.fence ?? 0,
  drawings: (record) => (record === undefined ? 1 : 0),
};

/** Writes records of several stores in one transaction. */
export async function writeTogether(transactions: Transactions, writes: readonly RecordWrite[]): Promise<void> {
  if (writes.length === 0) return;
  await transactions.write([...new Set(writes.map(({ store }) => store))], async (write) => {
    await Promise.all(writes.map((each) => writeOne(write, each.store, each)));
  });
}

function writeOne<Name extends keyof Collections>({ put, remove }: Write, store: Name, { record, key }: RecordWrite<Name>): Promise<void> {
  const stageOf: ((record: Collections[Name] | undefined) => number) | undefined = STAGES[store];
  const stage = stageOf?.(record);
  // The cast is explained in `collectionOf`.
  return record === undefined ? remove(store, key, stage) : put(store, key, record as Schema[Name]['value'], stage);
}

/** The records of one store. */
export function collectionOf<Name extends keyof Collections>(transactions: Transactions, name: Name): Collection<Collections[Name]> {
  type Value = Collections[Name];
  const keyOf: (record: Value) => string = KEYS[name];
  const stageOf: ((record: Value | undefined) => number) | undefined = STAGES[name];
  // A store's value is its collection's record, which the compiler does not follow through the mapped type.
  const stored = (value: Value) => value as Schema[Name]['value'];
  return {
    get: (key) => transactions.read([name], async (tx) => (await tx.objectStore(name).get(key)) as Value | undefined),
    list: (prefix = '') => {
      const keys = prefix === '' ? null : IDBKeyRange.bound(prefix, `${prefix}\uffff`);
      return transactions.read([name], async (tx) => (await tx.objectStore(name).getAll(keys)) as Value[]);
    },
    keys: (prefix = '') => {
      const keys = prefix === '' ? null : IDBKeyRange.bound(prefix, `${prefix}\uffff`);
      return transactions.read([name], async (tx) => (await tx.objectStore(name).getAllKeys(keys)) as string[]);
    },
    put: (record) => transactions.write([name], ({ put }) => put(name, keyOf(record), stored(record), stageOf?.(record))),
    update: (key, change) =>
      transactions.write([name], async ({ tx, put }) => {
        const before = (await tx.objectStore(name).get(key)) as Value | undefined;
        const after = change(before);
        if (after === undefined) return before;
        await put(name, keyOf(after), stored(after), stageOf?.(after));
        return after;
      }),
    remove: (key) =>
      transactions.write([name], async ({ tx, remove }) => {
        if ((await tx.objectStore(name).getKey(key)) === undefined) return false;
        await remove(name, key, stageOf?.(undefined));
        return true;
      }),
  };
}
