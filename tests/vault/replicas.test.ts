import { deleteDB } from 'idb';
import { expect, vi } from 'vitest';
import { StorageFullError, VaultReadOnlyError } from '../../web/gateway/storage/vault-errors.ts';
import { toSessionKey } from '../../web/gateway/storage/chat-records.ts';
import { migrations } from '../../web/gateway/storage/migrations.ts';
import {
  storeAnswer,
  storeQuestion,
  readAllRows,
  dumpDatabase,
  TEST_VAULT_KEY,
  newMessage,
  newRun,
  newSession,
} from '../../web/gateway/storage/fixture.ts';
import { SCHEMA_VERSION } from '../../shared/link/hello.ts';
import { RpcError } from '../../shared/rpc/rpc-error.ts';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { MemoryJournal } from '../support/memory-journal.ts';
import { getConflictCopies, TestReplica } from './test-replica.ts';

/** Settles within some turns of the event loop, or not. */
async function hasSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => (settled = true));
  for (let turn = 0; turn < 200 && !settled; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

verifies('vault.sync/fills', 'a host with nothing reads all, in pages, and a wiped one again', async () => {
  const journal = new MemoryJournal();
  const writer = await TestReplica.open('writer');
  await writer.join(journal);
  let parent = await storeQuestion(writer.vault, 'm-0');
  for (let count = 1; count < 700; count++) {
    const session = (await writer.vault.sessions.get(TEST_VAULT_KEY)) ?? newSession();
    const message = newMessage(`m-${count}`, parent);
    await writer.vault.runs.begin({ session, message, run: newRun(`run-${count}`, message.id) });
    parent = message;
  }
  await writer.waitForSync(journal);
  const other = await TestReplica.open('new');
  await other.join(journal);
  expect(await other.readContent()).toEqual(await writer.readContent());
  expect((await other.vault.messages.branch(TEST_VAULT_KEY, { limit: 1000 })).messages).toHaveLength(700);

  await other.crash();
  const wiped = await TestReplica.open('wiped');
  await wiped.join(journal);
  expect(await wiped.readContent()).toEqual(await writer.readContent());
});

verifies(
  'vault.sync/converges',
  'writes made while a host opens the journal are read too, even if announced before the opening is complete',
  async () => {
    const journal = new MemoryJournal();
    const [writer, reader] = [await TestReplica.open('writer'), await TestReplica.open('reader')];
    await writer.join(journal);
    const line = journal.connect();
    const call: typeof line.call = async (name, params) => {
      const answer = await line.call(name, params);
      if (name === 'journal.open') await writer.vault.memories.add({ id: 'n', text: 'x', category: 'fact', createdAt: 1 });
      return answer;
    };
    reader.replicator.attach({ ...line, call });
    await reader.waitForSync(journal);
    expect(await reader.vault.memories.list()).toMatchObject([{ id: 'n' }]);
  },
);

for (const [what, cut] of [
  ['is taken back there', false],
  ['comes back from there where the line is cut', true],
] as const) {
  verifies(['vault.sync/converges', 'storage/quota'], `what the journal took, and the browser could then not store, ${what}`, async () => {
    const journal = new MemoryJournal();
    const [host, other] = [await TestReplica.open('host'), await TestReplica.open('other')];
    await host.join(journal);
    await other.join(journal);
    const before = await storeQuestion(host.vault, 'm-1');
    await host.waitForSync(journal);
    const stored = await dumpDatabase(host.name);
    const { sync } = host.vault;
    const send = sync.forward;
    const transactions: IDBTransaction[] = [];
    const { transaction } = IDBDatabase.prototype;
    using _ = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
      const tx = transaction.apply(this, args);
      transactions.push(tx);
      return tx;
    });
    sync.forward = async (records) => {
      const sent = send?.(records);
      transactions.at(-1)?.abort();
      if (cut) await waitFor(() => journal.rows.has('messages/m-2'));
      if (cut) host.disconnect();
      await sent;
    };
    await expect(storeQuestion(host.vault, 'm-2', before)).rejects.toThrow();
    sync.forward = send;
    expect(await host.vault.messages.get('m-2')).toBeUndefined();
    expect(await dumpDatabase(host.name)).toMatchObject({ messages: stored.messages, sessions: stored.sessions, runs: stored.runs });
    if (cut) host.attach(journal);
    else expect(host.replicator.state().problem).toMatch(/couldn’t be saved/);
    await storeQuestion(host.vault, 'm-3', before);
    // The next try may be scheduled only after this point.
    await waitFor(() => {
      host.clock.advance(1_000);
      return host.replicator.state().state === 'synced';
    }, 'the next try');
    await host.waitForSync(journal);
    await other.waitForSync(journal);
    expect(await host.vault.messages.get('m-2')).toEqual(cut ? expect.objectContaining({ id: 'm-2' }) : undefined);
    expect(await host.vault.messages.get('m-3')).toBeDefined();
    expect(await host.readContent()).toEqual(await other.readContent());
    expect(await getConflictCopies(other.vault)).toEqual([]);
  });
}

