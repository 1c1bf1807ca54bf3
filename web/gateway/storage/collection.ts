import type { Collection, Collections, RecordWrite } from './vault-interface.ts';
import { getDeliveryStage } from './delivery-stage.ts';
import { getDrawingStage } from './drawing-stage.ts';
import type { VaultSchema } from './vault-schema.ts';
import type { Transactions, VaultWrite } from './transactions.ts';

/** Keys of records: the key paths of their stores. */
const KEY_PATHS: { [Name in keyof Collections]: (record: Collections[Name]) => string } = {
  plans: ({ id }) => id,
  jobs: ({ id }) => id,
  jobRuns: ({ id }) => id,
  execRequests: ({ requestId }) => requestId,
  execPolicies: ({ hash }) => hash,
  approvals: ({ id }) => id,
  devices: ({ id }) => id,
  apiKeys: ({ id }) => id,
  projects: ({ id }) => id,
  hooks: ({ name }) => name,
  hookCalls: ({ id }) => id,
  budgets: ({ id }) => id,
  pushDevices: ({ id }) => id,
  deliveries: ({ id }) => id,
  responses: ({ id }) => id,
  conversations: ({ id }) => id,
  apiFiles: ({ id }) => id,
  systemEvents: ({ id }) => id,
  mcpTools: ({ id }) => id,
  channelStates: ({ id }) => id,
  drawings: ({ id }) => id,
  drawingChanges: ({ key }) => key,
  contentLabels: ({ id }) => id,
  provenance: ({ id }) => id,
  forgettings: ({ id }) => id,
  fileVersions: ({ id }) => id,
  collections: ({ id }) => id,
  collectionDocuments: ({ id }) => id,
  collectionTexts: ({ id }) => id,
};

/**
 * For records that only advance, the stage of a written version as its fence: a concurrent version of an earlier stage never wins. A device
 * revoked by one host stays revoked, even if another host saw it later. Undefined: deleted.
 */
const RECORD_STAGES: { [Name in keyof Collections]?: (record: Collections[Name] | undefined) => number } = {
  devices: (record) => (record === undefined ? 2 : record.state === 'paired' ? 1 : 0),
  apiKeys: (record) => (record === undefined ? 1 : 0),
  pushDevices: (record) => (record === undefined ? 1 : 0),
  // The previous holder of the channel may still write, under an earlier lease.
  channelStates: (record) => record?.fence ?? 0,
  drawings: (record) => (record === undefined ? 1 : getDrawingStage(record)),
  deliveries: getDeliveryStage,
};

/** Writes records of several stores in one transaction. */
export async function writeRecords(transactions: Transactions, writes: readonly RecordWrite[]): Promise<void> {
  if (writes.length === 0) return;
  await transactions.write([...new Set(writes.map(({ store }) => store))], async (write) => {
    await Promise.all(writes.map((each) => writeRecord(write, each.store, each)));
  });
}

function writeRecord<Name extends keyof Collections>(
  { put, remove }: VaultWrite,
  store: Name,
  { record, key }: RecordWrite<Name>,
): Promise<void> {
  const getStage: ((record: Collections[Name] | undefined) => number) | undefined = RECORD_STAGES[store];
  const stage = getStage?.(record);
  // The cast is explained in `createCollection`.
  return record === undefined ? remove(store, key, stage) : put(store, key, record as VaultSchema[Name]['value'], stage);
}

/** The records of one store. */
export function createCollection<Name extends keyof Collections>(transactions: Transactions, name: Name): Collection<Collections[Name]> {
  type Value = Collections[Name];
  const getKey: (record: Value) => string = KEY_PATHS[name];
  const getStage: ((record: Value | undefined) => number) | undefined = RECORD_STAGES[name];
  // A store's value is its collection's record, which the compiler does not follow through the mapped type.
  const toStored = (value: Value) => value as VaultSchema[Name]['value'];
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
    put: (record) => transactions.write([name], ({ put }) => put(name, getKey(record), toStored(record), getStage?.(record))),
    update: (key, change) =>
      transactions.write([name], async ({ tx, put }) => {
        const before = (await tx.objectStore(name).get(key)) as Value | undefined;
        const after = change(before);
        if (after === undefined) return before;
        await put(name, getKey(after), toStored(after), getStage?.(after));
        return after;
      }),
    remove: (key) =>
      transactions.write([name], async ({ tx, remove }) => {
        if ((await tx.objectStore(name).getKey(key)) === undefined) return false;
        await remove(name, key, getStage?.(undefined));
        return true;
      }),
  };
}
