import 'fake-indexeddb/auto';
import { expect, vi } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import type { IndexEntry } from '../gateway/knowledge/memory/index/index-entry.ts';
import type { IndexedFile } from '../gateway/knowledge/memory/index/index-store.ts';
import { DatabaseIndex } from './database-index.ts';
import { databaseWorkspace } from './database-workspace.ts';
import { MemoryManager } from './memory.ts';

const createFile = (path: string): IndexedFile => ({ path, size: 1, modifiedAt: 1, hash: null, lines: 1, isCut: false, broken: 0 });
const createPassage = (path: string, line: number, id = `${path}#${line}`, text = id): IndexEntry => ({
  ...{ id, kind: 'day', thread: path, text, category: null, path, line, end: line, at: 1, speaker: null, key: null },
});
const NO_CHANGES = { removed: [], written: [] };

verifies('memory.browser/index', 'passages are given in their order, and what another tab wrote is put right', async () => {
  const index = new DatabaseIndex('index-rows');
  const [day, other] = ['memory/2026-11-22.md', 'memory/2026-11-2.md'];
  const entries = [createPassage(day, 2), ...[1, 2, 10].map((nth) => createPassage(day, 2, `${day}#2.${nth}`)), createPassage(day, 10)];
  await index.put(createFile(day), entries, { removed: [], written: entries });
  await index.put(createFile(other), [createPassage(other, 1)], { removed: [], written: [createPassage(other, 1)] });
  expect(await index.entries(day)).toEqual(entries);
  expect((await index.files()).map(({ path }) => path)).toEqual([other, day]);

  const fewer = entries.slice(0, 2).map((entry) => ({ ...entry, text: 'changed' }));
  await index.put({ ...createFile(day), size: 2 }, fewer, { removed: entries.slice(2).map(({ id }) => id), written: fewer });
  expect(await index.entries(day)).toEqual(fewer);
  const replaced = [fewer[0] ?? expect.fail(), createPassage(day, 3)];
  const puts = vi.spyOn(IDBObjectStore.prototype, 'put');
  await index.put(createFile(day), replaced, { removed: [fewer[1]?.id ?? ''], written: replaced.slice(1) });
  // Unchanged files are not written again.
  expect(puts).toHaveBeenCalledTimes(2);
  puts.mockRestore();
  expect(await index.entries(day)).toEqual(replaced);
  // Another tab, which has read none of that, has it right all the same; and then the first, which does not know of it.
  const tab = new DatabaseIndex('index-rows');
  await tab.put(createFile(day), entries.slice(0, 1), NO_CHANGES);
  expect(await index.entries(day)).toEqual(entries.slice(0, 1));
  await index.put(createFile(day), [...replaced, createPassage(day, 4)], { removed: [], written: [createPassage(day, 4)] });
  expect(await tab.entries(day)).toEqual([...replaced, createPassage(day, 4)]);
  // A second tab writes only the changes.
  await tab.files();
  const again = vi.spyOn(IDBObjectStore.prototype, 'put');
  await tab.put(createFile(day), [...replaced, createPassage(day, 4), createPassage(day, 5)], {
    removed: [],
    written: [createPassage(day, 5)],
  });
  expect(again).toHaveBeenCalledTimes(2);
  again.mockRestore();
  expect(await index.entries(day)).toEqual([...replaced, createPassage(day, 4), createPassage(day, 5)]);
  await index.remove(day);
  expect([await index.entries(day), (await index.files()).map(({ path }) => path)]).toEqual([[], [other]]);
  expect(await index.entries(other)).toHaveLength(1);
});

verifies('memory.browser/index', 'bytes are kept beside them, in place of those before', async () => {
  const index = new DatabaseIndex('index-bytes');
  expect(await index.snapshot()).toBeUndefined();
  await index.putSnapshot(new Uint8Array([1, 2]));
  await index.putSnapshot(new Uint8Array([3]));
  expect(await new DatabaseIndex('index-bytes').snapshot()).toEqual(new Uint8Array([3]));
  expect(await index.files()).toEqual([]);
});

verifies('memory.browser/index', 'a start reads only files that have changed', async () => {
  const name = 'index-start';
  const workspace = databaseWorkspace(name);
  {
    await using memory = await new MemoryManager(name).open();
    await memory.addMemory('Ana has a cat called Miso');
    await memory.persistDialog([{ role: 'user', content: 'The kayak is in the barn', id: '1', timestamp: Date.now() }], 'main');
    expect(await memory.searchMemory('cats')).toHaveLength(1);
  }
  expect((await workspace.list()).map(({ path }) => path.split('/')[0])).toEqual(['MEMORY.md', 'dialog']);
  // A text that was deleted in the meantime is not needed: it was read before.
  const { indexedDB: databases } = globalThis;
  await new Promise<void>((resolve, reject) => {
    const request = databases.open(name);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const tx = request.result.transaction('texts', 'readwrite');
      tx.objectStore('texts').clear();
      tx.oncomplete = () => resolve(request.result.close());
    };
  });
  await using again = await new MemoryManager(name).open();
  expect((await again.searchMemory('Where is the kayak?'))[0]?.text).toBe('The kayak is in the barn');
  expect((await again.searchMemory('cats'))[0]?.text).toBe('Ana has a cat called Miso');
});
