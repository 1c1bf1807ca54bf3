import { forceCloseDatabase } from 'fake-indexeddb';
import { deleteDB, openDB } from 'idb';
import { afterEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { StorageFullError } from './vault-errors.ts';
import { Database, VaultTooNewError } from './database.ts';
import {
  storeAnswer,
  storeQuestion,
  readAllRows,
  dumpDatabase,
  TEST_VAULT_KEY,
  newMessage,
  newRun,
  newSession,
  createTestVault,
} from './fixture.ts';
import { migrations } from './migrations.ts';
import { acquireEpoch } from './open-vault.ts';

afterEach(() => void vi.restoreAllMocks());

/** Collects all opened connections. */
function collectConnections() {
  const opened: IDBDatabase[] = [];
  const open = indexedDB.open.bind(indexedDB);
  const spy = vi.spyOn(indexedDB, 'open').mockImplementation((...args) => {
    const request = open(...args);
    request.addEventListener('success', () => opened.push(request.result));
    return request;
  });
  return { opened, [Symbol.dispose]: () => spy.mockRestore() };
}

/** Simulates eviction by the browser or clearing by a person. */
const forceClose = (connection: IDBDatabase | undefined): void => {
  expect(connection).toBeDefined();
  forceCloseDatabase(connection as unknown as typeof IDBDatabase);
};

verifies('storage/heals', 'after a forced close the next operation opens the database again', async () => {
  using seen = collectConnections();
  await using vault = await createTestVault();
  const question = await storeQuestion(vault.vault, 'm1');
  forceClose(seen.opened.at(-1));
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'm1' });
  forceClose(seen.opened.at(-1));
  await storeAnswer(vault.vault, question);
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 're-m1', messageCount: 2 });
  expect(seen.opened).toHaveLength(3);
  expect(vault.closed).toEqual([]);
});

verifies('storage/heals', 'operations that a forced close meets, many at once, are each done once', async () => {
  using seen = collectConnections();
  await using vault = await createTestVault();
  await storeQuestion(vault.vault, 'm1');
  const connection = seen.opened.at(-1);
  const memories = Array.from({ length: 10 }, (_, at) => ({ id: `n${at}`, text: 'x', category: 'fact', createdAt: at }));
  const added = Promise.all(memories.map((memory) => vault.memories.add(memory)));
  forceClose(connection);
  await added;
  expect(await vault.memories.list()).toEqual(memories);
});

for (const when of ['by itself', 'after a forced close']) {
  verifies('storage/heals', `a transaction that is cut is tried once more, ${when}`, async () => {
    using seen = collectConnections();
    await using vault = await createTestVault();
    if (when !== 'by itself') forceClose(seen.opened.at(-1));
    const { put } = IDBObjectStore.prototype;
    let tries = 0;
    const spy = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, ...args) {
      const { name, transaction } = this;
      const request = put.apply(this, args);
      // Aborted by the browser: no error is left on the transaction.
      if (name === 'sessions' && tries++ === 0) transaction.abort();
      return request;
    });
    await storeQuestion(vault.vault, 'm1');
    spy.mockRestore();
    expect(tries).toBe(2);
    expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'm1', messageCount: 1 });
  });
}

verifies('storage/heals', 'data that were deleted under us are made anew', async () => {
  await using vault = await createTestVault({ epoch: 7 });
  await vault.config.write({ a: 1 });
  await vault.secrets.set('s', 'old');
  await deleteDB(vault.name);
  expect(await vault.config.read()).toBeUndefined();
  await vault.secrets.set('s', 'new');
  await vault.close();
  await using next = await createTestVault({ name: vault.name });
  expect(await next.secrets.get('s')).toBe('new');
  expect(vault.closed).toEqual([]);
});

