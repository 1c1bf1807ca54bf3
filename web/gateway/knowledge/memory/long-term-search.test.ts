import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { toMemoryId } from './index/index-entry.ts';
import type { Memory } from './long-term-file.ts';
import { LongTermSearch } from './long-term-search.ts';

const memory = (text: string): Memory => ({ id: toMemoryId(text), text, category: 'fact', createdAt: 0 });
const many = (count: number): Memory[] =>
  Array.from({ length: count }, (_, nth) =>
    memory(`The boat number ${nth} lies at the pier of harbour ${nth % 50}, and its sails are dry`),
  );
const now = Date.UTC(2026, 10, 22);
const found = (search: LongTermSearch, query: string): string[] =>
  search.search(query, { limit: 5, now }).map(({ memory: { text } }) => text);

describe('RememberedSearch', () => {
  verifies('recall/keeps-up', 'what is added, changed and forgotten', async () => {
    const search = new LongTermSearch();
    expect(found(search, 'kayak')).toEqual([]);
    const [kayak, tent] = [memory('The kayak is in the barn'), memory('The tent is in the attic')];
    await search.update([kayak, tent]);
    expect(found(search, 'kayak')).toEqual([kayak.text]);
    const sold = memory('The kayak is sold');
    await Promise.all([search.update([tent]), search.update([tent, sold])]);
    expect(found(search, 'kayak')).toEqual([sold.text]);
    expect([search.get(kayak.id), search.get(tent.id)]).toEqual([undefined, tent]);
    await search.update([]);
    expect(found(search, 'tent')).toEqual([]);
  });

  verifies('recall/unchanged', 'a list that is the same is not gone through again, however long', async () => {
    let reads = 0;
    const list = new Proxy(many(100), {
      get(target, key, receiver) {
        reads++;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    const search = new LongTermSearch();
    await search.update(list);
    const first = reads;
    expect(first).toBeGreaterThan(100);
    for (let again = 0; again < 3; again++) {
      await search.update(list);
      expect(found(search, 'boat number 42')).toHaveLength(5);
    }
    expect(reads).toBe(first);
  });

  verifies('recall/slices', 'others have their turn while many are taken over', async () => {
    const search = new LongTermSearch();
    let turns = 0;
    let over = false;
    const following = search.update(many(3000)).then(() => (over = true));
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    await following;
    expect(turns).toBeGreaterThan(10);
    expect(found(search, 'boat number 2999')[0]).toContain('number 2999');
  });
});
