import { deleteDB } from 'idb';
import { expect, vi } from 'vitest';
import { sessionKey, StorageFull, VaultReadOnly } from '../../web/gateway/core/vault.ts';
import { steps } from '../../web/gateway/storage/migrations.ts';
import { answer, ask, contentOf, dump, KEY, newMessage, newRun, newSession } from '../../web/gateway/storage/fixture.ts';
import { SCHEMA_VERSION } from '../../shared/link/hello.ts';
import { RpcError } from '../../shared/rpc/errors.ts';
import { verifies } from '../requirements.ts';
import { until } from '../support/gateway.ts';
import { MemoryJournal } from '../support/memory-journal.ts';
import { copiesOf, TestReplica } from './replicas.ts';

/** Settles within some turns of the event loop, or not. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => (settled = true));
  for (let turn = 0; turn < 200 && !settled; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

verifies('vault.sync/fills', 'a host with nothing reads all, in pages, and a wiped one again', async () => {
  const journal = new MemoryJournal();
  const writer = await TestReplica.open('writer');
  await writer.join(journal);
  let parent = await ask(writer.vault, 'm-0');
  for (let count = 1; count < 700; count++) {
    const session = (await writer.vault.sessions.get(KEY)) ?? newSession();
    const message = newMessage(`m-${count}`, parent);
    await writer.vault.runs.begin({ session, message, run: newRun(`run-${count}`, message.id) });
    parent = message;
  }
  await writer.synced(journal);
  const other = await TestReplica.open('new');
  await other.join(journal);
  expect(await other.content()).toEqual(await writer.content());
  expect((await other.vault.messages.branch(KEY, { limit: 1000 })).messages).toHaveLength(700);

  await other.crash();
  const wiped = await TestReplica.open('wiped');
  await wiped.join(journal);
  expect(await wiped.content()).toEqual(await writer.content());
});

verifies(
  'vault.sync/converges',
  'writes made while a host opens the journal are read too, even if announced before the opening is complete',
  async () => {
    const journal = new MemoryJournal();
    const [writer, reader] = [await TestReplica.open('writer'), await TestReplica.open('reader')];
    await writer.join(journal);
    const line = journal.line();
    const call: typeof line.call = async (name, params) => {
      const answer = await line.call(name, params);
      if (name === 'journal.open') await writer.vault.memories.add({ id: 'n', text: 'x', category: 'fact', createdAt: 1 });
      return answer;
    };
    reader.replicator.attach({ ...line, call });
    await reader.synced(journal);
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
    const before = await ask(host.vault, 'm-1');
    await host.synced(journal);
    const stored = await dump(host.name);
    const { sync } = host.vault;
    const send = sync.outlet;
    const begun: IDBTransaction[] = [];
    const { transaction } = IDBDatabase.prototype;
    using _ = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
      const tx = transaction.apply(this, args);
      begun.push(tx);
      return tx;
    });
    sync.outlet = async (records) => {
      const sent = send?.(records);
      begun.at(-1)?.abort();
      if (cut) await until(() => journal.rows.has('messages/m-2'));
      if (cut) host.cut();
      await sent;
    };
    await expect(ask(host.vault, 'm-2', before)).rejects.toThrow();
    sync.outlet = send;
    expect(await host.vault.messages.get('m-2')).toBeUndefined();
    expect(await dump(host.name)).toMatchObject({ messages: stored.messages, sessions: stored.sessions, runs: stored.runs });
    if (cut) host.attach(journal);
    else expect(host.replicator.state().problem).toMatch(/couldn’t be saved/);
    await ask(host.vault, 'm-3', before);
    // The next try may be scheduled only after this point.
    await until(() => {
      host.clock.advance(1_000);
      return host.replicator.state().state === 'synced';
    }, 'the next try');
    await host.synced(journal);
    await other.synced(journal);
    expect(await host.vault.messages.get('m-2')).toEqual(cut ? expect.objectContaining({ id: 'm-2' }) : undefined);
    expect(await host.vault.messages.get('m-3')).toBeDefined();
    expect(await host.content()).toEqual(await other.content());
    expect(await copiesOf(other.vault)).toEqual([]);
  });
}

verifies('vault.sync/follows', 'deletions of unknown records are not reported', async () => {
  const journal = new MemoryJournal();
  const [host, other] = [await TestReplica.open('host'), await TestReplica.open('other')];
  await host.join(journal);
  await ask(host.vault, 'm-1');
  await host.vault.sessions.remove(KEY);
  await host.vault.memories.add({ id: 'n', text: 'x', category: 'fact', createdAt: 1 });
  await host.synced(journal);
  await other.vault.memories.add({ id: 'o', text: 'y', category: 'fact', createdAt: 1 });
  const told: string[] = [];
  other.vault.onforeign((changes) => void told.push(...changes.map(({ store, key }) => `${store}/${key}`)));
  await other.join(journal);
  expect(await other.content()).toEqual(await host.synced(journal).then(() => host.content()));
  expect(told).toEqual(['runs/run-m-1', 'memories/n']);
});

verifies('vault.sync/acknowledged', 'a write waits for the journal while there is one, and counts as not yet on disk without', async () => {
  const journal = new MemoryJournal();
  const host = await TestReplica.open('host');
  await host.join(journal);
  const release = Promise.withResolvers<void>();
  journal.gate = release.promise;
  const write = ask(host.vault, 'm-1');
  expect(await settles(write)).toBe(false);
  expect(await host.vault.messages.get('m-1')).toBeDefined();
  release.resolve();
  await write;
  expect(journal.rows.has('messages/m-1')).toBe(true);

  host.cut();
  await until(() => host.replicator.state().state === 'away');
  await ask(host.vault, 'm-2');
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
    journal.refusal = new RpcError('INTERNAL_ERROR', 'The disk is full', { details: { reason: 'journal-full' } });
    const question = await ask(host.vault, 'm-1');
    expect(host.replicator.state()).toMatchObject({ state: 'failing', pending: 4, problem: 'The disk is full' });
    await answer(host.vault, question);
    journal.refusal = undefined;
    host.clock.advance(10_000);
    await host.synced(journal);
    expect(journal.rows.has('messages/re-m-1')).toBe(true);

    // A journal that does not respond.
    journal.gate = new Promise(() => {});
    const write = ask(host.vault, 'm-2');
    expect(await settles(write)).toBe(false);
    host.clock.advance(5_000);
    await write;
    expect(host.replicator.state()).toMatchObject({ state: 'failing', problem: 'The journal is not responding' });
  },
);

verifies('storage/disk-full', 'data that the browser lost on a full disk is read again before anything is written', async () => {
  const journal = new MemoryJournal();
  const host = await TestReplica.open('host', { fenced: true });
  await host.join(journal);
  const question = await ask(host.vault, 'm-1');
  await answer(host.vault, question);
  await host.synced(journal);
  const full = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('Encountered full disk while opening', 'QuotaExceededError');
  });
  await expect(ask(host.vault, 'm-2')).rejects.toBeInstanceOf(StorageFull);
  full.mockRestore();
  await deleteDB(host.name);
  const written = host.vault.config.write({ a: 1 });
  let isWritten = false;
  void written.then(() => (isWritten = true));
  await until(() => host.replicator.state().state === 'failing', 'the loss to be noticed');
  // The next try to read the journal, and not the end of the wait for it.
  host.clock.advance(2_000);
  await until(() => isWritten, 'the write');
  expect(await host.vault.messages.get('m-1')).toBeDefined();
  expect(await host.vault.messages.get('re-m-1')).toBeDefined();
});

verifies(['vault.journal/reserve', 'storage/disk-full'], 'while the journal’s disk is full, only deletions are written', async () => {
  const journal = new MemoryJournal();
  const host = await TestReplica.open('host');
  await host.join(journal);
  const question = await ask(host.vault, 'm-1');
  journal.free = 0;
  // The write that runs out of space is on disk, in the reserved space.
  await answer(host.vault, question);
  expect(journal.rows.has('messages/re-m-1')).toBe(true);
  await expect(ask(host.vault, 'm-2')).rejects.toBeInstanceOf(StorageFull);
  expect(await host.vault.messages.get('m-2')).toBeUndefined();
  expect(journal.rows.has('messages/m-2')).toBe(false);
  await host.vault.sessions.remove(KEY);
  await host.synced(journal);
  host.clock.advance(2_000);
  await expect(ask(host.vault, 'm-3')).rejects.toBeInstanceOf(StorageFull);
  journal.free = 1024 ** 3;
  await until(() => {
    host.clock.advance(2_000);
    return host.vault.sync.full === undefined;
  }, 'the next look at the disk');
  await ask(host.vault, 'm-4');
  await host.synced(journal);
  expect(journal.rows.has('messages/m-4')).toBe(true);
});

verifies(
  'vault.sync/attachments',
  'bytes lie beside the message, once, are fetched by who needs them, and go with the last message',
  async () => {
    const journal = new MemoryJournal();
    const [here, there] = [await TestReplica.open('here'), await TestReplica.open('there')];
    await here.join(journal);
    await there.join(journal);
    const picture = { type: 'image', mimeType: 'image/png', data: btoa('a picture'), filename: 'p.png' } as const;
    const session = newSession();
    const first = newMessage('m-1', null, { content: [{ type: 'text', text: 'see' }, picture] });
    await here.vault.runs.begin({ session, message: first, run: newRun('r-1', 'm-1') });
    const second = newMessage('m-2', first, { content: [picture] });
    await here.vault.runs.begin({ session, message: second, run: newRun('r-2', 'm-2') });
    await there.synced(journal);
    expect(Object.keys((await contentOf(there.name)).blobs ?? {})).toEqual([]);
    expect(journal.blobs.size).toBe(1);
    expect(journal.rows.get('messages/m-1')?.payload).not.toContain(picture.data);
    expect(await there.vault.messages.get('m-1')).toEqual(first);
    expect((await there.vault.messages.branch(KEY, { limit: 5 })).messages).toEqual([first, second]);
    there.cut();
    await until(() => there.replicator.state().state === 'away');
    expect(await there.vault.messages.get('m-2')).toEqual(second);
    expect((await there.vault.sessions.get(KEY))?.size).toBe((await here.vault.sessions.get(KEY))?.size);
    await here.vault.sessions.remove(KEY);
    expect(Object.keys((await contentOf(here.name)).blobs ?? {})).toEqual([]);
  },
);

verifies('vault.sync/secrets', 'a key set on one host opens on another, and is nowhere in the clear', async () => {
  const journal = new MemoryJournal();
  const [here, there] = [await TestReplica.open('here'), await TestReplica.open('there')];
  // Written before it ever saw a bridge, under its own key.
  await here.vault.secrets.set('providers.early.apiKey', 'sk-early-secret');
  await here.join(journal);
  await here.vault.secrets.set('providers.late.apiKey', 'sk-late-secret');
  await there.join(journal);
  expect(await there.vault.secrets.get('providers.early.apiKey')).toBe('sk-early-secret');
  expect(await there.vault.secrets.get('providers.late.apiKey')).toBe('sk-late-secret');
  expect(await here.vault.secrets.get('providers.early.apiKey')).toBe('sk-early-secret');
  expect(JSON.stringify([...journal.rows.values()])).not.toMatch(/sk-(early|late)/);
});

verifies(
  'vault.merge/copies',
  'settings changed on two partitioned hosts: the later wins, the other is kept, and can be restored',
  async () => {
    const journal = new MemoryJournal();
    const [here, there] = [await TestReplica.open('here'), await TestReplica.open('there')];
    await here.join(journal);
    await here.vault.config.write({ chat: { model: 'one' }, gateway: { discover: true } });
    await there.join(journal);
    here.cut();
    there.cut();
    await here.vault.config.write({ chat: { model: 'ours' }, gateway: { discover: true } });
    there.clock.jump(1_000);
    await there.vault.config.write({ chat: { model: 'theirs' }, gateway: { discover: false } });
    await here.join(journal);
    await there.join(journal);
    await here.synced(journal);
    for (const { vault } of [here, there]) {
      expect(await vault.config.read()).toEqual({ chat: { model: 'theirs' }, gateway: { discover: false } });
      const copies = await copiesOf(vault);
      expect(copies.map(({ store, key, payload }) => [store, key, payload])).toEqual([
        ['config', 'chat', '{"name":"chat","value":{"model":"ours"}}'],
      ]);
    }
    const [copy] = await copiesOf(there.vault);
    expect(await there.vault.conflicts.resolve(copy?.id ?? '', 'restore')).toBe(true);
    expect(await there.vault.conflicts.resolve(copy?.id ?? '', 'restore')).toBe(false);
    await here.synced(journal);
    expect(await here.vault.config.read()).toEqual({ chat: { model: 'ours' }, gateway: { discover: false } });
    expect(await copiesOf(here.vault)).toEqual([]);
  },
);

verifies('vault.merge/copies', 'one chat continued apart: both branches are there, the later one is active, the other can be', async () => {
  const journal = new MemoryJournal();
  const [here, there] = [await TestReplica.open('here'), await TestReplica.open('there')];
  await here.join(journal);
  const root = await answer(here.vault, await ask(here.vault, 'root'));
  await there.join(journal);
  here.cut();
  there.cut();
  const ours = await answer(here.vault, await ask(here.vault, 'ours', root));
  there.clock.jump(1_000);
  const theirs = await answer(there.vault, await ask(there.vault, 'theirs', root));
  await here.join(journal);
  await there.join(journal);
  await here.synced(journal);
  for (const { vault } of [here, there]) {
    expect(await vault.sessions.get(KEY)).toMatchObject({ headId: theirs.id, messageCount: 6 });
    expect(await vault.messages.get(ours.id)).toBeDefined();
    expect(await copiesOf(vault)).toMatchObject([{ store: 'heads', key: KEY }]);
  }
  const [copy] = await copiesOf(here.vault);
  await here.vault.conflicts.resolve(copy?.id ?? '', 'restore');
  await there.synced(journal);
  expect(await there.vault.sessions.get(KEY)).toMatchObject({ headId: ours.id, preview: 'text of re-ours' });
});

verifies('vault.merge/deletes', 'a deleted chat is deleted everywhere; messages added to it meanwhile stay', async () => {
  const journal = new MemoryJournal();
  const [here, there] = [await TestReplica.open('here'), await TestReplica.open('there')];
  await here.join(journal);
  const root = await answer(here.vault, await ask(here.vault, 'root'));
  await there.join(journal);
  const other = sessionKey('main', 'other');
  await here.vault.runs.begin({
    session: newSession(other),
    message: newMessage('o', null, { sessionKey: other }),
    run: newRun('r-o', 'o', { sessionKey: other }),
  });
  await there.synced(journal);
  await there.vault.sessions.remove(other);
  await here.synced(journal);
  expect(await here.vault.sessions.get(other)).toBeUndefined();
  expect(await here.vault.messages.get('o')).toBeUndefined();

  here.cut();
  await here.vault.sessions.remove(KEY);
  there.clock.jump(1_000);
  await ask(there.vault, 'meanwhile', root);
  await here.join(journal);
  await there.synced(journal);
  await here.synced(journal);
  for (const { vault } of [here, there]) {
    expect(await vault.sessions.get(KEY)).toMatchObject({ headId: 'meanwhile', messageCount: 1, title: 'Recovered chat' });
    expect((await vault.messages.branch(KEY, { limit: 9 })).messages.map(({ id }) => id)).toEqual(['meanwhile']);
  }
});

verifies(
  'vault.sync/read-only',
  'a host older than the data refuses to write, keeps its own changes, and sends them once updated',
  async () => {
    const journal = new MemoryJournal();
    const [older, newer] = [await TestReplica.open('older'), await TestReplica.open('newer', { schema: SCHEMA_VERSION + 1 })];
    await ask(older.vault, 'early');
    await newer.join(journal);
    await ask(newer.vault, 'from the future');
    older.attach(journal);
    await until(() => older.replicator.state().state === 'outdated');
    await expect(ask(older.vault, 'late')).rejects.toThrow(VaultReadOnly);
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
  expect(SCHEMA_VERSION).toBe(steps.length);
});
