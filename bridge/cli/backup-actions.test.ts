import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { z } from '#shared/rpc/zod.ts';
import { runPerch } from '../../tests/e2e/perch-process.ts';
import { verifies } from '../../tests/requirements.ts';
import { readAllRecords, fillJournal, createTempFolder, createRecord, SECRET } from '../backup/fixture.ts';
import { VaultSeal } from '../backup/sealed-secrets.ts';
import type { Journal } from '../journal/journal.ts';
import { openJournal } from '../journal/open-journal.ts';
import { loadVaultKey } from '../journal/vault-key.ts';

interface CommandOutput {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the actual command with a separate home. */
const runBackupCommand = (home: string, ...args: string[]): Promise<CommandOutput> =>
  runPerch(['backup', ...args], { PERCH_HOME: home, CI: '1' }).then(
    (output) => ({ code: 0, ...output }),
    (error: CommandOutput) => ({ code: error.code, stdout: error.stdout, stderr: error.stderr }),
  );

async function openHome(home: string): Promise<{ journal: Journal; seal: VaultSeal }> {
  const key = await loadVaultKey(home);
  return { journal: await openJournal({ dir: home, vaultKey: key, log: () => {} }), seal: new VaultSeal(key) };
}

async function createFilledHome(home: string): Promise<void> {
  const { journal, seal } = await openHome(home);
  await fillJournal(journal, seal);
  await journal.close();
}

/** Contents of the journal, with secrets still sealed. */
async function readRecords(home: string): Promise<unknown> {
  const { journal } = await openHome(home);
  const records = await readAllRecords(journal);
  await journal.close();
  return records;
}

const exportFromHome = z.object({ path: z.string(), size: z.number(), counts: z.object({ records: z.record(z.string(), z.number()) }) });
const toOneLine = /^perch: [^\n]+\n$/;

verifies(
  ['vault.backup/no-browser', 'vault.backup/file', 'vault.backup/round-trip'],
  'export, list, lose everything, restore, restore again',
  async () => {
    using home = createTempFolder();
    await createFilledHome(home.path);
    const before = z
      .array(z.object({ store: z.string(), key: z.string(), payload: z.string().nullable() }))
      .parse(await readRecords(home.path));
    const { code, stdout, stderr } = await runBackupCommand(home.path, 'export', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { path, size, counts } = exportFromHome.parse(JSON.parse(stdout));
    expect(path).toMatch(/backups\/perch-\d{4}-\d\d-\d\d-\d{6}\.zip$/);
    expect([statSync(path).size, counts.records.messages]).toEqual([size, 31]);
    if (process.platform !== 'win32')
      expect([statSync(path).mode & 0o777, statSync(join(home.path, 'backups')).mode & 0o777]).toEqual([0o600, 0o700]);

    expect(JSON.parse((await runBackupCommand(home.path, 'list', '--json')).stdout)).toEqual({
      backups: [{ path, size, created: expect.any(String), counts: expect.objectContaining({ secrets: 0 }) }],
    });
    for (const name of readdirSync(home.path).filter((name) => name.startsWith('journal.sqlite'))) rmSync(join(home.path, name));
    const dry = await runBackupCommand(home.path, 'restore', path, '--dry-run', '--json');
    expect(JSON.parse(dry.stdout)).toMatchObject({ restored: false, stores: { messages: { added: 31, changed: 0 } }, blobs: 1 });
    expect(await readRecords(home.path)).toEqual([]);

    const restored = await runBackupCommand(home.path, 'restore', path, '--yes');
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(restored.stdout).toMatch(/messages +31 +0 +0 +0\n/);
    const after = z
      .array(z.object({ store: z.string(), key: z.string(), payload: z.string().nullable() }))
      .parse(await readRecords(home.path));
    expect(after).toEqual(before.filter(({ store, key, payload }) => store !== 'secrets' && payload !== null && key !== 'under-way'));
    const again = await readRecords(home.path);
    expect((await runBackupCommand(home.path, 'restore', path, '--yes')).stdout).toMatch(/Nothing to restore/);
    expect(await readRecords(home.path)).toEqual(again);
  },
  60_000,
);

verifies(
  'vault.backup/no-browser',
  'while another process has the journal open, which notices',
  async () => {
    using home = createTempFolder();
    await createFilledHome(home.path);
    await runBackupCommand(home.path, 'export', '--output', join(home.path, 'b.zip'));
    const { journal } = await openHome(home.path);
    await journal.push(
      [createRecord('memories', 'kept', { text: 'likes coffee' }), createRecord('memories', 'later', { text: 'new' })],
      'host-b',
    );
    await journal.close();
    await using holder = await startHolderProcess(home.path);
    const { code } = await runBackupCommand(home.path, 'restore', join(home.path, 'b.zip'), '--yes');
    expect(code).toBe(0);
    expect(await holder.next()).toMatchObject({ 'memories/kept': expect.stringContaining('tea'), 'memories/later': expect.any(String) });
    expect((await runBackupCommand(home.path, 'export', '--output', join(home.path, 'c.zip'))).code).toBe(0);
  },
  60_000,
);

verifies(
  'vault.backup/secrets',
  'they need a passphrase, which is asked for or read from a file',
  async () => {
    using home = createTempFolder();
    using other = createTempFolder();
    await createFilledHome(home.path);
    const [zip, words] = [join(home.path, 'b.zip'), join(home.path, 'words')];
    writeFileSync(words, 'correct horse\n');
    expect(await runBackupCommand(home.path, 'export', '--secrets')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--passphrase-file/),
    });
    expect(await runBackupCommand(home.path, 'export', '--passphrase-file', words)).toMatchObject({ code: 2 });
    writeFileSync(join(home.path, 'short'), 'short\n');
    expect(await runBackupCommand(home.path, 'export', '--secrets', '--passphrase-file', join(home.path, 'short'))).toMatchObject({
      code: 2,
    });
    expect(await runBackupCommand(home.path, 'export', '--secrets', '--passphrase-file', join(home.path, 'none'))).toMatchObject({
      code: 1,
    });
    const made = await runBackupCommand(home.path, 'export', '--secrets', '--passphrase-file', words, '--output', zip);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('2 keys') });
    for (const text of [made.stdout, made.stderr, readFileSync(zip, 'latin1')]) expect(text).not.toContain(SECRET);

    const left = await runBackupCommand(other.path, 'restore', zip, '--yes');
    expect(left).toMatchObject({ code: 0, stderr: expect.stringMatching(/Skipped the keys in the backup/) });
    writeFileSync(join(home.path, 'wrong'), 'wrong horse\n');
    const wrong = await runBackupCommand(other.path, 'restore', zip, '--yes', '--passphrase-file', join(home.path, 'wrong'));
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(toOneLine) });
    expect((await runBackupCommand(other.path, 'restore', zip, '--yes', '--passphrase-file', words)).stdout).toMatch(/secrets +2/);
    const { journal, seal } = await openHome(other.path);
    const found = (await readAllRecords(journal)).find(({ key }) => key === 'providers.openai');
    await journal.close();
    expect(seal.open('providers.openai', found?.payload ?? '')).toBe(SECRET);
  },
  60_000,
);

