import { WORD } from '../retrieval/scripts.ts';
import { tokenize } from '../retrieval/tokenize.ts';
import { type Pace, noPace } from './pace.ts';
import type { Theme } from './phase-report.ts';
import type { ShortTermSignal } from './signal.ts';

const MAX_SIGNALS = 500;
const MAX_TERMS = 200;
const MAX_THEMES = 5;
const MAX_THEME_TERMS = 5;

/** Themes of signals, found without a model: terms that occur together in more than one signal, most frequent first. */
export async function findThemes(
  signals: readonly ShortTermSignal[],
  toDay: (at: number) => string,
  pace: Pace = noPace,
): Promise<Theme[]> {
  const newest = [...signals].sort((a, b) => b.createdAt - a.createdAt).slice(0, MAX_SIGNALS);
  const terms: Set<string>[] = [];
  for (const { content } of newest) {
    terms.push(new Set(tokenize(content).filter((term) => term.length > 1 && !/^\p{N}+$/u.test(term))));
    await pace();
  }
  const counts = new Map<string, number>();
  for (const set of terms) for (const term of set) counts.set(term, (counts.get(term) ?? 0) + 1);
  const frequent = new Set(
    [...counts]
      .filter(([, count]) => count > 1)
      .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
      .slice(0, MAX_TERMS)
      .map(([term]) => term),
  );
  const pairs = new Map<string, { pair: [string, string]; count: number }>();
  for (const set of terms) {
    await pace();
    const own = [...set].filter((term) => frequent.has(term)).sort();
    own.forEach((signal, index) => {
      for (const other of own.slice(index + 1)) {
        const known = pairs.get(`${signal} ${other}`);
        if (known) known.count++;
        else pairs.set(`${signal} ${other}`, { pair: [signal, other], count: 1 });
      }
    });
  }
  const groups: Set<string>[] = [];
  for (const { pair } of [...pairs.values()].filter(({ count }) => count > 1).sort((a, b) => b.count - a.count)) {
    const group = groups.find((group) => pair.some((term) => group.has(term)));
    if (!group && groups.length < MAX_THEMES) groups.push(new Set(pair));
    else if (group && group.size < MAX_THEME_TERMS) for (const term of pair) group.add(term);
  }
  await pace();
  const spellings = await findSpellings(newest, frequent, pace);
  return groups.map((group) => {
    const matching = newest.filter((_, index) => [...group].filter((term) => terms[index]?.has(term)).length > 1).reverse();
    const ends = matching.length > 1 ? [matching[0], matching.at(-1)] : [matching[0]];
    return {
      terms: [...group].map((term) => spellings.get(term) ?? term),
      signals: matching.length,
      days: new Set(matching.flatMap(({ createdAt, recalls }) => [toDay(createdAt), ...recalls.map(({ day }) => day)])).size,
      recalls: matching.reduce((sum, { recallCount }) => sum + recallCount, 0),
      excerpts: ends.flatMap((signal) => (signal ? { content: signal.content, sourceRef: signal.sourceRef } : [])),
    };
  });
}

/** Terms are stems; this returns readable words for them. */
async function findSpellings(signals: readonly ShortTermSignal[], terms: ReadonlySet<string>, pace: Pace): Promise<Map<string, string>> {
  const spellings = new Map<string, string>();
  for (const { content } of signals) {
    await pace();
    for (const [word] of content.normalize('NFKC').matchAll(WORD)) {
      const [term = ''] = tokenize(word);
      const known = spellings.get(term);
      if (terms.has(term) && (known === undefined || word.length < known.length)) spellings.set(term, word);
    }
  }
  return spellings;
}
