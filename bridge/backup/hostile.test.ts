import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TextReader, Uint8ArrayWriter, type ZipWriterAddDataOptions, ZipWriter } from '@zip.js/zip.js';
import { afterAll, beforeAll, expect } from 'vitest';
import { SCHEMA_VERSION } from '#shared/link/hello.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { verifies } from '../../tests/requirements.ts';
import { createRandom } from '../../tests/support/seed.ts';
import { writeTestBackup, fillJournal, createTempFolder, toHash, openJournalIn, createRecord } from './fixture.ts';
import { InvalidBackupError, FORMAT } from './backup-format.ts';
import { readBackup } from './read-backup.ts';

const MB = 1024 * 1024;
const dir = createTempFolder();
const path = join(dir.path, 'hostile.zip');
let good: Buffer;

beforeAll(async () => {
  await using journal = await openJournalIn(dir.path);
  await fillJournal(journal);
  await writeTestBackup(journal, path, 'correct horse');
  good = readFileSync(path);
});
afterAll(() => dir[Symbol.dispose]());

interface Options extends ZipWriterAddDataOptions {
  /** Hash of the entry in `backup.json`: a different one, or none. */
  listed?: string | false;
}
type Entries = Record<string, string | [text: string, options: Options]>;

const line = (value: Partial<SyncRecord> = {}): string =>
  `${JSON.stringify({ ...createRecord('messages', 'm', { id: 'm' }), ...value })}\n`;
const MESSAGES = 'records/messages.jsonl';

/** Builds a zip of these entries with a matching `backup.json`, changed by `manifest`; null: without it. */
async function createZip(entries: Entries, manifest: Record<string, unknown> | null = {}): Promise<Uint8Array> {
  const zip = new ZipWriter(new Uint8ArrayWriter(), { useWebWorkers: false });
  const hashes: Record<string, string> = {};
  let [messages, blobs] = [0, 0];
  for (const [name, entry] of Object.entries(entries)) {
    const [text, { listed, ...options }] = typeof entry === 'string' ? [entry, {} as Options] : entry;
    if (name === MESSAGES) messages = text.split('\n').filter(Boolean).length;
    if (name.startsWith('blobs/')) blobs++;
    if (listed !== false) hashes[name] = listed ?? toHash(Buffer.from(text));
    await zip.add(name, options.directory ? undefined : new TextReader(text), options);
  }
  const counts = { records: { messages }, blobs, secrets: 0 };
  const head = {
    format: FORMAT,
    app: 't',
    schema: 1,
    journal: 'j',
    created: '2026-01-01T00:00:00.000Z',
    counts,
    missingBlobs: 0,
    entries: hashes,
  };
  if (manifest) await zip.add('backup.json', new TextReader(JSON.stringify({ ...head, ...manifest })));
  return zip.close();
}

/** Returns the records that were read before the backup was rejected or accepted. */
async function read(bytes: Uint8Array, limit = 8 * MB): Promise<SyncRecord[]> {
  writeFileSync(path, bytes);
  const records: SyncRecord[] = [];
  await using _ = await readBackup(path, { limit, schema: SCHEMA_VERSION, record: (each) => void records.push(each) });
  return records;
}

/** Returns the message with which a backup is rejected. */
async function getRejection(bytes: Uint8Array, limit?: number): Promise<string> {
  const error: unknown = await read(bytes, limit).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof InvalidBackupError)) throw new Error(`it was not refused: ${String(error)}`, { cause: error });
  expect(error.message).toMatch(/^Couldn’t use hostile\.zip: [^\n]+$/);
  return error.message;
}

/** Replaces a name with another of the same length. */
function replaceName(bytes: Uint8Array, from: string, to: string): Uint8Array {
  return Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll(from, to), 'latin1');
}

verifies('vault.backup/all-or-nothing', 'what is as it should be is accepted', async () => {
  expect(await read(await createZip({ [MESSAGES]: line() }))).toHaveLength(1);
  expect(await read(good)).toHaveLength(37);
});

verifies('vault.backup/all-or-nothing', 'names: outside, absolute, unknown, twice, links, folders, locked', async () => {
  for (const name of [
    '../evil',
    'records/../../evil.jsonl',
    '/etc/passwd',
    'C:/evil',
    'blobs\\..\\evil',
    '..\\evil',
    'records/secrets.jsonl',
    'records/__proto__.jsonl',
    'records/messages.jsonl/',
    `blobs/${'A'.repeat(64)}`,
    'evil\u001b[2Jname\n',
    'Backup.json',
    'x'.repeat(5000),
  ])
    expect(await getRejection(await createZip({ [name]: 'x' })), name).toMatch(/unexpected file|damaged/);
  const [a, b] = ['a', 'b'].map((text) => `blobs/${toHash(Buffer.from(text))}`) as [string, string];
  expect(await getRejection(replaceName(await createZip({ [a]: 'a', [b]: 'b' }), b, a))).toMatch(/twice|damaged/);
  expect(await getRejection(await createZip({ [MESSAGES]: [line(), { unixMode: 0o120777 }] }))).toMatch(/not a regular file/);
  expect(await getRejection(await createZip({ [MESSAGES]: [line(), { password: 'x' }] }))).toMatch(/not a regular file/);
  expect(await getRejection(await createZip({ 'records/': ['', { directory: true }] }))).toMatch(/unexpected file/);
});