verifies(
  ['vault.backup/all-or-nothing', 'cli/errors'],
  'errors are one line and their exit code; the journal stays as it was',
  async () => {
    using home = createTempFolder();
    const zip = join(home.path, 'b.zip');
    expect(await runBackupCommand(home.path, 'export')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^perch: Nothing to back up in [^\n]+\n$/),
    });
    expect(await runBackupCommand(join(home.path, 'no-home'), 'list')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^No backups in /),
    });
    await createFilledHome(home.path);
    expect((await runBackupCommand(home.path, 'export', '--output', zip)).code).toBe(0);
    const before = await readRecords(home.path);
    const good = readFileSync(zip);
    expect(await runBackupCommand(home.path, 'export', '--output', zip)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/already exists.*--force/),
    });
    expect(readFileSync(zip).equals(good)).toBe(true);
    expect((await runBackupCommand(home.path, 'export', '--output', zip, '--force')).code).toBe(0);

    const torn = join(home.path, 'torn.zip');
    const flipped = Buffer.from(good);
    flipped[200] = (flipped[200] ?? 0) ^ 0xff;
    for (const bytes of [good.subarray(0, 1000), flipped, Buffer.alloc(0), Buffer.from('no zip at all')]) {
      writeFileSync(torn, bytes);
      const ended = await runBackupCommand(home.path, 'restore', torn, '--yes', '--replace');
      expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^perch: Couldn’t use torn\.zip: [^\n]+\n$/) });
    }
    // An unusable file is reported before any question.
    for (const options of [['--yes'], []])
      expect(await runBackupCommand(home.path, 'restore', join(home.path, 'none.zip'), ...options)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^perch: Couldn’t use none\.zip: the file doesn’t exist/),
      });
    for (const [code, ...args] of [
      [1, 'restore', home.path, '--yes'],
      [1, 'export', '--output', join(home.path, 'none', 'b.zip')],
      [2, 'restore', zip],
      [2, 'restore', '--yes'],
      [2, 'restore', zip, '--yes', '--max-size', '0'],
      [2, 'restore', zip, '--yes', '--passphrase-file', zip],
      [2, 'export', '--nonsense'],
      [2, 'nonsense'],
    ] as const) {
      const ended = await runBackupCommand(home.path, ...args);
      expect({ args, ...ended }).toEqual({ args, code, stdout: '', stderr: expect.stringMatching(toOneLine) });
    }
    expect(await readRecords(home.path)).toEqual(before);

    mkdirSync(join(home.path, 'backups'), { recursive: true });
    writeFileSync(join(home.path, 'backups', 'torn.zip'), flipped);
    expect((await runBackupCommand(home.path, 'list')).stdout).toMatch(/^Couldn’t use torn\.zip: [^\n]+\n$/);
  },
  120_000,
);