verifies('vault.sync/follows', 'deletions of unknown records are not reported', async () => {
  const journal = new MemoryJournal();
  const [host, other] = [await TestReplica.open('host'), await TestReplica.open('other')];
  await host.join(journal);
  await storeQuestion(host.vault, 'm-1');
  await host.vault.sessions.remove(TEST_VAULT_KEY);
  await host.vault.memories.add({ id: 'n', text: 'x', category: 'fact', createdAt: 1 });
  await host.waitForSync(journal);
  await other.vault.memories.add({ id: 'o', text: 'y', category: 'fact', createdAt: 1 });
  const notifications: string[] = [];
  other.vault.onRemoteChanges((changes) => void notifications.push(...changes.map(({ store, key }) => `${store}/${key}`)));
  await other.join(journal);
  expect(await other.readContent()).toEqual(await host.waitForSync(journal).then(() => host.readContent()));
  expect(notifications).toEqual(['runs/run-m-1', 'memories/n']);
});

verifies('vault.sync/acknowledged', 'a write waits for the journal while there is one, and counts as not yet on disk without', async () => {
  const journal = new MemoryJournal();
  const host = await TestReplica.open('host');
  await host.join(journal);
  const release = Promise.withResolvers<void>();
  journal.pushGate = release.promise;
  const write = storeQuestion(host.vault, 'm-1');
  expect(await hasSettled(write)).toBe(false);
  expect(await host.vault.messages.get('m-1')).toBeDefined();
  release.resolve();
  await write;
  expect(journal.rows.has('messages/m-1')).toBe(true);

  host.disconnect();
  await waitFor(() => host.replicator.state().state === 'away');
  await storeQuestion(host.vault, 'm-2');
  // Message, run, entry's head.
  expect(host.replicator.state()).toMatchObject({ state: 'away', pending: 3 });
  await host.join(journal);
  expect(journal.rows.has('messages/m-2')).toBe(true);
  expect(host.replicator.state()).toMatchObject({ state: 'synced', pending: 0, problem: null });
});

verifies(
  'vault.sync/acknowledged',
  'a journal that refuses writes blocks nobody: the write is stored locally, reported as pending, and sent once possible',
  async () => {
    const journal = new MemoryJournal();
    const host = await TestReplica.open('host');
    await host.join(journal);
    journal.pushError = new RpcError('INTERNAL_ERROR', 'The disk is full', { details: { reason: 'journal-full' } });
    const question = await storeQuestion(host.vault, 'm-1');
    expect(host.replicator.state()).toMatchObject({ state: 'failing', pending: 4, problem: 'The disk is full' });
    await storeAnswer(host.vault, question);
    journal.pushError = undefined;
    host.clock.advance(10_000);
    await host.waitForSync(journal);
    expect(journal.rows.has('messages/re-m-1')).toBe(true);

    // A journal that does not respond.
    journal.pushGate = new Promise(() => {});
    const write = storeQuestion(host.vault, 'm-2');
    expect(await hasSettled(write)).toBe(false);
    host.clock.advance(5_000);
    await write;
    expect(host.replicator.state()).toMatchObject({ state: 'failing', problem: 'The journal is not responding' });
  },
);

