import { ENGLISH, type Language } from '../search/text/languages.ts';
import { getRelatedTerms } from '../search/text/related-terms.ts';
import type { AnalyzedSource } from './analyzed-source.ts';
import type { TextToken } from './analyzed-text.ts';
import { isSameDate, isSameNumber, type TextDate, type TextNumber } from './numbers.ts';
import { isSamePolarity, type Polarity } from './polarity.ts';
import type { TextSpan } from './sentences.ts';

type SourceSentence = AnalyzedSource['sentences'][number];
type SourceClause = SourceSentence['clauses'][number];

/** A clause of a reply, or some that only make sense together. */
export interface Claim extends TextSpan {
  tokens: readonly TextToken[];
  numbers: readonly TextNumber[];
  dates: readonly TextDate[];
  polarity: Polarity;
  isPassive: boolean;
  /** Has several clauses. */
  isCompound: boolean;
  language: Language | undefined;
}

/** The part of a source that supports a claim. */
export interface Support extends TextSpan {
  /** Share of the claim's words that it contains, from 0 to 1. */
  score: number;
  /** Only names what the source is about, such as "In the report of 2023". */
  isGeneral?: boolean;
}

export interface SupportRules {
  /** Minimum share of the claim's words. */
  minScore: number;
  /** Words that some source of the reply writes as a name. */
  names: ReadonlySet<string>;
  /** Whether the source is in another language than the reply. */
  isTranslated: boolean;
}

/** Maximum number of adjacent sentences that support a claim together. */
const MAX_WINDOW = 2;
/** Maximum number of adjacent words of a claim that a source lacks. */
const MAX_GAP = 2;
const NAME_WEIGHT = 2;
/** Weight of a word that the title or a heading contains: it tells what the source is about, not what it says. */
const CONTEXT_WEIGHT = 0.25;
const MIN_RELATION = 0.9;

/** Whether a part of a sentence says enough to be marked without the rest. */
export const canStandAlone = ({ tokens, numbers, dates }: Pick<Claim, 'tokens' | 'numbers' | 'dates'>): boolean => {
  const words = tokens.filter(({ isContent }) => isContent).length;
  return words >= 3 || (words >= 2 && numbers.length + dates.length > 0);
};

export const isSubstantial = ({ tokens, numbers, dates }: Pick<Claim, 'tokens' | 'numbers' | 'dates'>): boolean => {
  const words = tokens.filter(({ isContent }) => isContent).length;
  return words >= 2 || (words >= 1 && numbers.length + dates.length > 0);
};

/** Finds the part of a source that supports a claim; undefined if there is none. */
export function findSupport(claim: Claim, source: AnalyzedSource, rules: SupportRules): Support | undefined {
  if (rules.isTranslated) return findTranslation(claim, source, rules);
  if (!hasNames(claim, source, rules)) return undefined;
  let best: Support | undefined;
  let contradiction = 0;
  for (const window of listWindows(source)) {
    const found = scoreWindow(claim, window, source);
    if (found?.isContradicted) contradiction = Math.max(contradiction, found.score);
    // A longer window must be better by something.
    else if (found && found.score >= rules.minScore && found.score >= (best?.score ?? 0) + 0.01)
      best = { score: found.score, isGeneral: found.isGeneral, start: window[0]?.start ?? 0, end: window.at(-1)?.end ?? 0 };
  }
  return best && best.score >= contradiction ? best : undefined;
}

/** Adjacent sentences of a source, alone first. A row of a table stands alone. */
function* listWindows({ sentences, source: { text } }: AnalyzedSource): Generator<SourceSentence[]> {
  const isRow = ({ start, end }: SourceSentence): boolean => /[|\t]/.test(text.slice(start, end));
  for (let count = 1; count <= MAX_WINDOW; count++) {
    for (let from = 0; from + count <= sentences.length; from++) {
      const window = sentences.slice(from, from + count);
      if (count === 1 || !window.some(isRow)) yield window;
    }
  }
}

/** Whether the source contains every name of the claim. */
function hasNames({ tokens }: Claim, { words }: AnalyzedSource, { names }: SupportRules): boolean {
  return tokens.every(
    ({ name, folded, term }) =>
      name === undefined ||
      (name === 'maybe' && !names.has(folded)) ||
      words.has(folded) ||
      words.has(term) ||
      words.has(folded.replace(/s$/, '')),
  );
}

