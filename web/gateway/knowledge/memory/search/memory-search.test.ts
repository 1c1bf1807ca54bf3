import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { MemorySearch } from './memory-search.ts';
import type { Passage } from './passage.ts';

const NOW = Date.UTC(2024, 11, 20);
const DAY = 86_400_000;

/** A search over independent texts; `of` returns the texts that match a query. */
function over(texts: readonly string[], more: (text: string, at: number) => Partial<Passage> = () => ({})) {
  const search = new MemorySearch();
  texts.forEach((text, at) =>
    search.add({ id: String(at), thread: String(at), text, at: NOW - (texts.length - at) * DAY, ...more(text, at) }),
  );
  const find = (query: string, limit = 10) => search.search(query, { limit, now: NOW });
  return { search, find, of: (query: string): string[] => find(query).map(({ passage }) => passage.text) };
}

const FILLER = ['The weather is fine today', 'We had soup', 'A train went by', 'Nobody came', 'It was late', 'The lamp is off'];

describe('MemorySearch', () => {
  verifies('memory.search/words', 'it finds words in whatever form', () => {
    for (const [said, asked] of [
      ['She bought two armchairs', 'What did she buy?'],
      ['My favourite colour is teal', 'favorite color'],
      ['He went to Kraków', 'krakow'],
      ['The children were running', 'Did a child run?'],
      ['Wir haben die Wohnungen renoviert', 'Welche Wohnung?'],
      ['Nous avons acheté des chaussures', 'acheter chaussure'],
      ['今日は京都タワーへ行きました', '京都タワー'],
      ['我喜欢喝绿茶', '绿茶'],
      ['ผมชอบภาษาไทย', 'ภาษา'],
      ['Он купил красивые книги', 'красивая книга'],
    ] as const) {
      expect(over([...FILLER, said]).of(asked)[0], asked).toBe(said);
    }
  });

  verifies('memory.search/related', 'it finds other words for the same', () => {
    for (const [said, asked] of [
      ['They tied the knot in Leeds', 'Who got married?'],
      ['My sister lives in Oslo', 'siblings'],
      ['He plays the cello', 'Which instrument?'],
      ['She gave up smoking', 'quit'],
      ['We called it off', 'cancelled'],
    ] as const) {
      expect(over([...FILLER, said]).of(asked)[0], asked).toBe(said);
    }
    // The word itself scores higher than a related one.
    expect(over([...FILLER, 'A cat slept here', 'A pet slept here']).of('pet')[0]).toBe('A pet slept here');
  });

  verifies('memory.search/neighbours', 'it finds an answer by its question', () => {
    const talk = [
      'Did you ever find your bike?',
      'Yep, behind the church on Tuesday, all muddy.',
      'Lucky you!',
      'How is your mother?',
      'Much better.',
    ];
    const { of } = over([...FILLER, ...talk], (text) => (talk.includes(text) ? { thread: 'talk' } : {}));
    expect(of('Where was the bike?')[0]).toBe(talk[1]);
    // On its own it has no word of the query.
    expect(over([...FILLER, ...talk]).of('Where was the bike?')).not.toContain(talk[1]);
  });

  verifies('memory.search/times', 'it brings up what was said at a time, or speaks of it', () => {
    const trips = ['We took a trip to the lakes', 'We took a trip to the sea', 'We took a trip to the hills'];
    const at = [Date.UTC(2024, 2, 12), Date.UTC(2024, 5, 2), Date.UTC(2024, 8, 20)];
    const { of } = over(trips, (_, i) => ({ at: at[i] ?? 0 }));
    expect(of('Which trip did we take last March?')[0]).toBe(trips[0]);
    expect(of('Which trip did we take in early June?')[0]).toBe(trips[1]);
    const told = over(['My exam is on the 14th of August', 'My exam was terrible'], (text) => ({
      at: Date.UTC(2024, text.includes('14th') ? 6 : 10, 1),
    }));
    expect(told.of('What about the exam in mid August?')[0]).toBe('My exam is on the 14th of August');
  });

  verifies('memory.search/reasons', 'each result says what speaks for it', () => {
    const { find } = over([...FILLER, 'Where is the kayak?', 'In the barn, since June'], (text) =>
      /kayak|barn/.test(text) ? { thread: 'talk' } : {},
    );
    const [answer] = find('kayak in the barn in June');
    expect(answer).toMatchObject({
      passage: { text: 'In the barn, since June' },
      why: { words: ['barn', 'june'], beside: ['kayak'], timely: true },
    });
    expect(answer?.coverage).toBeGreaterThan(0.5);
    expect(find('kayak zebra quagga')[0]?.coverage).toBeLessThan(0.5);
  });

  verifies('memory.search/follows', 'it follows what is added, replaced and removed', () => {
    const { search, of } = over(FILLER);
    search.add({ id: 'x', thread: 'x', text: 'A green parrot', at: NOW });
    expect(of('parrot')).toEqual(['A green parrot']);
    search.add({ id: 'x', thread: 'x', text: 'A blue canoe', at: NOW });
    expect(of('parrot')).toEqual([]);
    expect(of('canoe')).toEqual(['A blue canoe']);
    expect([search.remove('x'), search.remove('x')]).toEqual([true, false]);
    expect(of('canoe')).toEqual([]);
    expect(search.size).toBe(FILLER.length);
  });

  verifies('memory.search/any-text', 'it takes any text and any query', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('__proto__', 'constructor', '@user', '#number', 'the', 'Who are you?', '…'),
    );
    fc.assert(
      fc.property(
        fc.array(fc.record({ text, thread: fc.constantFrom('a', 'b'), speaker: fc.option(text, { nil: undefined }) }), { maxLength: 20 }),
        text,
        (all, query) => {
          const search = new MemorySearch();
          all.forEach((each, at) => search.add({ ...each, id: String(at), at: at % 2 ? NOW - at * DAY : null }));
          const found = search.search(query, { limit: 50, now: NOW });
          expect(new Set(found.map(({ passage }) => passage.id)).size).toBe(found.length);
          for (const [at, { score, coverage }] of found.entries()) {
            expect(score).toBeGreaterThan(0);
            expect(score).toBeLessThanOrEqual(found[at - 1]?.score ?? Infinity);
            expect(coverage).toBeGreaterThanOrEqual(0);
            expect(coverage).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
