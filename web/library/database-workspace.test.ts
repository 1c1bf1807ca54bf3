import 'fake-indexeddb/auto';
import { forceCloseDatabase } from 'fake-indexeddb';
import { deleteDB, openDB } from 'idb';
import { afterEach, expect, vi } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { databaseWorkspace } from './database-workspace.ts';
import { migrations } from './workspace-schema.ts';

afterEach(() => void vi.restoreAllMocks());

let databases = 0;
const createName = (): string => `notes-${++databases}`;

/** The workspace in another tab: with its own modules and connection. */
async function openInOtherTab(name: string) {
  vi.resetModules();
  return (await import('./database-workspace.ts')).databaseWorkspace(name);
}

const readParts = async (name: string): Promise<string[]> => {
  const db = await openDB(name);
  const parts: string[] = await db.getAll('texts');
  db.close();
  return parts;
};

verifies('memory.browser/workspace', 'what is added joins the last part while that is short, and is read as one', async () => {
  const name = createName();
  const at = databaseWorkspace(name);
  await at.write('dialog/2026-11-22.jsonl', `${'x'.repeat(100_000)}\n`);
  for (const line of ['ä\n', 'b\n', `${'y'.repeat(65_000)}\n`, `${'z'.repeat(600)}\n`]) await at.append('dialog/2026-11-22.jsonl', line);
  expect((await readParts(name)).map(({ length }) => length)).toEqual([100_001, 65_005, 601]);
  const text = `${'x'.repeat(100_000)}\nä\nb\n${'y'.repeat(65_000)}\n${'z'.repeat(600)}\n`;
  expect(await at.read('dialog/2026-11-22.jsonl')).toBe(text);
  expect((await at.stat('dialog/2026-11-22.jsonl'))?.size).toBe(new TextEncoder().encode(text).length);
  await at.write('dialog/2026-11-22.jsonl', 'short');
  expect(await readParts(name)).toEqual(['short']);
  await at.append('dialog/2026-11-22.jsonl', ' \ud800');
  expect(await at.read('dialog/2026-11-22.jsonl')).toBe('short \ufffd');
  await at.remove('dialog/2026-11-22.jsonl');
  expect(await readParts(name)).toEqual([]);
});

verifies('memory.browser/workspace', 'versions of a file differ in time while the clock stands; a folder has what is in it', async () => {
  const at = databaseWorkspace(createName());
  vi.spyOn(Date, 'now').mockReturnValue(1000);
  const times = [];
  for (const work of [at.write, at.append, at.write]) {
    await work('memory/a.md', 'x');
    times.push((await at.stat('memory/a.md'))?.modifiedAt);
  }
  expect(times).toEqual([1000, 1001, 1002]);
  for (const path of ['memory.md', 'memory0.md', 'memory-a/b.md', 'memory/b/c.md']) await at.write(path, 'x');
  expect((await at.list('memory')).map(({ path }) => path)).toEqual(['memory/a.md', 'memory/b/c.md']);
});

verifies('memory.browser/workspace', 'looking and listing read no text', async () => {
  const at = databaseWorkspace(createName());
  await at.write('MEMORY.md', 'x');
  const get = vi.spyOn(IDBObjectStore.prototype, 'getAll');
  await at.list();
  await at.stat('MEMORY.md');
  expect(get.mock.contexts.map((store) => (store instanceof IDBObjectStore ? store.name : ''))).toEqual(['files']);
});

verifies('memory.browser/workspace', 'each change is forced onto the disk, in one transaction', async () => {
  const at = databaseWorkspace(createName());
  await at.write('a.md', 'A');
  const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
  await at.write('a.md', 'B');
  await at.append('a.md', 'C');
  await at.update('a.md', (text) => `${text}D`);
  await at.remove('a.md');
  expect(begun.mock.calls).toEqual(Array(4).fill([['files', 'texts'], 'readwrite', { durability: 'strict' }]));
});

verifies('memory.browser/workspace', 'invalid paths are refused, and hidden names are listed on request', async () => {
  const name = createName();
  const [at, dreams] = [databaseWorkspace(`${name}/`), databaseWorkspace(name, { hidden: ['.dreams'] })];
  for (const path of ['../x', 'a/../../x', '/etc/passwd', '', 'a//b', '.dreams/x', 'a\\b', 'C:x', 'a\0b', './a', '..']) {
    await expect(at.write(path, 'x'), path).rejects.toThrow('Invalid workspace path');
    await expect(at.read(path), path).rejects.toThrow('Invalid workspace path');
  }
  await expect(at.list('../x')).rejects.toThrow('Invalid workspace path');
  await dreams.write('.dreams/signals.jsonl', '{}\n');
  await at.write('a.md', 'A');
  expect((await at.list()).map(({ path }) => path)).toEqual(['a.md']);
  expect((await dreams.list()).map(({ path }) => path)).toEqual(['.dreams/signals.jsonl', 'a.md']);
  for (const none of ['', '/', ' ']) expect(() => databaseWorkspace(none), none).toThrow('must not be empty');
});