interface WindowScore {
  score: number;
  isContradicted: boolean;
  isGeneral: boolean;
}

/**
 * Share of the claim's words in some sentences of a source, and whether these say the opposite. Undefined if they are about something else.
 */
function scoreWindow(claim: Claim, window: readonly SourceSentence[], source: AnalyzedSource): WindowScore | undefined {
  const clauses = window.flatMap((sentence) => sentence.clauses);
  const numbers = clauses.flatMap((clause) => clause.numbers);
  const dates = clauses.flatMap((clause) => clause.dates);
  if (!hasNumbers(claim, { numbers, dates }, source)) return undefined;
  const content = claim.tokens.filter(({ isContent }) => isContent);
  const language = claim.language ?? source.language ?? ENGLISH;
  const covering = content.map((token) => clauses.filter(({ tokens }) => tokens.some((other) => isSameWord(token, other, language))));
  let [total, found, gap] = [0, 0, 0];
  let isGeneral = true;
  for (const [index, token] of content.entries()) {
    const isContext = source.context.some((other) => isSameWord(token, other, language));
    const weight = isContext ? CONTEXT_WEIGHT : token.name === 'sure' ? NAME_WEIGHT : 1;
    const isCovered = isContext || (covering[index]?.length ?? 0) > 0;
    // A name elsewhere in the source is not what this part is about.
    if (!isCovered && token.name === 'sure') return undefined;
    total += weight;
    isGeneral &&= isContext;
    if (isCovered) {
      found += weight;
      gap = 0;
    } else if (++gap > MAX_GAP) return undefined;
  }
  // A number that agrees counts like a word.
  const counted = claim.numbers.length + claim.dates.length;
  if (found === 0 && (content.length > 0 || counted === 0)) return undefined;
  // Every sentence contributes something that the others lack.
  if (window.length > 1 && !window.every((sentence) => isContributing(sentence, claim, covering))) return undefined;
  const score = (found + counted) / (total + counted);
  // Clauses that contribute a word that no other has.
  const contributing = clauses.filter((clause) => covering.some((found) => found.length === 1 && found[0] === clause));
  const relevant = contributing.length > 0 ? contributing : clauses.filter((clause) => covering.some((found) => found.includes(clause)));
  const isContradicted = !isSamePolarity(
    claim.polarity,
    relevant.map(({ polarity }) => polarity),
    claim.isCompound,
  );
  const match = { clauses, covering, content, language };
  if (
    !isContradicted &&
    (claim.numbers.some((number) => isOfAnother(number, claim, match)) ||
      isNameOfAnother(match) ||
      isPartOf(match) ||
      isSwapped(claim, match))
  )
    return undefined;
  const isOwn = (number: TextNumber): boolean => !source.contextNumbers.some((other) => isSameNumber(number, other));
  return { score, isContradicted, isGeneral: isGeneral && !claim.numbers.some(isOwn) && claim.dates.length === 0 };
}

/** Whether a sentence has a number of the claim, or two of its words that no other sentence has. */
function isContributing({ clauses }: SourceSentence, claim: Claim, covering: WindowMatch['covering']): boolean {
  const own = covering.filter((found) => found.length > 0 && found.every((clause) => clauses.includes(clause))).length;
  return (
    own >= 2 ||
    (own >= 1 && clauses.some(({ numbers }) => numbers.some((number) => claim.numbers.some((claimed) => isSameNumber(claimed, number)))))
  );
}

/** Whether the numbers and dates of the claim are among these, or in the source's title and headings. */
function hasNumbers(claim: Pick<Claim, 'numbers' | 'dates'>, found: Pick<Claim, 'numbers' | 'dates'>, source: AnalyzedSource): boolean {
  const numbers = [...found.numbers, ...source.contextNumbers];
  const dates = [...found.dates, ...source.contextDates];
  return (
    claim.numbers.every(
      (number) =>
        numbers.some((other) => isSameNumber(number, other)) ||
        (number.isDigits && dates.some(({ year = 0 }) => number.values.includes(year))),
    ) && claim.dates.every((date) => dates.some((other) => isSameDate(date, other, source.years)))
  );
}

