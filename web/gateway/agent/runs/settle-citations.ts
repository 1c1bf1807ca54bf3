import type { Citation, CitedSource } from '#shared/rpc/passage.ts';
import { attributeAnswer } from '../../knowledge/citations/attribute-answer.ts';
import { stripMarkers } from '#shared/citations/marker-filter.ts';
import type { SettledText } from './run-sources.ts';

/** Maximum number of citations of a reply, and of characters of all its sources, which are stored with it. */
const MAX_CITATIONS = 500;
const MAX_TOTAL_CHARS = 48_000;
/** Maximum number of sources that are compared with a reply: those that it names, and those with the most words of it. */
const MAX_COMPARED = 60;
/** Longer replies get only their markers removed. */
const MAX_ATTRIBUTED_CHARS = 200_000;

interface SettleOptions {
  sources: readonly CitedSource[];
  /** Numbers of the sources that the run itself has read: only these support a claim without a marker. */
  own: ReadonlySet<number>;
  question: string;
  rules: Parameters<typeof stripMarkers>[1];
}

/** Removes the markers of a model from its text, and finds the sources of its claims. */
export function settleCitations(content: string, { sources, own, question, rules }: SettleOptions): SettledText {
  const { text, markers } = stripMarkers(content, rules);
  if (text.length > MAX_ATTRIBUTED_CHARS) return { content: text };
  const named = new Set(markers.flatMap(({ numbers }) => numbers));
  const relevant = chooseSources(text, sources, { own, named });
  const citations = attributeAnswer(text, relevant, { markers, question, unmarked: own }).slice(0, MAX_CITATIONS);
  if (citations.length === 0) return { content: text };
  return { content: text, ...boundSources(citations, relevant) };
}

function chooseSources(
  text: string,
  sources: readonly CitedSource[],
  { own, named }: { own: ReadonlySet<number>; named: ReadonlySet<number> },
): CitedSource[] {
  const others = sources.filter(({ number }) => own.has(number) && !named.has(number));
  const chosen = sources.filter(({ number }) => named.has(number));
  const room = Math.max(0, MAX_COMPARED - chosen.length);
  if (others.length <= room) return [...chosen, ...others];
  const words = toWords(text);
  const ranked = others.map((source) => ({ source, common: [...toWords(source.text)].filter((word) => words.has(word)).length }));
  return [
    ...chosen,
    ...ranked
      .sort((a, b) => b.common - a.common)
      .slice(0, room)
      .map(({ source }) => source),
  ];
}

const toWords = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu));

/** The cited sources, their texts cut around the quotes if they are long together. */
function boundSources(citations: readonly Citation[], sources: readonly CitedSource[]): { citations: Citation[]; sources: CitedSource[] } {
  const cited = sources
    .filter(({ number }) => citations.some((citation) => citation.number === number))
    .sort((a, b) => a.number - b.number);
  const total = cited.reduce((sum, { text }) => sum + text.length, 0);
  if (total <= MAX_TOTAL_CHARS) return { citations: [...citations], sources: cited };
  const share = Math.max(300, Math.floor(MAX_TOTAL_CHARS / cited.length));
  const cuts = new Map(cited.map((source) => [source.number, cutAround(source, citations, share)]));
  return {
    sources: [...cuts.values()].map(({ source }) => source),
    citations: citations.flatMap((citation) => {
      const { source, from } = cuts.get(citation.number) ?? {};
      if (!source || from === undefined) return [];
      const start = Math.max(0, citation.quote.start - from);
      const end = Math.min(source.text.length, citation.quote.end - from);
      // A quote outside the part that is kept.
      return end <= start ? [] : [{ ...citation, quote: { text: source.text.slice(start, end), start, end } }];
    }),
  };
}

/** The part of a source's text around its first quote. */
function cutAround(source: CitedSource, citations: readonly Citation[], length: number): { source: CitedSource; from: number } {
  const first = Math.min(...citations.filter(({ number }) => number === source.number).map(({ quote }) => quote.start));
  const from = Math.max(0, Math.min(first - Math.floor(length / 4), source.text.length - length));
  const text = source.text.slice(from, from + length);
  const { locator } = source;
  return {
    from,
    source: {
      ...source,
      text,
      ...(locator ? { locator: { ...locator, start: locator.start + from, end: locator.start + from + text.length } } : {}),
    },
  };
}
