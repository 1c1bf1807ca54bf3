import { forceCloseDatabase } from 'fake-indexeddb';
import { deleteDB, openDB } from 'idb';
import { afterEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { StorageFull } from '../core/vault.ts';
import { Database, VaultTooNew } from './database.ts';
import { answer, ask, contentOf, dump, KEY, newMessage, newRun, newSession, testVault } from './fixture.ts';
import { steps } from './migrations.ts';
import { takeEpoch } from './vault.ts';

afterEach(() => void vi.restoreAllMocks());

/** Collects all opened connections. */
function connections() {
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
  using seen = connections();
  await using vault = await testVault();
  const question = await ask(vault.vault, 'm1');
  forceClose(seen.opened.at(-1));
  expect(await vault.sessions.get(KEY)).toMatchObject({ headId: 'm1' });
  forceClose(seen.opened.at(-1));
  await answer(vault.vault, question);
  expect(await vault.sessions.get(KEY)).toMatchObject({ headId: 're-m1', messageCount: 2 });
  expect(seen.opened).toHaveLength(3);
  expect(vault.closed).toEqual([]);
});

verifies('storage/heals', 'operations that a forced close meets, many at once, are each done once', async () => {
  using seen = connections();
  await using vault = await testVault();
  await ask(vault.vault, 'm1');
  const connection = seen.opened.at(-1);
  const memories = Array.from({ length: 10 }, (_, at) => ({ id: `n${at}`, text: 'x', category: 'fact', createdAt: at }));
  const added = Promise.all(memories.map((memory) => vault.memories.add(memory)));
  forceClose(connection);
  await added;
  expect(await vault.memories.list()).toEqual(memories);
});

for (const when of ['by itself', 'after a forced close']) {
  verifies('storage/heals', `a transaction that is cut is tried once more, ${when}`, async () => {
    using seen = connections();
    await using vault = await testVault();
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
    await ask(vault.vault, 'm1');
    spy.mockRestore();
    expect(tries).toBe(2);
    expect(await vault.sessions.get(KEY)).toMatchObject({ headId: 'm1', messageCount: 1 });
  });
}

verifies('storage/heals', 'data that were deleted under us are made anew', async () => {
  await using vault = await testVault({ epoch: 7 });
  await vault.config.write({ a: 1 });
  await vault.secrets.set('s', 'old');
  await deleteDB(vault.name);
  expect(await vault.config.read()).toBeUndefined();
  await vault.secrets.set('s', 'new');
  await vault.close();
  await using next = await testVault({ name: vault.name });
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
    await using vault = await testVault();
    const question = await ask(vault.vault, 'm1');
    const before = await dump(vault.name);
    const { put } = IDBObjectStore.prototype;
    const spy = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(function (this: IDBObjectStore, ...args) {
      const request = put.apply(this, args);
      if (this.name === 'sessions') fail(this.transaction);
      return request;
    });
    const begin = vault.runs.begin({ session: newSession(), message: newMessage('m2', question), run: newRun('r2', 'm2') });
    await expect(begin).rejects.toBeInstanceOf(StorageFull);
    await expect(answer(vault.vault, question)).rejects.toBeInstanceOf(StorageFull);
    spy.mockRestore();
    expect(await dump(vault.name)).toEqual(before);
    // There is space again: the vault is usable.
    await answer(vault.vault, question);
    expect(vault.closed).toEqual([]);
  });
}

const ON_FULL_DISK = [
  // Messages of Chromium 156 on a full disk, first for the write and then for each opening.
  'Connection is closing because of: IO error: .../000003.log: FILE_ERROR_NO_SPACE (ChromeMethodBFE: 3::WritableFileAppend::8)',
  'Internal error opening backing store for indexedDB.open.',
];

verifies('storage/disk-full', 'a full disk is StorageFull for every operation until there is space', async () => {
  using seen = connections();
  await using vault = await testVault();
  await ask(vault.vault, 'm1');
  const connection = seen.opened.at(-1);
  const before = await dump(vault.name);
  const [writing, opening] = ON_FULL_DISK.map((message) => new DOMException(message, 'UnknownError'));
  const open = vi.spyOn(indexedDB, 'open').mockImplementation(() => {
    throw opening;
  });
  const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw writing;
  });
  await expect(vault.config.write({ a: 1 })).rejects.toBeInstanceOf(StorageFull);
  forceClose(connection);
  await expect(vault.config.write({ a: 1 })).rejects.toBeInstanceOf(StorageFull);
  await expect(vault.config.read()).rejects.toBeInstanceOf(StorageFull);
  put.mockRestore();
  open.mockRestore();
  expect(await dump(vault.name)).toEqual(before);
  await vault.config.write({ a: 1 });
  expect(vault.closed).toEqual([]);
});

test('a newer build gets the database at once, and the vault says why it closed', async () => {
  await using vault = await testVault();
  vault.usage.add({
    id: 'u',
    at: 1,
    provider: 'p',
    model: 'm',
    sessionKey: null,
    principal: 'owner',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  });
  const newer = await openDB(vault.name, steps.length + 1);
  expect(vault.closed).toEqual(['newer-version']);
  await expect(vault.config.read()).rejects.toBeInstanceOf(VaultTooNew);
  expect(await newer.get('usage', 'u')).toBeDefined();
  newer.close();
});

test('a database of a newer build is left alone', async () => {
  const newer = await openDB('too-new', steps.length + 1);
  newer.close();
  await expect(testVault({ name: 'too-new' })).rejects.toBeInstanceOf(VaultTooNew);
  await expect(takeEpoch('too-new')).rejects.toBeInstanceOf(VaultTooNew);
  const again = await openDB('too-new');
  expect(again.version).toBe(steps.length + 1);
  again.close();
});

test('an upgrade that waits for an older connection says so, and goes on when that closes', async () => {
  const name = 'blocked';
  const older = await openDB(name, 1);
  const blocked = vi.fn(() => older.close());
  const database = new Database({ name, onblocked: blocked, steps: [() => {}, ...steps] });
  expect(await database.read(['config'], (tx) => tx.objectStore('config').count())).toBe(0);
  expect(blocked).toHaveBeenCalledOnce();
  await database.close();
});

test('a database that does not open is tried again by the next operation', async () => {
  using seen = connections();
  await using vault = await testVault();
  forceClose(seen.opened.at(-1));
  const spy = vi.spyOn(indexedDB, 'open').mockImplementationOnce(() => {
    throw new DOMException('Internal error', 'UnknownError');
  });
  await expect(vault.config.read()).rejects.toMatchObject({ name: 'UnknownError' });
  await vault.config.write({ a: 1 });
  spy.mockRestore();
  expect(await contentOf(vault.name)).toMatchObject({ config: { a: { value: 1 } } });
});
