import { describe, expect, vi } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { MemoryIndexStore } from '../../../../tests/support/memory-index-store.ts';
import { toMemoryId } from './index/index-entry.ts';
import type { Memory } from './long-term-file.ts';
import { LongTermSearch, type MemoryList } from './long-term-search.ts';

const memory = (text: string): Memory => ({ id: toMemoryId(text), text, category: 'fact', createdAt: 0 });
const many = (count: number): Memory[] =>
  Array.from({ length: count }, (_, nth) =>
    memory(`The boat number ${nth} lies at the pier of harbour ${nth % 50}, and its sails are dry`),
  );
let versions = 0;
const toList = (memories: readonly Memory[]): MemoryList => {
  const version = `${++versions}`;
  return { getVersion: () => Promise.resolve(version), memories: () => Promise.resolve(memories) };
};
const now = Date.UTC(2026, 10, 22);
const found = (search: LongTermSearch, query: string): string[] =>
  search.search(query, { limit: 5, now }).map(({ memory: { text } }) => text);

describe('RememberedSearch', () => {
  verifies('recall/keeps-up', 'what is added, changed and forgotten', async () => {
    const search = new LongTermSearch();
    expect(found(search, 'kayak')).toEqual([]);
    const [kayak, tent] = [memory('The kayak is in the barn'), memory('The tent is in the attic')];
    await search.update(toList([kayak, tent]));
    expect(found(search, 'kayak')).toEqual([kayak.text]);
    const sold = memory('The kayak is sold');
    await Promise.all([search.update(toList([tent])), search.update(toList([tent, sold]))]);
    expect(found(search, 'kayak')).toEqual([sold.text]);
    expect([search.get(kayak.id), search.get(tent.id)]).toEqual([undefined, tent]);
    await search.update(toList([]));
    expect(found(search, 'tent')).toEqual([]);
  });

  verifies('recall/unchanged', 'a list that is the same is not read again, however long', async () => {
    const memories = vi.fn(() => Promise.resolve(many(100)));
    const search = new LongTermSearch();
    for (let again = 0; again < 3; again++) {
      await search.update({ getVersion: () => Promise.resolve('1'), memories });
      expect(found(search, 'boat number 42')).toHaveLength(5);
    }
    expect(memories).toHaveBeenCalledTimes(1);
  });

  verifies('recall/keeps-up', 'another date, category or spelling of the same memory', async () => {
    const search = new LongTermSearch();
    const kayak = memory('The kayak is in the barn');
    await search.update(toList([kayak]));
    expect(found(search, 'kayak')).toEqual([kayak.text]);
    const changed: Memory = { ...kayak, text: 'The kayak  is in the barn', category: 'event', createdAt: 60_000 };
    await search.update(toList([changed]));
    expect(search.search('kayak', { limit: 5, now })[0]?.memory).toEqual(changed);
    expect(search.get(kayak.id)).toEqual(changed);
  });

  verifies('recall/keeps-up', 'a query is answered anew after a change, a day, or minutes', async () => {
    const search = new LongTermSearch();
    const kayak = { ...memory('The kayak was sold'), createdAt: now - 86_400_000 };
    await search.update(toList([kayak]));
    const isTimely = (query: string, at: number) => search.search(query, { limit: 5, now: at })[0]?.why.timely;
    expect(isTimely('Which kayak was sold yesterday?', now)).toBe(true);
    expect(isTimely('Which kayak was sold yesterday?', now + 4 * 86_400_000)).toBe(false);
    const first = search.search('kayak', { limit: 5, now });
    expect(search.search('kayak', { limit: 5, now: now + 1000 })).toBe(first);
    expect(search.search('kayak', { limit: 5, now: now + 600_000 })).not.toBe(first);
    await search.update(toList([]));
    expect(found(search, 'kayak')).toEqual([]);
  });

  verifies('recall/restart', 'the index of a long list lasts, and finds the same without reading the list', async () => {
    const store = new MemoryIndexStore();
    const all = many(700).map((each, nth): Memory => ({ ...each, category: nth % 2 ? 'event' : 'decision', createdAt: nth * 60_000 }));
    const memories = vi.fn(() => Promise.resolve(all));
    const list: MemoryList = { getVersion: () => Promise.resolve('one'), memories };
    const before = new LongTermSearch({ store });
    await before.update(list);
    await before.close();
    memories.mockClear();
    const after = new LongTermSearch({ store });
    await after.update(list);
    expect(memories).not.toHaveBeenCalled();
    for (const query of ['boat number 42', 'pier of harbour 7', 'dry sails', 'zebra'])
      expect(after.search(query, { limit: 30, now })).toEqual(before.search(query, { limit: 30, now }));
    expect(after.get(all[5]?.id ?? '')).toEqual(all[5]);
    // A changed list is compared with it.
    const kayak = memory('The kayak is in the barn');
    await after.update(toList([kayak, ...all.slice(1)]));
    expect(found(after, 'kayak')[0]).toBe(kayak.text);
    expect(after.get(all[0]?.id ?? '')).toBeUndefined();
    expect(after.get(all[1]?.id ?? '')).toEqual(all[1]);
  });

  verifies('recall/restart', 'a removed memory leaves the saved index, too', async () => {
    const store = new MemoryIndexStore();
    const secret = memory('The safe opens with xylophone');
    const search = new LongTermSearch({ store });
    await search.update(toList([secret, ...many(600)]));
    await vi.waitFor(() => expect(store.bytes).toBeDefined());
    const isSaved = (): boolean => Buffer.from(store.bytes ?? []).includes('xylophon');
    expect(isSaved()).toBe(true);
    await search.update(toList(many(600)));
    await vi.waitFor(() => expect(isSaved()).toBe(false));
    const restarted = new LongTermSearch({ store });
    await restarted.update(toList(many(600)));
    expect(found(restarted, 'xylophone')).toEqual([]);
  });

  verifies('recall/restart', 'a damaged or unreadable index is made again, and a few memories are not saved', async () => {
    const store = new MemoryIndexStore();
    store.bytes = new Uint8Array(100);
    const search = new LongTermSearch({ store });
    await search.update(toList([memory('The kayak is in the barn')]));
    expect(found(search, 'kayak')).toHaveLength(1);
    const broken = new LongTermSearch({
      store: { snapshot: () => Promise.reject(new Error('gone')), putSnapshot: () => Promise.reject(new Error('full')) },
    });
    await broken.update(toList(many(600)));
    await broken.close();
    expect(found(broken, 'boat number 42')).toHaveLength(5);
    const few = new MemoryIndexStore();
    const small = new LongTermSearch({ store: few });
    await small.update(toList(many(5)));
    await small.close();
    expect(few.bytes).toBeUndefined();
  });

  verifies('recall/slices', 'others have their turn while many are taken over', async () => {
    const search = new LongTermSearch();
    let turns = 0;
    let over = false;
    const following = search.update(toList(many(3000))).then(() => (over = true));
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    await following;
    expect(turns).toBeGreaterThan(10);
    expect(found(search, 'boat number 2999')[0]).toContain('number 2999');
  });
});