interface WindowMatch {
  clauses: readonly SourceClause[];
  /** For each word of the claim: the clauses that contain it. */
  covering: readonly (readonly SourceClause[])[];
  content: readonly TextToken[];
  language: Language;
}

/**
 * Whether the source says the number of something else: a word of the claim stands only beside another number of the same kind. In "opened in
 * 1932 and closed in 1950", the second clause has the subject of the first.
 */
function isOfAnother(number: TextNumber, claim: Claim, { clauses, covering, content, language }: WindowMatch): boolean {
  const has = ({ numbers, dates }: SourceClause): boolean =>
    numbers.some((other) => isSameNumber(number, other)) || dates.some(({ year = 0 }) => number.values.includes(year));
  const own = clauses.filter(has);
  if (own.length === 0) return false;
  const isCompeting = (clause: SourceClause): boolean =>
    !has(clause) &&
    [
      ...clause.numbers.filter((other) => isSameKind(number, other)),
      ...clause.dates.filter(({ year }) => year !== undefined && isYear(number)),
    ].some((other) => !('values' in other) || !claim.numbers.some((claimed) => isSameNumber(claimed, other)));
  const hasOwnSubject = own.every(({ tokens }) => {
    const first = tokens.find(({ isContent }) => isContent);
    return first !== undefined && !content.some((token) => isSameWord(token, first, language));
  });
  return content.some((_, index) => {
    const found = covering[index] ?? [];
    if (found.length === 0 || !found.every(isCompeting)) return false;
    if (hasOwnSubject) return true;
    const isSubject = found.some(({ tokens }) =>
      tokens
        .filter(({ isContent }) => isContent)
        .slice(0, 3)
        .some((other) => isSameWord(content[index], other, language)),
    );
    return !isSubject;
  });
}

/**
 * Whether the source says a name of something else: in "born in Trieste and died in Vienna", Vienna belongs to "died", and most other words of
 * a claim about a birth stand in the first clause.
 */
function isNameOfAnother({ clauses, covering, content, language }: WindowMatch): boolean {
  return content.some((token, index) => {
    const found = covering[index] ?? [];
    const [clause] = found;
    if (token.name !== 'sure' || index === 0 || found.length !== 1 || !clause) return false;
    const first = clause.tokens.find(({ isContent }) => isContent);
    if (!first || content.some((word) => isSameWord(word, first, language))) return false;
    const others = content.flatMap((word, at) => (word.name === undefined && (covering[at]?.length ?? 0) > 0 ? [covering[at] ?? []] : []));
    const elsewhere = others.filter((places) => !places.includes(clause));
    return (
      elsewhere.length > others.length / 2 &&
      elsewhere.flat().some((place) => clauses.includes(place) && place.tokens.some(({ name }) => name === 'sure'))
    );
  });
}

/** Whether the source says it of a part: "The filter of the K200 is dishwasher safe" does not say it of the K200. */
function isPartOf({ covering, content, language }: WindowMatch): boolean {
  const [subject] = content;
  const [clause] = covering[0] ?? [];
  const [first, second] = clause?.tokens.filter(({ isContent }) => isContent) ?? [];
  if (
    !subject ||
    !first ||
    !second ||
    content.some((token) => isSameWord(token, first, language)) ||
    !isSameWord(subject, second, language)
  )
    return false;
  return clause?.tokens.some(({ folded, start }) => OF.has(folded) && start > first.start && start < second.start) ?? false;
}

const OF = new Set(['of', 'von', 'des', 'der', 'du', 'de', 'del', 'della', 'do', 'da', 'van']);