verifies('memory.browser/workspace', 'without room nothing is stored, and that is said', async () => {
  const at = databaseWorkspace(createName());
  await at.write('MEMORY.md', 'before\n');
  const full = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('Full', 'QuotaExceededError');
  });
  for (const work of [() => at.write('MEMORY.md', 'x'), () => at.append('MEMORY.md', 'x'), () => at.update('MEMORY.md', () => 'x')])
    await expect(work()).rejects.toThrow('Couldn’t write MEMORY.md: The browser is out of storage. Nothing was saved.');
  full.mockRestore();
  expect(await at.read('MEMORY.md')).toBe('before\n');
  expect((await at.stat('MEMORY.md'))?.size).toBe(7);
});

verifies('memory.browser/workspace', 'who changes their mind in a change gets their own error back', async () => {
  const at = databaseWorkspace(createName());
  await at.write('MEMORY.md', 'before\n');
  const reason = new RangeError('Not this');
  await expect(
    at.update('MEMORY.md', () => {
      throw reason;
    }),
  ).rejects.toBe(reason);
  expect(await at.read('MEMORY.md')).toBe('before\n');
});

verifies('memory.browser/tabs', 'two tabs that change one file at once lose nothing', async () => {
  const name = createName();
  const tabs = [databaseWorkspace(name), await openInOtherTab(name)];
  const lines = tabs.flatMap((tab, which) =>
    Array.from({ length: 20 }, async (_, nth) => {
      await tab.update('MEMORY.md', (text = '') => `${text}${which}-${nth}\n`);
      await tab.append('dialog/2026-11-22.jsonl', `${which}-${nth}\n`);
    }),
  );
  await Promise.all(lines);
  for (const path of ['MEMORY.md', 'dialog/2026-11-22.jsonl'])
    expect(new Set((await tabs[0]?.read(path))?.trim().split('\n')).size, path).toBe(40);
});

verifies(
  'memory.browser/tabs',
  'a database that is deleted or closed under it is opened again; a newer build’s and another program’s are left alone',
  async () => {
    const name = createName();
    const at = databaseWorkspace(name);
    await at.write('MEMORY.md', 'x');
    await deleteDB(name);
    expect(await at.list()).toEqual([]);
    await at.write('MEMORY.md', 'y');

    const opened: IDBDatabase[] = [];
    const open = indexedDB.open.bind(indexedDB);
    vi.spyOn(indexedDB, 'open').mockImplementation((...args) => {
      const request = open(...args);
      request.addEventListener('success', () => opened.push(request.result));
      return request;
    });
    const other = await openInOtherTab(name);
    expect(await other.read('MEMORY.md')).toBe('y');
    forceCloseDatabase(opened[0] as unknown as typeof IDBDatabase);
    expect(await other.read('MEMORY.md')).toBe('y');

    // The newer build upgrades at once: both give way.
    const newer = await openDB(name, 2);
    await expect(at.write('MEMORY.md', 'z')).rejects.toThrow(/^Couldn’t write MEMORY\.md: .*newer build of Perch/);
    await expect(other.read('MEMORY.md')).rejects.toThrow(/^Couldn’t read MEMORY\.md: .*Reload to update/);
    expect(await newer.getAll('texts')).toEqual(['y']);
    newer.close();

    const foreign = createName();
    (await openDB(foreign, 1, { upgrade: (db) => void db.createObjectStore('theirs') })).close();
    await expect(databaseWorkspace(foreign).write('MEMORY.md', 'x')).rejects.toThrow('belongs to another program. Choose another name.');
    expect([...(await openDB(foreign)).objectStoreNames]).toEqual(['theirs']);
  },
);

verifies('memory.browser/tabs', 'a build that waits for an older one says so, and goes on when that closes', async () => {
  const name = createName();
  await databaseWorkspace(name).write('MEMORY.md', 'x');
  const older = await openDB(name, 1);
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => older.close());
  vi.resetModules();
  vi.doMock('./workspace-schema.ts', () => ({ migrations: [...migrations, () => {}] }));
  const newer = (await import('./database-workspace.ts')).databaseWorkspace(name);
  vi.doUnmock('./workspace-schema.ts');
  expect(await newer.read('MEMORY.md')).toBe('x');
  expect(warned.mock.calls).toEqual([[expect.stringContaining(`"${name}" is open in an older version of Perch in another tab`)]]);
});

verifies('memory.browser/workspace', 'reports that IndexedDB is missing', async () => {
  vi.stubGlobal('indexedDB', undefined);
  await expect(databaseWorkspace(createName()).read('MEMORY.md')).rejects.toThrow(
    'Couldn’t read MEMORY.md: IndexedDB is not available here',
  );
  vi.unstubAllGlobals();
});
