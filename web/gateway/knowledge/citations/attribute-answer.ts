import type { Citation, CitedSource } from '#shared/rpc/passage.ts';
import type { Language } from '../search/text/languages.ts';
import { AnalyzedSource } from './analyzed-source.ts';
import { detectTextLanguage, type TextToken, tokenize } from './analyzed-text.ts';
import { canStandAlone, type Claim, findSupport, isSubstantial, type Support, type SupportRules } from './claim-support.ts';
import type { Marker } from '#shared/citations/marker-filter.ts';
import { findDates, findNumbers, isMonth, type TextDate, type TextNumber } from './numbers.ts';
import { isPassive, readPolarity } from './polarity.ts';
import { type ReplySentence, splitClauses, splitReply, type TextSpan } from './sentences.ts';

interface AttributionOptions {
  /** Markers of the model, by their offset in the text. */
  markers?: readonly Marker[];
  /** The message that is answered: a reply may refer to its subject without naming it. */
  question?: string;
  /** Numbers of sources that may support a claim without a marker; default: all. */
  unmarked?: ReadonlySet<number>;
}

/** Minimum shares of a claim's words in the source: named by a marker, cited in the same paragraph, and found without a marker. */
const MIN_MARKED = 0.7;
const MIN_NEARBY = 0.75;
const MIN_UNMARKED = 0.8;
const MAX_QUOTE_CHARS = 600;

const PRONOUNS = new Set(
  `it its they their them he his him she her this that these those both such there er sie es ihr ihre sein seine dies diese dieser dieses das dort
il elle ils elles ce cette ces leur son sa este esta estos estas su sus ello esto`.split(/\s+/),
);

/** The claims of a reply that its sources support, in the order of the text. `text` contains no markers. */
export function attributeAnswer(text: string, sources: readonly CitedSource[], options: AttributionOptions = {}): Citation[] {
  return sources.length === 0 ? [] : new Attribution(text, sources, options).run();
}

class Attribution {
  readonly #text: string;
  readonly #language: Language | undefined;
  /** The words of the reply, folded. */
  readonly #words: readonly string[];
  readonly #sources: ReadonlyMap<number, AnalyzedSource>;
  readonly #markers: readonly Marker[];
  readonly #unmarked: readonly AnalyzedSource[];
  readonly #dates: readonly TextDate[];
  readonly #numbers: readonly TextNumber[];
  /** Names in any source, and words of their titles. */
  readonly #names: ReadonlySet<string>;
  readonly #titles: ReadonlySet<string>;
  /** Names that only some sources contain, with the number of these. */
  readonly #distinctive: ReadonlyMap<string, number>;
  /** Names that the question or the previous sentence is about. */
  #topic: readonly string[] = [];

