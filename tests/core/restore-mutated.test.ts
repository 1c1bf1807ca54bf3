import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { TextReader, TextWriter, Uint8ArrayReader, Uint8ArrayWriter, ZipReader, ZipWriter } from '@zip.js/zip.js';
import { expect } from 'vitest';
import { backupPort } from '#shared/ports/backup-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { fillJournal, toHash } from '../../bridge/backup/fixture.ts';
import { createTestVault } from '../../web/gateway/storage/fixture.ts';
import { SEED, createRandom } from '../support/seed.ts';
import { verifies } from '../requirements.ts';
import { createRealBridge } from '../support/real-bridge.ts';

const ROUND_COUNT = process.env['PERCH_LONG'] === undefined ? 400 : 3000;

type RandomInteger = (most: number) => number;
type ZipEntries = Map<string, string>;
const pickRandom = <T>(random: RandomInteger, list: readonly T[]): T => list[random(list.length)] as T;

async function readZip(bytes: Uint8Array): Promise<ZipEntries> {
  const zip = new ZipReader(new Uint8ArrayReader(bytes));
  const entries: ZipEntries = new Map();
  for (const entry of await zip.getEntries())
    if (!entry.directory && !entry.filename.startsWith('blobs/')) entries.set(entry.filename, await entry.getData(new TextWriter()));
  await zip.close();
  return entries;
}

/** A zip of these entries with a matching manifest, which `spoil` may change. */
async function createZip(entries: ZipEntries, spoil: (manifest: string) => string = (text) => text): Promise<Uint8Array> {
  const zip = new ZipWriter(new Uint8ArrayWriter(), { useWebWorkers: false });
  const manifest = JSON.parse(entries.get('backup.json') ?? '{}') as {
    counts: { records: Record<string, number>; blobs: number };
    entries: object;
  };
  const others = [...entries].filter(([name]) => name !== 'backup.json');
  manifest.entries = Object.fromEntries(others.map(([name, text]) => [name, toHash(Buffer.from(text))]));
  manifest.counts.blobs = 0;
  for (const [name, text] of others) {
    const store = /^records\/(\w+)\.jsonl$/.exec(name)?.[1];
    if (store) manifest.counts.records[store] = text.split('\n').filter(Boolean).length;
    await zip.add(name, new TextReader(text));
  }
  await zip.add('backup.json', new TextReader(spoil(JSON.stringify(manifest))));
  return zip.close();
}

const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  1e21,
  '',
  'x',
  '\ud800',
  '__proto__',
  'a/b',
  '../x',
  [],
  [[]],
  [null],
  {},
  { id: 'other' },
  'x'.repeat(70_000),
];
const FOREIGN_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'key', 'id', 'sessionKey', 'name', 'length', ''];

/** The JSON with one value somewhere in it, or a name, made another. As text, for `__proto__` to be a name like any other. */
function mutateJson(random: RandomInteger, text: string): string {
  const value: unknown = JSON.parse(text);
  const hostile = JSON.stringify(pickRandom(random, HOSTILE_VALUES));
  if (typeof value !== 'object' || value === null || random(8) === 0) return hostile;
  const parts = Object.entries(value).map(([name, each]): [string, string] => [name, JSON.stringify(each)]);
  const at = random(parts.length + 1);
  const part = parts[at];
  if (!part || random(5) === 0) parts.push([pickRandom(random, FOREIGN_NAMES), hostile]);
  else if (random(4) === 0) parts.splice(at, 1);
  else part[1] = random(3) === 0 ? mutateJson(random, part[1]) : hostile;
  return Array.isArray(value)
    ? `[${parts.map(([, each]) => each).join()}]`
    : `{${parts.map(([name, each]) => `${JSON.stringify(name)}:${each}`).join()}}`;
}

