import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import { fold } from './terms.ts';
import { ENGLISH } from './languages.ts';
import { ALIKE, KINDS, PHRASES } from './related-words.ts';

/** Closeness of synonyms, of a member to its category, and of a category to its members. */
const ALIKE_WEIGHT = 1;
const OF_KIND_WEIGHT = 0.8;
const KIND_WEIGHT = 0.4;
/** Words that may stand within an expression: "call it off". */
const FILLER_WORDS = new Set([
  'it',
  'him',
  'her',
  'them',
  'me',
  'us',
  'that',
  'this',
  'my',
  'his',
  'their',
  'our',
  'the',
  'a',
  'myself',
  'himself',
  'herself',
]);

/** Possessives that `my` matches in an idiom. */
const POSSESSIVES = new Set(['my', 'your', 'his', 'her', 'its', 'our', 'their']);

/** An expression of several words: `give_up` for "gave up". */
interface Expression {
  term: string;
  stems: readonly string[];
}

interface RelationTables {
  near: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Expressions by their first word. */
  expressions: ReadonlyMap<string, readonly Expression[]>;
}

const NONE: ReadonlyMap<string, number> = new Map();
let tables: RelationTables | undefined;

/** Cost of a line of the tables, in scanned characters: all together block for a tenth of a second. */
const LINE_COST = 500;

/** Builds the tables in slices. Otherwise the first query builds them in one piece. */
export async function prepareRelatedTerms(slicer: TimeSlicer): Promise<void> {
  const build = createTableBuilder();
  for (let step = build.next(); tables === undefined; step = build.next()) {
    if (step.done === true) tables = step.value;
    else await slicer.after(LINE_COST);
  }
}

function buildTables(): RelationTables {
  const build = createTableBuilder();
  for (;;) {
    const { done, value } = build.next();
    if (done === true) return value;
  }
}

/** English terms related to a stem or expression, with their closeness from 0 to 1. */
export const getRelatedTerms = (term: string): ReadonlyMap<string, number> => (tables ??= buildTables()).near.get(term) ?? NONE;

/** Finds expressions among the stems of an English text, with their position and number of words. */
export function findExpressions(stems: readonly string[]): { term: string; at: number; length: number }[] {
  const { expressions } = (tables ??= buildTables());
  return stems.flatMap((stem, index) => {
    for (const { term, stems: expected } of expressions.get(stem) ?? []) {
      const length = matchLength(expected, stems, index);
      if (length > 0) return [{ term, at: index, length }];
    }
    return [];
  });
}

/** Number of words that an expression takes at a position; 0 if it is not there. */
function matchLength(expected: readonly string[], stems: readonly string[], start: number): number {
  let position = start;
  for (const [i, each] of expected.entries()) {
    if (stems[position] !== each && i > 0 && FILLER_WORDS.has(stems[position] ?? '')) position++;
    const stem = stems[position++] ?? '';
    if (stem !== each && !(each === 'my' && POSSESSIVES.has(stem))) return 0;
  }
  return position - start;
}

const toStem = (word: string): string => fold(ENGLISH.stem(word));
const splitWords = (words: string): string[] => words.trim().split(/\s+/).filter(Boolean);
const splitLines = (text: string): string[] => text.trim().split('\n');

/** Yields after each line, and returns the tables. */
function* createTableBuilder(): Generator<undefined, RelationTables> {
  const near = new Map<string, Map<string, number>>();
  const expressions = new Map<string, Map<string, Expression>>();
  const relate = (from: string, to: string, weight: number): void => {
    if (from === to) return;
    let others = near.get(from);
    if (!others) near.set(from, (others = new Map()));
    others.set(to, Math.max(weight, others.get(to) ?? 0));
  };
  const expression = (words: readonly string[]): string => {
    const stems = words.map(toStem);
    const [first = ''] = stems;
    const term = stems.join('_');
    const alike = expressions.get(first) ?? new Map<string, Expression>();
    expressions.set(first, alike.set(term, { term, stems }));
    return term;
  };
  const toTerm = (word: string): string => (word.includes('_') ? expression(word.split('_')) : toStem(word));
  for (const line of splitLines(ALIKE)) {
    const all = [...new Set(splitWords(line).map(toTerm))];
    for (const from of all) for (const to of all) relate(from, to, ALIKE_WEIGHT);
    yield;
  }
  for (const line of splitLines(KINDS)) {
    const [name = '', members = ''] = line.split(':');
    for (const member of splitWords(members).map(toTerm)) {
      relate(toTerm(name), member, OF_KIND_WEIGHT);
      relate(member, toTerm(name), KIND_WEIGHT);
    }
    yield;
  }
  for (const line of splitLines(PHRASES)) {
    const [phrase = '', words = ''] = line.split('=');
    const term = expression(splitWords(phrase));
    for (const word of splitWords(words).map(toTerm)) {
      relate(term, word, ALIKE_WEIGHT);
      relate(word, term, ALIKE_WEIGHT);
    }
    yield;
  }
  // Longest first: "give up on" before "give up".
  const byLength = (alike: Map<string, Expression>): Expression[] => [...alike.values()].sort((a, b) => b.stems.length - a.stems.length);
  return { near, expressions: new Map([...expressions].map(([first, alike]) => [first, byLength(alike)])) };
}