verifies('storage/disk-full', 'data that the browser lost on a full disk is read again before anything is written', async () => {
  const journal = new MemoryJournal();
  const host = await TestReplica.open('host', { fenced: true });
  await host.join(journal);
  const question = await storeQuestion(host.vault, 'm-1');
  await storeAnswer(host.vault, question);
  await host.waitForSync(journal);
  const full = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('Encountered full disk while opening', 'QuotaExceededError');
  });
  await expect(storeQuestion(host.vault, 'm-2')).rejects.toBeInstanceOf(StorageFullError);
  full.mockRestore();
  await deleteDB(host.name);
  const written = host.vault.config.write({ a: 1 });
  let isWritten = false;
  void written.then(() => (isWritten = true));
  await waitFor(() => host.replicator.state().state === 'failing', 'the loss to be noticed');
  // The next try to read the journal, and not the end of the wait for it.
  host.clock.advance(2_000);
  await waitFor(() => isWritten, 'the write');
  expect(await host.vault.messages.get('m-1')).toBeDefined();
  expect(await host.vault.messages.get('re-m-1')).toBeDefined();
});

verifies(['vault.journal/reserve', 'storage/disk-full'], 'while the journal’s disk is full, only deletions are written', async () => {
  const journal = new MemoryJournal();
  const host = await TestReplica.open('host');
  await host.join(journal);
  const question = await storeQuestion(host.vault, 'm-1');
  journal.freeBytes = 0;
  // The write that runs out of space is on disk, in the reserved space.
  await storeAnswer(host.vault, question);
  expect(journal.rows.has('messages/re-m-1')).toBe(true);
  await expect(storeQuestion(host.vault, 'm-2')).rejects.toBeInstanceOf(StorageFullError);
  expect(await host.vault.messages.get('m-2')).toBeUndefined();
  expect(journal.rows.has('messages/m-2')).toBe(false);
  await host.vault.sessions.remove(TEST_VAULT_KEY);
  await host.waitForSync(journal);
  host.clock.advance(2_000);
  await expect(storeQuestion(host.vault, 'm-3')).rejects.toBeInstanceOf(StorageFullError);
  journal.freeBytes = 1024 ** 3;
  await waitFor(() => {
    host.clock.advance(2_000);
    return host.vault.sync.diskFull === undefined;
  }, 'the next look at the disk');
  await storeQuestion(host.vault, 'm-4');
  await host.waitForSync(journal);
  expect(journal.rows.has('messages/m-4')).toBe(true);
});

verifies(
  'vault.sync/attachments',
  'bytes lie beside the message, once, are fetched by who needs them, and go with the last message',
  async () => {
    const journal = new MemoryJournal();
    const [firstReplica, secondReplica] = [await TestReplica.open('here'), await TestReplica.open('there')];
    await firstReplica.join(journal);
    await secondReplica.join(journal);
    const picture = { type: 'image', mimeType: 'image/png', data: btoa('a picture'), filename: 'p.png' } as const;
    const session = newSession();
    const first = newMessage('m-1', null, { content: [{ type: 'text', text: 'see' }, picture] });
    await firstReplica.vault.runs.begin({ session, message: first, run: newRun('r-1', 'm-1') });
    const second = newMessage('m-2', first, { content: [picture] });
    await firstReplica.vault.runs.begin({ session, message: second, run: newRun('r-2', 'm-2') });
    await secondReplica.waitForSync(journal);
    expect(Object.keys((await readAllRows(secondReplica.name)).blobs ?? {})).toEqual([]);
    expect(journal.blobs.size).toBe(1);
    expect(journal.rows.get('messages/m-1')?.payload).not.toContain(picture.data);
    expect(await secondReplica.vault.messages.get('m-1')).toEqual(first);
    expect((await secondReplica.vault.messages.branch(TEST_VAULT_KEY, { limit: 5 })).messages).toEqual([first, second]);
    secondReplica.disconnect();
    await waitFor(() => secondReplica.replicator.state().state === 'away');
    expect(await secondReplica.vault.messages.get('m-2')).toEqual(second);
    expect((await secondReplica.vault.sessions.get(TEST_VAULT_KEY))?.size).toBe(
      (await firstReplica.vault.sessions.get(TEST_VAULT_KEY))?.size,
    );
    await firstReplica.vault.sessions.remove(TEST_VAULT_KEY);
    expect(Object.keys((await readAllRows(firstReplica.name)).blobs ?? {})).toEqual([]);
  },
);