verifies('vault.backup/all-or-nothing', 'missing or extra entries and wrong hashes are refused', async () => {
  expect(await getRejection(await createZip({ [MESSAGES]: line() }, null))).toMatch(/backup\.json is missing/);
  expect(await getRejection(await createZip({ 'backup.json': '{"format": 1,' }, null))).toMatch(
    /backup\.json can’t be read \(not valid JSON/,
  );
  expect(await getRejection(await createZip({ [MESSAGES]: [line(), { listed: false }] }))).toMatch(/not listed/);
  expect(await getRejection(await createZip({ [MESSAGES]: [line(), { listed: 'a'.repeat(64) }] }))).toMatch(/SHA-256 of .* doesn’t match/);
  expect(await getRejection(await createZip({}, { entries: { [MESSAGES]: 'a'.repeat(64) } }))).toMatch(/missing/);
  expect(await getRejection(await createZip({}, { counts: { records: { messages: 1 }, blobs: 0, secrets: 0 } }))).toMatch(
    /number of records/,
  );
  expect(await getRejection(await createZip({}, { counts: { records: {}, blobs: 1, secrets: 0 } }))).toMatch(/number of attachments/);
  expect(await getRejection(await createZip({}, { counts: { records: {}, blobs: 0, secrets: 1 } }))).toMatch(/keys are missing/);
  expect(await getRejection(await createZip({ [`blobs/${'a'.repeat(64)}`]: 'other' }))).toMatch(/SHA-256 of an attachment/);
  expect(await getRejection(await createZip({ 'secrets.sealed': '{}' }))).toMatch(/encrypted keys are damaged/);
});

verifies('vault.backup/all-or-nothing', 'manifests: newer formats and schemas, and what is none', async () => {
  expect(await getRejection(await createZip({}, { format: FORMAT + 1, entries: 'otherwise now' }))).toMatch(/newer version of Perch/);
  expect(await getRejection(await createZip({}, { schema: SCHEMA_VERSION + 1 }))).toMatch(/newer version of Perch/);
  expect(await getRejection(await createZip({}, { format: 'one' }))).toMatch(/backup\.json can’t be read/);
  expect(await getRejection(await createZip({}, { counts: { records: { secrets: 1 }, blobs: 0, secrets: 0 } }))).toMatch(/can’t be read/);
  expect(await getRejection(await createZip({ 'backup.json': ['[[[', { listed: false }] }, null))).toMatch(/can’t be read/);
  expect(await getRejection(await createZip({ 'backup.json': ['['.repeat(7 * MB), { listed: false }] }, null))).toMatch(/can’t be read/);
});

verifies('vault.backup/all-or-nothing', 'records that are none', async () => {
  for (const text of [
    'null\n',
    '{}\n',
    '{"store"\n',
    `${'['.repeat(MB)}\n`,
    line({ store: 'sessions' }),
    line({ store: 'secrets' }),
    line({ key: '' }),
    line({ clock: 'yesterday' }),
    line({ seal: 'other' as 'none' }),
    line({ payload: null }),
    line({ deleted: true, payload: null }),
    line({ payload: '{' }),
    line({ payload: '['.repeat(2 * MB) }),
    line({ payload: `${'['.repeat(2 * MB)}${']'.repeat(2 * MB)}` }),
    line({ fence: -1 }),
    line({ blobs: ['../x'] }),
    line() + line(),
    line().trimEnd(),
    `${line()}\n`,
  ])
    await getRejection(await createZip({ [MESSAGES]: text }));
  const counts = (messages: number): Record<string, unknown> => ({ counts: { records: { messages }, blobs: 0, secrets: 0 } });
  expect(await getRejection(await createZip({ [MESSAGES]: line() + line() }, counts(1)))).toMatch(/misplaced record/);
  expect(await getRejection(await createZip({ [MESSAGES]: line().trimEnd() }, counts(0)))).toMatch(/incomplete/);
  const broken = await createZip({ [MESSAGES]: [line().replace('"m"', '"\u00ff"'), { level: 0, listed: 'a'.repeat(64) }] });
  await getRejection(replaceName(broken, '\u00c3\u00bf', '\u00ff\u00ff'));
});

verifies('vault.backup/limit', 'a bomb is stopped while it unpacks, whatever its headers say', async () => {
  const zeros = '0'.repeat(20 * MB);
  const bomb = await createZip({ [`blobs/${toHash(Buffer.from(zeros))}`]: zeros });
  expect(bomb.length).toBeLessThan(MB / 10);
  expect(await getRejection(bomb)).toMatch(/unpacks to more than 8 MB/);
  // The same with a false small size: little-endian sizes in the central directory and the descriptor.
  const size = Buffer.alloc(4);
  size.writeUInt32LE(zeros.length);
  await getRejection(replaceName(bomb, size.toString('latin1'), '\u0001\u0000\u0000\u0000'));
  expect(
    await getRejection(
      await createZip(
        Object.fromEntries([1, 2, 3].map((n) => [`blobs/${toHash(Buffer.from(zeros.slice(n, 3 * MB)))}`, zeros.slice(n, 3 * MB)])),
      ),
    ),
  ).toMatch(/unpacks to more than 8 MB/);
  expect(await getRejection(await createZip({ [MESSAGES]: zeros }))).toMatch(/unpacks to more than 8 MB/);
  expect(await getRejection(await createZip({ 'backup.json': [zeros, { listed: false }] }, null))).toMatch(/unpacks to more than 8 MB/);
});

verifies('vault.backup/limit', 'a small file that unpacks to a lot is refused before anything is unpacked', async () => {
  const records = line({ payload: JSON.stringify({ id: 'm', sessionKey: 'main/one', content: '0'.repeat(80 * MB) }) });
  const bomb = await createZip({ [MESSAGES]: records });
  expect(bomb.length).toBeLessThan(0.3 * MB);
  writeFileSync(path, bomb);
  const readRecords: SyncRecord[] = [];
  const options = { schema: SCHEMA_VERSION, record: (each: SyncRecord) => void readRecords.push(each) };
  const start = process.cpuUsage();
  await expect(readBackup(path, options)).rejects.toThrow('Couldn’t use hostile.zip: it unpacks to more than 32 MB, too much for its size');
  const { user, system } = process.cpuUsage(start);
  expect(user + system).toBeLessThan(500_000);
  expect(readRecords).toEqual([]);
  const zeros = '0'.repeat(40 * MB);
  writeFileSync(path, await createZip({ [MESSAGES]: line(), [`blobs/${toHash(Buffer.from(zeros))}`]: zeros }));
  await expect(readBackup(path, options)).rejects.toThrow('too much for its size');
  // Not even the records before it.
  expect(readRecords).toEqual([]);
  writeFileSync(path, bomb);
  // The user may allow more.
  await using _ = await readBackup(path, { ...options, limit: 100 * MB });
  expect(readRecords).toHaveLength(1);
});

verifies('vault.backup/limit', 'deeply nested brackets are refused unparsed, wherever they are', async () => {
  const brackets = '['.repeat(30 * MB);
  const manifest = await createZip({ 'backup.json': [brackets, { listed: false }] }, null);
  const sealed = await createZip({ 'secrets.sealed': brackets });
  const before = process.resourceUsage().maxRSS;
  expect(await getRejection(manifest, 64 * MB)).toMatch(/backup\.json can’t be read/);
  expect(await getRejection(sealed, 64 * MB)).toMatch(/encrypted keys are damaged/);
  expect(await getRejection(await createZip({ 'secrets.sealed': '0'.repeat(33 * MB) }), 64 * MB)).toMatch(/secrets\.sealed is too large/);
  // In kilobytes; each of them would take more than a gigabyte.
  expect(process.resourceUsage().maxRSS - before).toBeLessThan(700_000);
});

verifies(
  'vault.backup/all-or-nothing',
  'cut off anywhere it is refused; with any bytes changed it is refused, or has the same records',
  async () => {
    const records = await read(good);
    for (let cut = 0; cut < 60; cut++) await getRejection(good.subarray(0, Math.floor((good.length * cut) / 60)));
    await getRejection(Buffer.concat([good, Buffer.from('x')]));
    await getRejection(Buffer.concat([Buffer.from('x'), good]));
    const random = createRandom(4711);
    let accepted = 0;
    for (let round = 0; round < 1000; round++) {
      const bytes = Buffer.from(good);
      for (let changes = 1 + random(4); changes > 0; changes--) bytes[random(bytes.length)] = random(256);
      const outcome = await read(bytes).catch((error: unknown) => error);
      if (outcome instanceof InvalidBackupError) continue;
      expect(outcome, `round ${round}`).toEqual(records);
      accepted++;
    }
    expect(accepted).toBeLessThan(200);
  },
  120_000,
);