for (const [how, fail] of Object.entries({
  'the call throws': () => {
    throw new DOMException('full', 'QuotaExceededError');
  },
  'the transaction is aborted because of it': (tx: IDBTransaction) =>
    (tx as unknown as { _abort(reason: string): void })._abort('QuotaExceededError'),
})) {
  verifies('storage/quota', `no room left, where ${how}`, async () => {
    await using vault = await createTestVault();
    const question = await storeQuestion(vault.vault, 'm1');
    const before = await dumpDatabase(vault.name);
    const { put } = IDBObjectStore.prototype;
    const spy = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, ...args) {
      const request = put.apply(this, args);
      if (this.name === 'sessions') fail(this.transaction);
      return request;
    });
    const begin = vault.runs.begin({ session: newSession(), message: newMessage('m2', question), run: newRun('r2', 'm2') });
    await expect(begin).rejects.toBeInstanceOf(StorageFullError);
    await expect(storeAnswer(vault.vault, question)).rejects.toBeInstanceOf(StorageFullError);
    spy.mockRestore();
    expect(await dumpDatabase(vault.name)).toEqual(before);
    // There is space again: the vault is usable.
    await storeAnswer(vault.vault, question);
    expect(vault.closed).toEqual([]);
  });
}

const FULL_DISK_ERRORS = [
  // Messages of Chromium 156 on a full disk, first for the write and then for each opening.
  'Connection is closing because of: IO error: .../000003.log: FILE_ERROR_NO_SPACE (ChromeMethodBFE: 3::WritableFileAppend::8)',
  'Internal error opening backing store for indexedDB.open.',
];

verifies('storage/disk-full', 'a full disk is StorageFull for every operation until there is space', async () => {
  using seen = collectConnections();
  await using vault = await createTestVault();
  await storeQuestion(vault.vault, 'm1');
  const connection = seen.opened.at(-1);
  const before = await dumpDatabase(vault.name);
  const [writing, opening] = FULL_DISK_ERRORS.map((message) => new DOMException(message, 'UnknownError'));
  const open = vi.spyOn(indexedDB, 'open').mockImplementation(() => {
    throw opening;
  });
  const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw writing;
  });
  await expect(vault.config.write({ a: 1 })).rejects.toBeInstanceOf(StorageFullError);
  forceClose(connection);
  await expect(vault.config.write({ a: 1 })).rejects.toBeInstanceOf(StorageFullError);
  await expect(vault.config.read()).rejects.toBeInstanceOf(StorageFullError);
  put.mockRestore();
  open.mockRestore();
  expect(await dumpDatabase(vault.name)).toEqual(before);
  await vault.config.write({ a: 1 });
  expect(vault.closed).toEqual([]);
});

test('a newer build gets the database at once, and the vault says why it closed', async () => {
  await using vault = await createTestVault();
  vault.usage.add({
    id: 'u',
    at: 1,
    provider: 'p',
    model: 'm',
    sessionKey: null,
    principal: 'owner',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  });
  const newer = await openDB(vault.name, migrations.length + 1);
  expect(vault.closed).toEqual(['newer-version']);
  await expect(vault.config.read()).rejects.toBeInstanceOf(VaultTooNewError);
  expect(await newer.get('usage', 'u')).toBeDefined();
  newer.close();
});

test('a database of a newer build is left alone', async () => {
  const newer = await openDB('too-new', migrations.length + 1);
  newer.close();
  await expect(createTestVault({ name: 'too-new' })).rejects.toBeInstanceOf(VaultTooNewError);
  await expect(acquireEpoch('too-new')).rejects.toBeInstanceOf(VaultTooNewError);
  const again = await openDB('too-new');
  expect(again.version).toBe(migrations.length + 1);
  again.close();
});

test('an upgrade that waits for an older connection says so, and goes on when that closes', async () => {
  const name = 'blocked';
  const older = await openDB(name, 1);
  const blocked = vi.fn(() => older.close());
  const database = new Database({ name, onblocked: blocked, migrations: [() => {}, ...migrations] });
  expect(await database.read(['config'], (tx) => tx.objectStore('config').count())).toBe(0);
  expect(blocked).toHaveBeenCalledOnce();
  await database.close();
});

test('a database that does not open is tried again by the next operation', async () => {
  using seen = collectConnections();
  await using vault = await createTestVault();
  forceClose(seen.opened.at(-1));
  const spy = vi.spyOn(indexedDB, 'open').mockImplementationOnce(() => {
    throw new DOMException('Internal error', 'UnknownError');
  });
  await expect(vault.config.read()).rejects.toMatchObject({ name: 'UnknownError' });
  await vault.config.write({ a: 1 });
  spy.mockRestore();
  expect(await readAllRows(vault.name)).toMatchObject({ config: { a: { value: 1 } } });
});
