import type { CitableSource, Citation, CitedSource } from '../rpc/passage.ts';
import { withMarkers } from './with-markers.ts';

interface CitedText {
  /** The reply's text without markers. */
  text: string;
  citations?: readonly Citation[] | undefined;
  sources?: readonly CitedSource[] | undefined;
}

/**
 * The text of a reply for the model of another chat: its claims end with the numbers that `cite` gives its sources there. `cite` is that of
 * the other run's `ToolContext`.
 */
export function renumberCitations(
  { text, citations = [], sources = [] }: CitedText,
  cite: (sources: readonly CitableSource[]) => number[],
): string {
  const cited = sources.filter(({ number }) => citations.some((citation) => citation.number === number));
  if (cited.length === 0) return text;
  const given = cite(cited.map(({ number: _, ...source }) => source));
  const numbers = new Map(cited.map(({ number }, index) => [number, given[index]]));
  const renumbered = citations.flatMap(({ end, number }) => {
    const other = numbers.get(number);
    return other === undefined ? [] : [{ end, number: other }];
  });
  return withMarkers(text, renumbered);
}