/** Something like a backup, made of a good one. */
async function mutateBackup(random: RandomInteger, good: Uint8Array, entries: ZipEntries): Promise<Uint8Array> {
  const name = pickRandom(
    random,
    [...entries.keys()].filter((each) => each.startsWith('records/')),
  );
  const lines = (entries.get(name) ?? '').split('\n').filter(Boolean);
  const withLines = (changed: readonly string[]): ZipEntries => new Map(entries).set(name, changed.map((line) => `${line}\n`).join(''));
  const at = random(lines.length);
  const record = JSON.parse(lines[at] ?? '{}') as { payload: string };
  const withPayload = (payload: string): Promise<Uint8Array> =>
    createZip(withLines(lines.with(at, JSON.stringify({ ...record, payload }))));
  switch (random(10)) {
    case 0:
      return good.subarray(0, random(good.length));
    case 1: {
      const bytes = Buffer.from(good);
      bytes[random(bytes.length)] = random(256);
      return bytes;
    }
    case 2:
      return createZip(entries, (manifest) => mutateJson(random, manifest));
    case 3:
      return createZip(entries, (manifest) =>
        manifest.replace(
          /("(?:format|schema|blobs|secrets|messages)":)\d+/,
          `$1${pickRandom(random, ['2', '99', '1e15', '9007199254740993', '-1', '0.5', '"1"'])}`,
        ),
      );
    case 4:
      return createZip(withLines(lines.with(at, mutateJson(random, lines[at] ?? ''))));
    case 5:
      return withPayload(record.payload.replace(/}$/, `,"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`));
    case 6:
      return createZip(withLines([...lines, pickRandom(random, [lines[at] ?? '', '{}', '[', '5'])]));
    default:
      return withPayload(mutateJson(random, record.payload));
  }
}

verifies(
  ['backup/restore', 'vault.backup/all-or-nothing'],
  `${ROUND_COUNT} damaged and hostile backups: each is refused in a sentence, or restored entirely and read by hosts`,
  async () => {
    await using there = await createRealBridge();
    const { bridge, journal, home } = there;
    await fillJournal(journal);
    const { path } = await bridge.call(backupPort, 'backup.export', {});
    const good = readFileSync(path);
    const entries = await readZip(good);
    const faults: unknown[] = [];
    await using host = await createTestVault({ onfault: (error) => void faults.push(error) });
    let read = 0;
    /** Applies the journal as a host does. */
    const follow = async (): Promise<void> => {
      while (read < journal.head) {
        const page = await journal.pull(read, 500);
        await host.sync.apply(page.records, null, false);
        read = page.next;
      }
    };
    await follow();
    const random = createRandom(SEED);
    const file = join(home, 'backups', 'mutated.zip');
    let restored = 0;
    for (let round = 0; round < ROUND_COUNT; round++) {
      const bytes = await mutateBackup(random, good, entries);
      writeFileSync(file, bytes);
      const what = `round ${round} of seed ${SEED}`;
      const before = journal.head;
      const restore = (dryRun: boolean) =>
        bridge.call(backupPort, 'backup.restore', { name: basename(file), replace: false, dryRun }).catch((error: unknown) => error);
      const preview = await restore(true);
      expect(journal.head, what).toBe(before);
      const outcome = await restore(false);
      if (outcome instanceof Error) {
        expect(outcome, what).toBeInstanceOf(RpcError);
        expect((outcome as RpcError).code, `${what}: ${outcome.message}`).toBe('INVALID_PARAMS');
        expect(outcome.message, what).toMatch(/^Couldn’t use mutated\.zip: [^\n]{5,400}$/);
        expect(preview, what).toMatchObject({ message: outcome.message });
        expect(journal.head, what).toBe(before);
        continue;
      }
      restored++;
      expect(outcome, what).toMatchObject({ changes: (preview as { changes: object }).changes });
      expect(await restore(true), `${what}: there is nothing left to do`).toMatchObject({ restored: false });
      expect((await restore(false)) as { restored: boolean }, what).toMatchObject({ restored: false });
      await follow();
      expect(faults, what).toEqual([]);
    }
    expect(restored).toBeGreaterThan(ROUND_COUNT / 20);
    expect(Object.keys(Object.prototype)).toEqual([]);
    for (const { key } of await host.vault.sessions.list()) expect(key).toMatch(/^[\w-]+\/[\w-]+$/);
  },
  120_000,
);
