import { expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { MemoryIndex } from './memory-index.ts';
import { MemorySearch } from './memory-search.ts';
import type { RankedPassage } from './rank.ts';
import { rerank } from './rerank.ts';
import { FEATURES } from './features.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 5);

/** Says each line in a conversation of its own, a month after the other, after as many lines about nothing. */
function remember(lines: readonly (readonly [speaker: string, text: string])[]): MemorySearch {
  const search = new MemorySearch();
  for (const [nth, [speaker, text]] of lines.entries()) {
    const at = START + nth * 30 * DAY;
    search.add({ id: `small talk ${nth}`, thread: `${nth}`, text: 'The weather could be better, do you not think so?', speaker: 'Bo', at });
    search.add({ id: text, thread: `${nth}`, text, speaker, at });
  }
  return search;
}

const findFirst = (search: MemorySearch, query: string): string | undefined =>
  search.search(query, { now: START + 400 * DAY }).map(({ passage }) => passage.text)[0];

verifies('memory.search/rank', 'the person asked about comes before others who say the same', () => {
  const search = remember([
    ['Bo', 'I play the violin in the evenings'],
    ['Ada', 'On Mondays I play the violin'],
    ['Bo', 'Ada told me about a violin'],
  ]);
  expect(findFirst(search, 'What does Ada play?')).toBe('On Mondays I play the violin');
  expect(findFirst(search, 'What does Bo play?')).toBe('I play the violin in the evenings');
});

verifies('memory.search/rank', 'a question about the present finds what was said last', () => {
  const search = remember([
    ['Ada', 'My dentist is Dr Farrell these years'],
    ['Ada', 'My dentist is Dr Kovacs since the move'],
  ]);
  expect(findFirst(search, 'Who is the dentist of Ada now?')).toBe('My dentist is Dr Kovacs since the move');
});

verifies('memory.search/rank', 'a question about what is refused finds a denial', () => {
  const search = remember([
    ['Ada', 'I do not eat any liver on principle'],
    ['Ada', 'We eat olives with everything on Sundays'],
    ['Ada', 'We eat figs with everything in summer'],
  ]);
  expect(findFirst(search, 'What does Ada not eat?')).toBe('I do not eat any liver on principle');
});

verifies('memory.search/rank', 'a passage next to a better one is put back, more so in lists, and scores stay in order', () => {
  const index = new MemoryIndex();
  for (let nth = 0; nth < 6; nth++) index.add({ id: `${nth}`, thread: nth < 3 ? 'first' : 'second', text: `passage ${nth}`, at: null });
  const ranked = [1, 2, 4].map((number, rank): RankedPassage => ({
    number,
    score: 9 - rank,
    coverage: 1,
    own: [],
    beside: [],
    timely: 0,
    thread: 0,
  }));
  const order = (difference: number, isList: boolean): number[] => {
    const features = [2, 2 - difference / 4, 2 - difference].map((own) =>
      Float64Array.from(FEATURES, (name) => (name === 'own' ? own : 0)),
    );
    const found = rerank(index, ranked, { features, isList, limit: 3 });
    expect(found.map(({ score }) => score)).toEqual([9, 8, 7]);
    return found.map(({ number }) => number);
  };
  expect(order(0.1, false)).toEqual([1, 4, 2]);
  expect(order(0.4, false)).toEqual([1, 2, 4]);
  expect(order(0.4, true)).toEqual([1, 4, 2]);
});