  constructor(text: string, sources: readonly CitedSource[], { markers = [], question = '', unmarked }: AttributionOptions) {
    this.#text = text;
    this.#language = detectTextLanguage(text) ?? detectTextLanguage(`${question}\n${text}`);
    this.#words = tokenize(text, { start: 0, end: text.length }, this.#language).map(({ folded }) => folded);
    const analyzed = sources.map((source) => new AnalyzedSource(source, this.#language));
    this.#sources = new Map(analyzed.map((source) => [source.source.number, source]));
    this.#markers = markers;
    this.#unmarked = analyzed.filter(({ source }) => !unmarked || unmarked.has(source.number));
    this.#dates = findDates(text);
    this.#numbers = findNumbers(text, this.#dates);
    this.#names = new Set(analyzed.flatMap(({ names }) => [...names]));
    this.#titles = new Set(analyzed.flatMap(({ context }) => context.filter(({ isContent }) => isContent).map(({ folded }) => folded)));
    const counts = [...this.#names, ...this.#titles].map((name): [string, number] => [
      name,
      analyzed.filter(({ words }) => words.has(name)).length,
    ]);
    this.#distinctive = new Map(counts.filter(([, count]) => count < analyzed.length));
    this.#topic = this.#findTopic(tokenize(question, { start: 0, end: question.length }, detectTextLanguage(question)));
  }

  run(): Citation[] {
    const sentences = splitReply(this.#text);
    const citations: Citation[] = [];
    let [paragraph, cited] = [-1, new Set<number>()];
    for (const [index, sentence] of sentences.entries()) {
      if (sentence.paragraph !== paragraph) [paragraph, cited] = [sentence.paragraph, new Set()];
      const next = sentences[index + 1]?.start ?? this.#text.length;
      const markers = this.#markers.filter(({ at }) => at > sentence.start && at <= next);
      const found = this.#attribute(sentence, markers, new Set([...cited, ...this.#findNearby(sentence, sentences)]));
      for (const { number } of found) cited.add(number);
      citations.push(...found);
    }
    return citations;
  }

  /** Sources that markers of the same paragraph name. */
  #findNearby({ paragraph }: ReplySentence, sentences: readonly ReplySentence[]): number[] {
    const members = sentences.filter((sentence) => sentence.paragraph === paragraph);
    const [start, end] = [members[0]?.start ?? 0, (members.at(-1)?.end ?? 0) + 2];
    return this.#markers.filter(({ at }) => at > start && at <= end).flatMap(({ numbers }) => numbers);
  }

  #attribute(sentence: TextSpan, markers: readonly Marker[], nearby: ReadonlySet<number>): Citation[] {
    const tokens = tokenize(this.#text, sentence, this.#language);
    const topic = this.#findTopic(tokens);
    const isAnaphoric = topic.length === 0 || PRONOUNS.has(tokens[0]?.folded ?? '');
    const about = isAnaphoric ? [...new Set([...topic, ...this.#topic])] : topic;
    if (topic.length > 0 && !(isAnaphoric && this.#topic.length > 0)) this.#topic = topic;
    const citations: Citation[] = [];
    let from = sentence.start;
    const ranges = this.#toRanges(sentence, markers);
    for (const { end, numbers } of ranges) {
      const range = { start: from, end };
      from = end;
      const claims = this.#toClaims(range, tokens);
      if (claims.length === 0) continue;
      const named = [...numbers].flatMap((number) => this.#sources.get(number) ?? []).filter((source) => this.#isAbout(source, about));
      const marked = named.flatMap((source) => this.#cite(claims, source, { minScore: MIN_MARKED, isTranslatable: true }).citations);
      if (marked.length > 0) {
        citations.push(...marked);
        continue;
      }
      if (this.#text[sentence.end] === '?') continue;
      citations.push(...this.#findUnmarked(claims, about, nearby));
    }
    return citations;
  }

  /** The best source of claims that no marker supports. */
  #findUnmarked(claims: readonly Claim[], about: readonly string[], nearby: ReadonlySet<number>): Citation[] {
    const words = claims.flatMap(({ tokens }) => tokens.filter(({ isContent }) => isContent));
    let best: { citations: Citation[]; score: number } | undefined;
    for (const source of this.#unmarked) {
      const isNearby = nearby.has(source.source.number);
      const hits = words.filter(({ term, folded }) => source.words.has(term) || source.words.has(folded)).length;
      if (hits < Math.min(2, words.length) || !this.#isAbout(source, about)) continue;
      const found = this.#cite(claims, source, { minScore: isNearby ? MIN_NEARBY : MIN_UNMARKED, isTranslatable: false });
      const bonus = isNearby ? 0.1 : 0;
      if (found.citations.length > 0 && found.score + bonus > (best?.score ?? 0)) best = { ...found, score: found.score + bonus };
    }
    return best?.citations ?? [];
  }

  /** Citations of the claims that a source supports: one for adjacent claims. `score`: words of these claims that it contains. */
  #cite(
    claims: readonly Claim[],
    source: AnalyzedSource,
    { minScore, isTranslatable }: { minScore: number; isTranslatable: boolean },
  ): { citations: Citation[]; score: number } {
    const isTranslated = this.#isTranslated(source);
    if (isTranslated && !isTranslatable) return { citations: [], score: 0 };
    const rules: SupportRules = { minScore, names: this.#names, isTranslated };
    const citations: Citation[] = [];
    let score = 0;
    let run: { claim: Claim; support: Support }[] = [];
    const flush = (): void => {
      const [first] = run;
      const last = run.at(-1);
      const joined = joinClaims(run.map(({ claim }) => claim));
      const isEnough = run.length === claims.length ? isSubstantial(joined) : canStandAlone(joined);
      if (first && last && isEnough && run.some(({ support }) => !support.isGeneral)) {
        citations.push({ start: first.claim.start, end: last.claim.end, number: source.source.number, quote: toQuote(run, source) });
        for (const { claim, support } of run) score += support.score * claim.tokens.length;
      }
      run = [];
    };
    for (const claim of claims) {
      const support = findSupport(claim, source, rules);
      if (support) run.push({ claim, support });
      else flush();
    }
    flush();
    return { citations, score: score / Math.max(1, claims.flatMap(({ tokens }) => tokens).length) };
  }

  /** Whether a source is in another language. Short texts share words with several languages. */
  #isTranslated({ language }: AnalyzedSource): boolean {
    if (!language || !this.#language || language === this.#language) return false;
    const count = ({ stopWords }: Language): number => this.#words.filter((word) => stopWords.has(word)).length;
    const own = count(this.#language);
    return own >= 2 && own > 2 * count(language);
  }

  /** The parts of a sentence with the numbers that their markers name. */
  #toRanges(sentence: TextSpan, markers: readonly Marker[]): { end: number; numbers: ReadonlySet<number> }[] {
    const ranges: { end: number; numbers: Set<number> }[] = [];
    let from = sentence.start;
    for (const { at, numbers } of markers) {
      const end = Math.min(at, sentence.end);
      const last = ranges.at(-1);
      if (last && end - from < 3) for (const number of numbers) last.numbers.add(number);
      else ranges.push({ end: this.#trim(end, from), numbers: new Set(numbers) });
      from = end;
    }
    if (sentence.end - from >= 3) ranges.push({ end: sentence.end, numbers: new Set() });
    // A marker after a name or an introduction belongs to the whole sentence.
    for (let index = 0; index < ranges.length - 1; index++) {
      const [range, next] = [ranges[index], ranges[index + 1]];
      const start = ranges[index - 1]?.end ?? sentence.start;
      if (!range || !next || isSubstantial(this.#toClaim({ start, end: range.end }))) continue;
      for (const number of range.numbers) next.numbers.add(number);
      ranges.splice(index--, 1);
    }
    return ranges;
  }

  /** The end without punctuation and spaces. */
  #trim(end: number, start: number): number {
    let trimmed = end;
    while (trimmed > start && /[\s.,;:!?]/.test(this.#text.charAt(trimmed - 1))) trimmed--;
    return trimmed;
  }

  /** The clauses of a range; one that says little belongs to its neighbour. `all`: words of the sentence. */
  #toClaims(range: TextSpan, all: readonly TextToken[]): Claim[] {
    const claims: Claim[] = [];
    for (const clause of splitClauses(this.#text, range, true)) {
      const claim = this.#toClaim(clause, all);
      const last = claims.at(-1);
      if (last && (!isSubstantial(last) || !isSubstantial(claim)))
        claims[claims.length - 1] = this.#toClaim({ start: last.start, end: clause.end }, all);
      else claims.push(claim);
    }
    return claims.filter((claim) => claim.tokens.some(({ isContent }) => isContent) || claim.numbers.length > 0);
  }

  #toClaim({ start, end }: TextSpan, all?: readonly TextToken[]): Claim {
    const isInside = (part: TextSpan): boolean => part.start >= start && part.end <= end;
    return {
      start,
      end,
      tokens: (all ?? tokenize(this.#text, { start, end }, this.#language)).filter(isInside),
      numbers: this.#numbers.filter(isInside),
      dates: this.#dates.filter(isInside),
      polarity: readPolarity(this.#text.slice(start, end)),
      isPassive: isPassive(this.#text.slice(start, end)),
      isCompound: splitClauses(this.#text, { start, end }).length > 1,
      language: this.#language,
    };
  }

  /** The names among some words that tell sources apart. */
  #findTopic(tokens: readonly TextToken[]): string[] {
    return tokens
      .filter(({ name, folded }) => this.#distinctive.has(folded) && !isMonth(folded) && (name !== undefined || this.#titles.has(folded)))
      .map(({ folded }) => folded);
  }

  /** Whether a source is about one of the rarest of these names; true if there are none. */
  #isAbout({ words }: AnalyzedSource, names: readonly string[]): boolean {
    const rarest = Math.min(...names.map((name) => this.#distinctive.get(name) ?? Infinity));
    return names.length === 0 || names.some((name) => (this.#distinctive.get(name) ?? Infinity) <= rarest && words.has(name));
  }
}

const joinClaims = (claims: readonly Claim[]): Pick<Claim, 'tokens' | 'numbers' | 'dates'> => ({
  tokens: claims.flatMap(({ tokens }) => tokens),
  numbers: claims.flatMap(({ numbers }) => numbers),
  dates: claims.flatMap(({ dates }) => dates),
});

/** The part of the source that supports all these claims, or the first of them if that part is long. */
function toQuote(run: readonly { support: Support }[], { source: { text } }: AnalyzedSource): Citation['quote'] {
  const start = Math.min(...run.map(({ support }) => support.start));
  const end = Math.max(...run.map(({ support }) => support.end));
  const [first] = run;
  const span = end - start <= MAX_QUOTE_CHARS || !first ? { start, end } : first.support;
  return { text: text.slice(span.start, span.end), start: span.start, end: span.end };
}