verifies('vault.sync/secrets', 'a key set on one host opens on another, and is nowhere in the clear', async () => {
  const journal = new MemoryJournal();
  const [firstReplica, secondReplica] = [await TestReplica.open('here'), await TestReplica.open('there')];
  // Written before it ever saw a bridge, under its own key.
  await firstReplica.vault.secrets.set('providers.early.apiKey', 'sk-early-secret');
  await firstReplica.join(journal);
  await firstReplica.vault.secrets.set('providers.late.apiKey', 'sk-late-secret');
  await secondReplica.join(journal);
  expect(await secondReplica.vault.secrets.get('providers.early.apiKey')).toBe('sk-early-secret');
  expect(await secondReplica.vault.secrets.get('providers.late.apiKey')).toBe('sk-late-secret');
  expect(await firstReplica.vault.secrets.get('providers.early.apiKey')).toBe('sk-early-secret');
  expect(JSON.stringify([...journal.rows.values()])).not.toMatch(/sk-(early|late)/);
});

verifies(
  'vault.merge/copies',
  'settings changed on two partitioned hosts: the later wins, the other is kept, and can be restored',
  async () => {
    const journal = new MemoryJournal();
    const [firstReplica, secondReplica] = [await TestReplica.open('here'), await TestReplica.open('there')];
    await firstReplica.join(journal);
    await firstReplica.vault.config.write({ chat: { model: 'one' }, gateway: { discover: true } });
    await secondReplica.join(journal);
    firstReplica.disconnect();
    secondReplica.disconnect();
    await firstReplica.vault.config.write({ chat: { model: 'ours' }, gateway: { discover: true } });
    secondReplica.clock.jump(1_000);
    await secondReplica.vault.config.write({ chat: { model: 'theirs' }, gateway: { discover: false } });
    await firstReplica.join(journal);
    await secondReplica.join(journal);
    await firstReplica.waitForSync(journal);
    for (const { vault } of [firstReplica, secondReplica]) {
      expect(await vault.config.read()).toEqual({ chat: { model: 'theirs' }, gateway: { discover: false } });
      const copies = await getConflictCopies(vault);
      expect(copies.map(({ store, key, payload }) => [store, key, payload])).toEqual([
        ['config', 'chat', '{"name":"chat","value":{"model":"ours"}}'],
      ]);
    }
    const [copy] = await getConflictCopies(secondReplica.vault);
    expect(await secondReplica.vault.conflicts.resolve(copy?.id ?? '', 'restore')).toBe(true);
    expect(await secondReplica.vault.conflicts.resolve(copy?.id ?? '', 'restore')).toBe(false);
    await firstReplica.waitForSync(journal);
    expect(await firstReplica.vault.config.read()).toEqual({ chat: { model: 'ours' }, gateway: { discover: false } });
    expect(await getConflictCopies(firstReplica.vault)).toEqual([]);
  },
);

