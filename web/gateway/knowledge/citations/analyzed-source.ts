import type { CitedSource } from '#shared/rpc/passage.ts';
import { ENGLISH, type Language } from '../search/text/languages.ts';
import { detectTextLanguage, type TextToken, tokenize } from './analyzed-text.ts';
import { findDates, findNumbers, type TextDate, type TextNumber } from './numbers.ts';
import { isPassive, type Polarity, readPolarity } from './polarity.ts';
import { splitClauses, splitSentences, type TextSpan } from './sentences.ts';

interface SourceClause extends TextSpan {
  tokens: TextToken[];
  numbers: TextNumber[];
  dates: TextDate[];
  polarity: Polarity;
  isPassive: boolean;
}

interface SourceSentence extends TextSpan {
  clauses: SourceClause[];
}

const isInside = (part: TextSpan, { start, end }: TextSpan): boolean => part.start >= start && part.end <= end;

/** A source, prepared for comparison with claims. */
export class AnalyzedSource {
  readonly source: CitedSource;
  readonly language: Language | undefined;
  readonly sentences: SourceSentence[];
  /** Words of its title, headings and path. */
  readonly context: TextToken[];
  /** Numbers and dates of its title and headings. */
  readonly contextNumbers: readonly TextNumber[];
  readonly contextDates: readonly TextDate[];
  /** Folded words of everything. */
  readonly words: ReadonlySet<string>;
  /** Words that it writes as names. */
  readonly names: ReadonlySet<string>;
  /** Years of the text, its title and its headings. */
  readonly years: ReadonlySet<number>;

  /** `fallback`: the language if that of the text is not clear. */
  constructor(source: CitedSource, fallback: Language = ENGLISH) {
    this.source = source;
    const { text, title, path = '', locator } = source;
    this.language = detectTextLanguage(text);
    const language = this.language ?? fallback;
    const dates = findDates(text);
    const numbers = findNumbers(text, dates);
    this.sentences = splitSource(text).map((sentence) => ({
      ...sentence,
      clauses: splitClauses(text, sentence).map((clause) => ({
        ...clause,
        tokens: tokenize(text, clause, language),
        numbers: numbers.filter((number) => isInside(number, clause)),
        dates: dates.filter((date) => isInside(date, clause)),
        polarity: readPolarity(text.slice(clause.start, clause.end)),
        isPassive: isPassive(text.slice(clause.start, clause.end)),
      })),
    }));
    const above = [title, ...(locator?.headings ?? []), locator?.sheet ?? '', path].join('\n');
    this.context = tokenize(above, { start: 0, end: above.length }, language);
    this.contextDates = findDates(above);
    this.contextNumbers = findNumbers(above, this.contextDates);
    const tokens = this.sentences.flatMap(({ clauses }) => clauses.flatMap((clause) => clause.tokens));
    this.words = new Set([...this.context, ...tokens].flatMap(({ folded, term }) => [folded, term]));
    this.names = new Set(tokens.filter(({ name }) => name === 'sure').map(({ folded }) => folded));
    const allDates = [...dates, ...this.contextDates];
    const allNumbers = [...numbers, ...this.contextNumbers];
    this.years = new Set([...allDates.flatMap(({ year = [] }) => year), ...allNumbers.flatMap(({ values }) => values)]);
  }
}

/** Line that begins an item, a row or a heading. */
const NEW_BLOCK = /^\s*(?:[-*+•|#]|\d{1,3}[.)]\s)/;
/** Minimum length of a line that a sentence may continue below. */
const MIN_WRAPPED_CHARS = 40;

/** The sentences of a source's text. A sentence may continue on the next line, as in the text of a PDF. */
function splitSource(text: string): TextSpan[] {
  const sentences: TextSpan[] = [];
  let start = 0;
  const add = (end: number): void => {
    if (end > start) sentences.push(...splitSentences(text.slice(start, end).replace(/\n/g, ' '), start));
    start = end;
  };
  let offset = 0;
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    offset += line.length + 1;
    const next = lines[index + 1];
    const joinsNext =
      next !== undefined &&
      next.trim() !== '' &&
      !NEW_BLOCK.test(next) &&
      !/[|\t]/.test(line) &&
      (line.trim().length >= MIN_WRAPPED_CHARS || (/^\s*\p{Ll}/u.test(next) && !/[.!?:;]["”’)]?\s*$/.test(line)));
    if (!joinsNext) add(Math.min(offset, text.length));
  }
  add(text.length);
  return sentences;
}