verifies(
  'vault.backup/bounded',
  'a hundred thousand records go through a heap that does not hold them',
  async () => {
    using home = createTempFolder();
    const { journal } = await openHome(home.path);
    const text = 'words of no great weight '.repeat(36);
    for (let batch = 0; batch < 100; batch++)
      await journal.push(
        Array.from({ length: 1000 }, (_, n) => createRecord('messages', `m${batch}-${n}`, { id: `m${batch}-${n}`, content: text })),
        'host-a',
      );
    await journal.close();
    const options = { PERCH_HOME: home.path, NODE_OPTIONS: '--max-old-space-size=64' };
    const { stdout } = await runPerch(['backup', 'export', '--json'], options);
    expect(exportFromHome.parse(JSON.parse(stdout)).counts.records.messages).toBe(100_000);
    const { backups } = z
      .object({ backups: z.array(z.object({ size: z.number(), problem: z.string().optional() })) })
      .parse(JSON.parse((await runBackupCommand(home.path, 'list', '--json')).stdout));
    expect(backups).toEqual([{ size: expect.any(Number) }]);
  },
  120_000,
);

test('a restore that cannot write says so in one line', async () => {
  using home = createTempFolder();
  await createFilledHome(home.path);
  const zip = join(home.path, 'b.zip');
  await runBackupCommand(home.path, 'export', '--output', zip);
  using other = createTempFolder();
  writeFileSync(join(other.path, 'file'), '');
  expect(await runBackupCommand(join(other.path, 'file'), 'restore', zip, '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(toOneLine),
  });
});

interface JournalHolder extends AsyncDisposable {
  /** Waits for the next change notification and returns the journal's contents. */
  next(): Promise<unknown>;
}

/** Another process with the journal open, like the bridge. */
async function startHolderProcess(home: string): Promise<JournalHolder> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../backup/holder.fixture.ts'), home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    next: async () => JSON.parse((await lines.next()).value ?? 'null') as unknown,
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
    },
  };
}
