import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { combineScores } from './combine-scores.ts';
import { quantizeVector, VectorRows } from './vector-rows.ts';
import { type Embedder, createMemoryVectorStore, PassageVectors } from './passage-vectors.ts';

const never = new AbortController().signal;
const DIMENSIONS = 96;

/** Returns the same vector for the same seed. */
function seeded(seed: number): number[] {
  let state = seed * 2654435761 + 1;
  return Array.from({ length: DIMENSIONS }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** A fake embedder: texts that share their first word are similar. */
function standIn({ fails = () => false }: { fails?: () => boolean } = {}) {
  const asked: string[] = [];
  const embedder: Embedder = {
    model: 'test/alike',
    embed: (texts) => {
      if (fails()) return Promise.reject(new Error('The server is gone'));
      asked.push(...texts);
      return Promise.resolve(
        texts.map((text) => {
          const [first = '', ...rest] = text.split(' ');
          const [kind, own] = [seeded(first.length), seeded(rest.join().length + 100)];
          return kind.map((value, at) => value + (own[at] ?? 0) * 0.3);
        }),
      );
    },
  };
  return { asked, embedder };
}

verifies('memory.vectors/alike', 'the most alike come first, as exact vectors have it', () => {
  const vector = fc
    .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 8, maxLength: 8 })
    .filter((all) => all.some((each) => Math.abs(each) > 0.01));
  fc.assert(
    fc.property(fc.array(vector, { minLength: 1, maxLength: 40 }), vector, (all, asked) => {
      const rows = new VectorRows();
      const kept = quantizeVector(asked);
      if (!kept) return;
      const exact = new Map<string, number>();
      for (const [at, each] of all.entries()) {
        const row = quantizeVector(each);
        if (!row) continue;
        rows.set(`v${at}`, row);
        const dot = each.reduce((sum, value, index) => sum + value * (asked[index] ?? 0), 0);
        exact.set(`v${at}`, dot / (Math.hypot(...each) * Math.hypot(...asked)));
      }
      const found = rows.search(kept, 100);
      expect(found).toHaveLength(exact.size);
      for (const { id, alike } of found) expect(Math.abs(alike - (exact.get(id) ?? 9))).toBeLessThan(0.05);
      expect(found.map(({ alike }) => alike)).toEqual(found.map(({ alike }) => alike).toSorted((a, b) => b - a));
    }),
  );
});

verifies('memory.vectors/alike', 'rows are taken out, changed and used again; another length, and no direction, are refused', () => {
  const rows = new VectorRows();
  const kept = (seed: number) => quantizeVector(seeded(seed)) ?? new Int8Array();
  for (let at = 0; at < 1000; at++) rows.set(`v${at}`, kept(at));
  expect(rows.search(kept(7), 1)).toMatchObject([{ id: 'v7' }]);
  rows.remove('v7');
  rows.remove('v7');
  expect(rows.search(kept(7), 3).map(({ id }) => id)).not.toContain('v7');
  rows.set('new', kept(7));
  rows.set('v8', kept(9));
  expect(rows.search(kept(7), 1)).toMatchObject([{ id: 'new' }]);
  expect(
    rows
      .search(kept(9), 2)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(['v8', 'v9']);
  expect(rows.size).toBe(1000);
  expect(rows.set('short', Int8Array.from([1, 2]))).toBe(false);
  expect([rows.size, rows.search(Int8Array.from([1, 2]), 3)]).toEqual([1000, []]);
  expect([quantizeVector([0, 0]), quantizeVector([NaN, 1]), quantizeVector([Infinity, 1]), quantizeVector([])]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  rows.clear();
  expect(rows.set('short', Int8Array.from([1, 2]))).toBe(true);
});

verifies('memory.vectors/once', 'no text is asked for twice, also after a restart; what is gone is forgotten', async () => {
  const { asked, embedder } = standIn();
  const store = createMemoryVectorStore();
  const deps = { embedder, store, warn: () => {}, now: () => 0 };
  const vectors = new PassageVectors(deps);
  let texts = [
    { id: '1', text: 'boat in the barn' },
    { id: '2', text: 'violin on the wall here' },
    { id: '3', text: 'boat in  the barn' },
    { id: '4', text: ' ' },
  ];
  await vectors.follow(() => texts, never);
  expect(asked).toEqual(['boat in  the barn', 'violin on the wall here']);
  expect(vectors.size).toBe(3);
  expect((await vectors.search('boat somewhere', 2, never)).map(({ id }) => id).sort()).toEqual(['1', '3']);
  texts = [{ id: '2', text: 'violin, sold' }];
  await vectors.follow(() => texts, never);
  expect([vectors.size, asked.length]).toEqual([1, 4]);
  const again = new PassageVectors(deps);
  await again.follow(() => texts, never);
  expect([again.size, asked.length]).toEqual([1, 4]);
});

verifies('memory.vectors/fails', 'text alone is searched while the model rests, longer each time; then it is asked again', async () => {
  let [fails, now] = [true, 0];
  const { embedder } = standIn({ fails: () => fails });
  const said: string[] = [];
  const vectors = new PassageVectors({ embedder, store: createMemoryVectorStore(), warn: (message) => said.push(message), now: () => now });
  const texts = [{ id: '1', text: 'boat in the barn' }];
  await vectors.follow(() => texts, never);
  await vectors.follow(() => texts, never);
  expect(said).toEqual(['Memory search uses words only for 10 s: The server is gone']);
  now = 10_000;
  await vectors.follow(() => texts, never);
  expect(said).toHaveLength(2);
  expect(said[1]).toContain('for 20 s');
  [fails, now] = [false, 30_000];
  await vectors.follow(() => texts, never);
  expect(await vectors.search('boat', 1, never)).toMatchObject([{ id: '1' }]);
  fails = true;
  expect(await vectors.search('boat', 1, never)).toEqual([]);
  expect(said[2]).toContain('for 10 s');
  const stopped = AbortSignal.abort(new Error('closed'));
  now = 100_000;
  await vectors.follow(() => [{ id: '9', text: 'more' }], stopped);
  expect(said).toHaveLength(3);
});

verifies('memory.vectors/combined', 'seven tenths by vectors, three by words, within 0 and 1; what only one has is there too', () => {
  const found = combineScores(
    [
      { id: 'words', score: 8 },
      { id: 'both', score: 4 },
    ],
    [
      { id: 'both', alike: 0.9 },
      { id: 'meaning', alike: 0.8 },
      { id: 'far', alike: 0.7 },
    ],
  );
  expect(found.map(({ id }) => id)).toEqual(['both', 'meaning', 'words', 'far']);
  expect(found[0]?.score).toBeCloseTo(0.85);
  expect(combineScores([], [])).toEqual([]);
  const score = fc.double({ min: -1, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(score), fc.array(score), (scores, alikes) => {
      const all = combineScores(
        scores.map((each, at) => ({ id: `${at}`, score: Math.abs(each) })),
        alikes.map((alike, at) => ({ id: `${at * 2}`, alike })),
      );
      for (const each of all) expect(each.score >= 0 && each.score <= 1.0000001).toBe(true);
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    }),
  );
});
