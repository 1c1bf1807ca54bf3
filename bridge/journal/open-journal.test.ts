import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { changeFileDirectly, readContents, KEY, readMode, temporaryFolder, createVersion, createVersions } from './fixture.ts';
import { type Journal, JournalError, JournalFullError } from './journal.ts';
import { openJournal } from './open-journal.ts';

const PUSHER = join(import.meta.dirname, 'tests/pusher.ts');
const sequenced = (records: ReturnType<typeof createVersions>) => readContents(records.map((record) => ({ ...record, seq: 1 })));

async function pullAll(journal: Journal): Promise<SequencedRecord[]> {
  const all: SequencedRecord[] = [];
  for (let after = 0; ;) {
    const { records, next, head } = await journal.pull(after, 1000);
    all.push(...records);
    if (next >= head) return all;
    after = next;
  }
}

/** Another process that pushes records. `acknowledged`: keys acknowledged so far. */
function pusher(dir: string, origin: string, most: number): { child: ChildProcess; acknowledged: string[]; exited: Promise<unknown> } {
  const child = spawn(process.execPath, [PUSHER, dir, origin, String(most)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const acknowledged: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (key) => acknowledged.push(key));
  return { child, acknowledged, exited: Promise.all([once(child, 'exit'), once(lines, 'close')]) };
}

verifies('vault.journal/grouped', 'through its thread: everything that the engine gives and takes', async () => {
  using folder = temporaryFolder();
  await using journal = await openJournal({ ...folder, vaultKey: KEY });
  expect([journal.path, journal.head, readMode(folder.file)]).toEqual([folder.file, 0, '600']);
  const changed: number[] = [];
  journal.on('changed', (head) => changed.push(head));
  const { position, wantsAll } = await journal.open({ origin: 'a', schema: 3, position: null });
  expect(wantsAll).toBe(true);
  const bad = { ...createVersion('bad', 1), payload: 7 as never };
  const pushes = await Promise.allSettled([
    ...Array.from({ length: 64 }, (_, index) => journal.push(createVersions(2, `w${index}`), 'a')),
    journal.push([bad], 'a'),
  ]);
  expect(pushes.map(({ status }) => status)).toEqual([...Array.from({ length: 64 }, () => 'fulfilled'), 'rejected']);
  expect(pushes[64]).toMatchObject({ reason: expect.any(JournalError) });
  expect(journal.head).toBe(128);
  expect(changed.at(-1)).toBe(128);
  expect(changed.length).toBeLessThan(20);
  expect(await journal.pull(0, 10, 'a')).toEqual({ records: [], next: 128, head: 128 });
  expect(await journal.open({ origin: 'a', schema: 3, position: { ...position, seq: 128 } })).toMatchObject({ wantsAll: false, schema: 3 });
  const bytes = Buffer.from('attached');
  const hash = createHash('sha256').update(bytes).digest('hex');
  await journal.putBlob(hash, bytes);
  await expect(journal.putBlob(hash, Buffer.from('other'))).rejects.toThrow(JournalError);
  expect(Buffer.from((await journal.getBlob(hash)) ?? [])).toEqual(bytes);
  expect(await journal.getBlob('f'.repeat(64))).toBeUndefined();
  const lease = { name: 'run', holder: 'a', ttlMs: 60_000, present: null };
  expect(await Promise.all([journal.takeLease(lease), journal.takeLease({ ...lease, holder: 'b' })])).toEqual([1, null]);
  await journal.releaseLease('run', 'a', 1);
  expect(await journal.takeLease({ ...lease, holder: 'b' })).toBe(2);
  expect(await journal.info()).toMatchObject({ head: 128, records: 128, blobs: 1 });
});

verifies('vault.journal/durable', 'closing waits for everything that was asked, and nothing is taken behind it', async () => {
  using folder = temporaryFolder();
  const journal = await openJournal({ ...folder, vaultKey: KEY });
  const pushes = Array.from({ length: 50 }, (_, index) => journal.push(createVersions(3, `w${index}`), 'a'));
  const reading = journal.pull(0, 1000);
  await journal.close();
  await journal.close();
  expect((await Promise.all(pushes)).at(-1)).toMatchObject({ last: 150 });
  expect((await reading).records).toHaveLength(150);
  await expect(journal.push(createVersions(1), 'a')).rejects.toThrow(JournalError);
  await using again = await openJournal({ ...folder, vaultKey: KEY });
  expect(await pullAll(again)).toHaveLength(150);
});

verifies(
  'vault.journal/durable',
  'killed in the middle of pushing: everything acknowledged is there',
  async () => {
    using folder = temporaryFolder();
    const expected = new Set<string>();
    for (const [round, least] of [30, 300, 900].entries()) {
      const { child, acknowledged, exited } = pusher(folder.dir, `p${round}-`, 1_000_000);
      await waitFor(() => acknowledged.length >= least, 'some pushes', 15_000);
      child.kill('SIGKILL');
      await exited;
      for (const key of acknowledged) expected.add(key);
      const replaced: string[] = [];
      await using journal = await openJournal({ ...folder, vaultKey: KEY, log: (line) => replaced.push(line) });
      const keys = new Set((await pullAll(journal)).map(({ key }) => key));
      expect([...expected].filter((key) => !keys.has(key))).toEqual([]);
      expect(replaced).toEqual([]);
      // Pushes of three records, each whole or not at all.
      expect(keys.size % 3).toBe(0);
    }
    expect(expected.size).toBeGreaterThanOrEqual(1230);
  },
  60_000,
);

verifies(
  'vault.journal/processes',
  'two writers at once lose nothing, and each is notified of the other’s writes',
  async () => {
    using folder = temporaryFolder();
    await using journal = await openJournal({ ...folder, vaultKey: KEY });
    const { position } = await journal.open({ origin: 'r', schema: 1, position: null });
    const other = pusher(folder.dir, 'o', 600);
    let own = 0;
    while (other.acknowledged.length < 600) await journal.push(createVersions(1, `own${own++}-`), 'own');
    await other.exited;
    // Changes arrive although nothing is written here.
    const { acknowledged, exited } = pusher(folder.dir, 'late', 3);
    const changed: number[] = [];
    journal.on('changed', (head) => changed.push(head));
    await exited;
    const all = other.acknowledged.length + own + acknowledged.length;
    await waitFor(() => journal.head === all, 'the other process’s records');
    expect(changed).toEqual([all]);
    expect(new Set((await pullAll(journal)).map(({ key }) => key)).size).toBe(all);
    // For a replica that has read everything, the history is the same.
    expect(await journal.open({ origin: 'r', schema: 1, position: { ...position, seq: all } })).toMatchObject({ wantsAll: false });
    await journal.close();
    await using again = await openJournal({ ...folder, vaultKey: KEY });
    expect(await again.open({ origin: 'r', schema: 1, position: { ...position, seq: all } })).toMatchObject({ wantsAll: false });
    const tooFar = { ...position, seq: all + 1 };
    expect(await again.open({ origin: 'r', schema: 1, position: tooFar })).toMatchObject({ wantsAll: true });
  },
  60_000,
);

verifies('vault.journal/thread', 'pending calls fail, and the next process takes over', async () => {
  using folder = temporaryFolder();
  const threads: Worker[] = [];
  const start = (workerData: object): Worker => {
    const thread = new Worker(join(import.meta.dirname, 'thread.ts'), { workerData, execArgv: [] });
    threads.push(thread);
    return thread;
  };
  const lines: string[] = [];
  await using journal = await openJournal({ ...folder, vaultKey: KEY, start, log: (line) => lines.push(line) });
  const replaced: string[] = [];
  journal.on('replaced', (reason) => replaced.push(reason));
  const { position } = await journal.open({ origin: 'a', schema: 7, position: null });
  await journal.push(createVersions(2), 'a');
  // In this order: otherwise it might have answered already. Its exit is reported later.
  void threads[0]?.terminate();
  const lost = journal.pull(0, 1000);
  await expect(lost).rejects.toThrow(JournalError);
  await waitFor(() => replaced.length === 1, 'the next thread');
  expect([replaced, lines]).toEqual([
    ['The journal thread stopped unexpectedly and was restarted'],
    ['The journal thread stopped unexpectedly'],
  ]);
  // The newest schema is remembered from the replicas that opened the journal before.
  expect(await journal.push(createVersions(3), 'a')).toEqual({ before: 2, last: 3, conflicts: 0 });
  const opened = await journal.open({ origin: 'b', schema: 1, position: { ...position, seq: 2 } });
  expect(opened).toMatchObject({ schema: 7, wantsAll: false, position: { seq: 2 } });
  expect(threads).toHaveLength(2);
});

verifies('vault.journal/damaged', 'deleted under the running journal: hosts are told, and go on', async () => {
  using folder = temporaryFolder();
  const lines: string[] = [];
  await using journal = await openJournal({ ...folder, vaultKey: KEY, log: (line) => lines.push(line) });
  await journal.push(createVersions(3), 'a');
  const replaced: string[] = [];
  journal.on('replaced', (reason) => replaced.push(reason));
  rmSync(folder.file);
  // Without any request.
  await waitFor(() => replaced.length === 1, 'that it is noticed');
  expect(lines).toEqual(replaced);
  expect(await journal.push(createVersions(4), 'a')).toEqual({ before: 3, last: 4, conflicts: 0 });
  expect(readContents(await pullAll(journal))).toEqual(sequenced(createVersions(4)));
});

it('rejects where the file cannot be opened', async () => {
  using folder = temporaryFolder();
  await expect(openJournal({ dir: join(folder.dir, 'nowhere'), vaultKey: KEY })).rejects.toThrow(JournalError);
});

it('tells a failure from a lack of room', async () => {
  using folder = temporaryFolder();
  await using journal = await openJournal({ ...folder, vaultKey: KEY });
  const trigger = "CREATE TRIGGER no BEFORE INSERT ON records WHEN NEW.key = 'x' BEGIN SELECT RAISE(ABORT, 'not this one'); END";
  changeFileDirectly(folder.file, (db) => db.exec(trigger));
  const failed: unknown = await journal.push([createVersion('x', 1)], 'a').catch((error: unknown) => error);
  expect(failed).toEqual(new JournalError('not this one'));
  expect(failed).not.toBeInstanceOf(JournalFullError);
});

verifies('vault.journal/snapshot', 'page by page while others write, and let go of when left early', async () => {
  using folder = temporaryFolder();
  await using journal = await openJournal({ ...folder, vaultKey: KEY });
  await journal.push(createVersions(2500), 'a');
  const read: SequencedRecord[] = [];
  for await (const record of journal.snapshot()) {
    read.push(record);
    if (read.length === 1) await journal.push([createVersion('a0', 9999), ...createVersions(2, 'b')], 'b');
  }
  expect(readContents(read)).toEqual(sequenced(createVersions(2500)));
  for await (const record of journal.snapshot()) {
    expect(record.key).toBe('a0');
    break;
  }
  // No reader is left, so the whole log can be checkpointed.
  changeFileDirectly(folder.file, (db) => expect(db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()).toMatchObject({ busy: 0 }));
});

verifies('vault.journal/private', 'the stored files do not contain the vault’s key', async () => {
  using folder = temporaryFolder();
  const journal = await openJournal({ ...folder, vaultKey: KEY });
  await journal.push(createVersions(2), 'a');
  await journal.close();
  const text = readFileSync(folder.file, 'latin1');
  expect([text.includes(KEY), text.includes(Buffer.from(KEY, 'base64url').toString('latin1'))]).toEqual([false, false]);
});