verifies('vault.merge/copies', 'one chat continued apart: both branches are there, the later one is active, the other can be', async () => {
  const journal = new MemoryJournal();
  const [firstReplica, secondReplica] = [await TestReplica.open('here'), await TestReplica.open('there')];
  await firstReplica.join(journal);
  const root = await storeAnswer(firstReplica.vault, await storeQuestion(firstReplica.vault, 'root'));
  await secondReplica.join(journal);
  firstReplica.disconnect();
  secondReplica.disconnect();
  const ours = await storeAnswer(firstReplica.vault, await storeQuestion(firstReplica.vault, 'ours', root));
  secondReplica.clock.jump(1_000);
  const theirs = await storeAnswer(secondReplica.vault, await storeQuestion(secondReplica.vault, 'theirs', root));
  await firstReplica.join(journal);
  await secondReplica.join(journal);
  await firstReplica.waitForSync(journal);
  for (const { vault } of [firstReplica, secondReplica]) {
    expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: theirs.id, messageCount: 6 });
    expect(await vault.messages.get(ours.id)).toBeDefined();
    expect(await getConflictCopies(vault)).toMatchObject([{ store: 'heads', key: TEST_VAULT_KEY }]);
  }
  const [copy] = await getConflictCopies(firstReplica.vault);
  await firstReplica.vault.conflicts.resolve(copy?.id ?? '', 'restore');
  await secondReplica.waitForSync(journal);
  expect(await secondReplica.vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: ours.id, preview: 'text of re-ours' });
});

verifies('vault.merge/deletes', 'a deleted chat is deleted everywhere; messages added to it meanwhile stay', async () => {
  const journal = new MemoryJournal();
  const [firstReplica, secondReplica] = [await TestReplica.open('here'), await TestReplica.open('there')];
  await firstReplica.join(journal);
  const root = await storeAnswer(firstReplica.vault, await storeQuestion(firstReplica.vault, 'root'));
  await secondReplica.join(journal);
  const other = toSessionKey('main', 'other');
  await firstReplica.vault.runs.begin({
    session: newSession(other),
    message: newMessage('o', null, { sessionKey: other }),
    run: newRun('r-o', 'o', { sessionKey: other }),
  });
  await secondReplica.waitForSync(journal);
  await secondReplica.vault.sessions.remove(other);
  await firstReplica.waitForSync(journal);
  expect(await firstReplica.vault.sessions.get(other)).toBeUndefined();
  expect(await firstReplica.vault.messages.get('o')).toBeUndefined();

  firstReplica.disconnect();
  await firstReplica.vault.sessions.remove(TEST_VAULT_KEY);
  secondReplica.clock.jump(1_000);
  await storeQuestion(secondReplica.vault, 'meanwhile', root);
  await firstReplica.join(journal);
  await secondReplica.waitForSync(journal);
  await firstReplica.waitForSync(journal);
  for (const { vault } of [firstReplica, secondReplica]) {
    expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'meanwhile', messageCount: 1, title: 'Recovered chat' });
    expect((await vault.messages.branch(TEST_VAULT_KEY, { limit: 9 })).messages.map(({ id }) => id)).toEqual(['meanwhile']);
  }
});

verifies(
  'vault.sync/read-only',
  'a host older than the data refuses to write, keeps its own changes, and sends them once updated',
  async () => {
    const journal = new MemoryJournal();
    const [older, newer] = [await TestReplica.open('older'), await TestReplica.open('newer', { schema: SCHEMA_VERSION + 1 })];
    await storeQuestion(older.vault, 'early');
    await newer.join(journal);
    await storeQuestion(newer.vault, 'from the future');
    older.attach(journal);
    await waitFor(() => older.replicator.state().state === 'outdated');
    await expect(storeQuestion(older.vault, 'late')).rejects.toThrow(VaultReadOnlyError);
    expect(older.replicator.state().problem).toMatch(/older version of Perch than its data/);
    expect(await older.vault.messages.get('early')).toBeDefined();
    expect(await older.vault.messages.get('from the future')).toBeUndefined();
    expect(journal.rows.has('messages/early')).toBe(false);
    await older.crash();
    await older.start(SCHEMA_VERSION + 1);
    await older.join(journal);
    expect(journal.rows.has('messages/early')).toBe(true);
    expect(await older.vault.messages.get('from the future')).toBeDefined();
  },
);

verifies('vault.sync/read-only', 'the schema of the records is counted by the migrations', () => {
  expect(SCHEMA_VERSION).toBe(migrations.length);
});