/** Whether two names stand in the opposite order, as in "A sold it to B" and "B sold it to A". */
function isSwapped(claim: Claim, { covering, content, language }: WindowMatch): boolean {
  const names = content
    .map((token, index) => ({ token, index }))
    .filter(({ token, index }) => token.name !== undefined && covering[index]?.length === 1);
  for (const [position, a] of names.entries()) {
    for (const b of names.slice(position + 1)) {
      const [clause] = covering[a.index] ?? [];
      if (!clause || clause !== covering[b.index]?.[0]) continue;
      const inClause = clause.tokens.filter(({ isContent }) => isContent);
      const [first, second] = [a, b].map(({ token }) => inClause.findIndex((other) => isSameWord(token, other, language)));
      if (first === undefined || second === undefined || first <= second) continue;
      const hasWordBetween = (tokens: readonly TextToken[]): boolean => tokens.some(({ name }) => name === undefined);
      const isSame = hasWordBetween(content.slice(a.index + 1, b.index)) && hasWordBetween(inClause.slice(second + 1, first));
      if (isSame && claim.isPassive === clause.isPassive) return true;
    }
  }
  return false;
}

const isYear = ({ values, unit, isDigits }: TextNumber): boolean =>
  isDigits && unit === '' && values.some((value) => Number.isInteger(value) && value >= 1000 && value <= 2100);
const isSameKind = (a: TextNumber, b: TextNumber): boolean => a.unit === b.unit && isYear(a) === isYear(b);

const MIN_PREFIX = 5;

/** Whether two words mean the same as far as their spelling tells: the same stem, a common beginning, part of a compound, or a synonym. */
function isSameWord(a: TextToken | undefined, b: TextToken, language: Language): boolean {
  if (!a || !b.isContent) return false;
  if (a.term === b.term || a.folded === b.folded) return true;
  if (a.name === 'sure' && /\p{N}/u.test(a.folded)) return false;
  const [short, long] = a.folded.length < b.folded.length ? [a.folded, b.folded] : [b.folded, a.folded];
  if (short.length >= MIN_PREFIX && short.startsWith(long.slice(0, Math.max(MIN_PREFIX, Math.ceil(long.length * 0.7))))) return true;
  if (language.name === 'german' && short.length >= MIN_PREFIX && long.includes(short)) return true;
  return language === ENGLISH && (getRelatedTerms(a.term).get(b.term) ?? 0) >= MIN_RELATION;
}

/** A claim in another language: its numbers, dates and names must be in the source, two of them at least, with the same negation. */
function findTranslation(claim: Claim, source: AnalyzedSource, { names }: SupportRules): Support | undefined {
  const marks = claim.tokens.filter(({ name, folded }) => name !== undefined && (source.words.has(folded) || names.has(folded)));
  if (marks.some(({ folded }) => !source.words.has(folded))) return undefined;
  // A name such as `K200` is spelled the same everywhere.
  if (claim.tokens.some(({ name, folded }) => name === 'sure' && /\p{N}/u.test(folded) && !source.words.has(folded))) return undefined;
  const isForeignName = ({ name, folded }: TextToken): boolean => name === 'sure' && !source.words.has(folded);
  if (claim.language?.name !== 'german' && claim.tokens.filter(isForeignName).length > marks.length) return undefined;
  const anchors = claim.numbers.length + claim.dates.length;
  if (anchors + marks.length < 2) return undefined;
  let best: Support | undefined;
  for (const window of listWindows(source)) {
    const clauses = window.flatMap((sentence) => sentence.clauses);
    const found = { numbers: clauses.flatMap((clause) => clause.numbers), dates: clauses.flatMap((clause) => clause.dates) };
    if (!hasNumbers(claim, found, source)) continue;
    const words = new Set(clauses.flatMap(({ tokens }) => tokens.map(({ folded }) => folded)));
    const hits = marks.filter(({ folded }) => words.has(folded)).length;
    if (anchors === 0 && hits === 0) continue;
    const anchored = clauses.filter(
      ({ tokens, numbers, dates }) =>
        dates.length > 0 ||
        tokens.some(({ folded }) => marks.some((mark) => mark.folded === folded)) ||
        numbers.some((number) => claim.numbers.some((claimed) => isSameNumber(claimed, number))),
    );
    if (
      !isSamePolarity(
        claim.polarity,
        anchored.map(({ polarity }) => polarity),
        claim.isCompound,
      )
    )
      continue;
    const score = (anchors + hits) / (anchors + Math.max(1, marks.length)) - (window.length - 1) * 0.01;
    if (score > (best?.score ?? 0)) best = { score, start: window[0]?.start ?? 0, end: window.at(-1)?.end ?? 0 };
  }
  return best;
}
