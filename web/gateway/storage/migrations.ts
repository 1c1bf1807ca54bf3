import { toConfigRows } from './config-rows.ts';
import type { Migration } from './database.ts';
import type { ChangeRow, VaultSchema, UpgradeTransaction } from './vault-schema.ts';

/** A migration of the vault. */
export type VaultMigration = Migration<VaultSchema>;

/** The migrations: append only, never edit a released step. The version is their number. */
export const migrations: readonly VaultMigration[] = [
  (db) => {
    db.createObjectStore('sessions', { keyPath: 'key' });
    const messages = db.createObjectStore('messages', { keyPath: 'id' });
    messages.createIndex('branch', ['sessionKey', 'depth']);
    messages.createIndex('timestamp', 'timestamp');
    const runs = db.createObjectStore('runs', { keyPath: 'id' });
    runs.createIndex('session', 'sessionKey');
    runs.createIndex('status', 'status');
    db.createObjectStore('partials', { keyPath: 'runId' });
    db.createObjectStore('config', { keyPath: 'name' });
    db.createObjectStore('secrets', { keyPath: 'name' });
    db.createObjectStore('keys', { keyPath: 'name' });
    db.createObjectStore('memories', { keyPath: 'id' }).createIndex('createdAt', 'createdAt');
    db.createObjectStore('usage', { keyPath: 'id' }).createIndex('until', 'until');
    db.createObjectStore('changes', { keyPath: ['store', 'key'] }).createIndex('clock' as never, 'clock');
    db.createObjectStore('local', { keyPath: 'name' });
  },
  async (db, tx) => {
    db.createObjectStore('blobs', { keyPath: 'hash' });
    db.createObjectStore('conflicts', { keyPath: 'id' });
    tx.objectStore('messages').createIndex('blobs', 'blobs', { multiEntry: true });
    await Promise.all([splitConfig(tx), splitSessions(tx), assignReplicaId(tx)]);
  },
  (_db, tx) => unindexRemoteChanges(tx),
  (db) => {
    for (const name of ['plans', 'jobs', 'devices', 'systemEvents'] as const) db.createObjectStore(name, { keyPath: 'id' });
    const jobRuns = db.createObjectStore('jobRuns', { keyPath: 'id' });
    jobRuns.createIndex('job', ['jobId', 'startedAt']);
    jobRuns.createIndex('startedAt', 'startedAt');
    db.createObjectStore('execRequests', { keyPath: 'requestId' }).createIndex('createdAt', 'createdAt');
    db.createObjectStore('execPolicies', { keyPath: 'hash' });
    db.createObjectStore('approvals', { keyPath: 'id' }).createIndex('createdAt', 'createdAt');
    // The index has everything that a list of files shows, so that listing reads no content.
    db.createObjectStore('files', { keyPath: 'key' }).createIndex('entry', ['workspace', 'path', 'mimeType', 'size', 'modifiedAt']);
    db.createObjectStore('logs', { keyPath: 'seq', autoIncrement: true });
    db.createObjectStore('searchPending', { keyPath: 'seq', autoIncrement: true });
    db.createObjectStore('searchSegments', { keyPath: 'id' });
    db.createObjectStore('searchPages', { keyPath: ['segment', 'part', 'page'] });
  },
  (db) => {
    for (const name of ['apiKeys', 'responses'] as const) db.createObjectStore(name, { keyPath: 'id' });
  },
  (db) => void db.createObjectStore('mcpTools', { keyPath: 'id' }),
  (db) => void db.createObjectStore('channelStates', { keyPath: 'id' }),
  (db) => {
    db.createObjectStore('drawings', { keyPath: 'id' });
    db.createObjectStore('drawingChanges', { keyPath: 'key' });
  },
  (db) => void db.createObjectStore('runSteps', { keyPath: ['runId', 'at'] }),
  (db) => {
    for (const name of ['contentLabels', 'fileVersions'] as const) db.createObjectStore(name, { keyPath: 'id' });
  },
  (db) => {
    for (const name of ['conversations', 'apiFiles'] as const) db.createObjectStore(name, { keyPath: 'id' });
  },
  (db) => {
    db.createObjectStore('trash', { keyPath: 'id' });
    db.createObjectStore('trashRecords', { keyPath: 'key' }).createIndex('blobs', 'blobs', { multiEntry: true });
  },
  (db) => void db.createObjectStore('budgets', { keyPath: 'id' }),
  (db) => {
    db.createObjectStore('collections', { keyPath: 'id' });
    db.createObjectStore('collectionDocuments', { keyPath: 'id' }).createIndex('blobs', 'blobs', { multiEntry: true });
    for (const name of ['collectionTexts', 'collectionSegments', 'collectionVectors'] as const)
      db.createObjectStore(name, { keyPath: 'id' });
  },
  (db) => void db.createObjectStore('projects', { keyPath: 'id' }),
  (db) => void db.createObjectStore('deliveries', { keyPath: 'id' }),
  (db) => {
    db.createObjectStore('hooks', { keyPath: 'name' });
    db.createObjectStore('hookCalls', { keyPath: 'id' });
  },
  (db) => {
    for (const name of ['provenance', 'forgettings'] as const) db.createObjectStore(name, { keyPath: 'id' });
  },
  (db) => void db.createObjectStore('pushDevices', { keyPath: 'id' }),
];

/** Splits the single document into a row for each key. */
async function splitConfig(tx: UpgradeTransaction): Promise<void> {
  const [config, changes] = [tx.objectStore('config'), tx.objectStore('changes')];
  const [main, change] = await Promise.all([config.get('main'), changes.get(['config', 'main'])]);
  if (!main || !change) return;
  const rows = toConfigRows(main.value as Record<string, unknown>);
  await Promise.all([
    config.delete('main'),
    changes.delete(['config', 'main']),
    ...[...rows].flatMap(([name, value]) => [
      config.put({ name, value }),
      changes.put({ store: 'config', key: name, clock: change.clock }),
    ]),
  ]);
}

/** Moves the end of a session's branch to a separate record. */
async function splitSessions(tx: UpgradeTransaction): Promise<void> {
  const changes = tx.objectStore('changes');
  const rows = await changes.getAll(IDBKeyRange.bound(['sessions'], ['sessions', []]));
  await Promise.all(rows.map((row) => changes.put({ ...row, store: 'heads' })));
}

async function assignReplicaId(tx: UpgradeTransaction): Promise<void> {
  const local = tx.objectStore('local');
  const earlier = (await local.get('origin')) as { value: unknown } | undefined;
  if (typeof earlier?.value !== 'string') return;
  await Promise.all([local.delete('origin'), local.put({ name: 'replica', value: earlier.value })]);
}

/** Removes records that came from the journal from the indexes of the change log. */
async function unindexRemoteChanges(tx: UpgradeTransaction): Promise<void> {
  const changes = tx.objectStore('changes');
  changes.deleteIndex('clock' as never);
  changes.createIndex('own', ['own', 'clock']);
  changes.createIndex('tombstones', ['deleted', 'clock']);
  let newestRemote = '';
  const rows = (await changes.getAll()) as (Omit<ChangeRow, 'deleted'> & { foreign?: true; deleted?: unknown })[];
  for (const { foreign, deleted, ...row } of rows) {
    if (row.clock > newestRemote) newestRemote = row.clock;
    void changes.put({ ...row, ...(foreign ? {} : { own: 1 }), ...(deleted ? { deleted: 1 } : {}) });
  }
  if (newestRemote) await tx.objectStore('local').put({ name: 'seen', value: newestRemote });
}
