import type { Citation, CitedSource } from '#shared/rpc/passage.ts';
import { withMarkers } from '#shared/citations/with-markers.ts';

/** A source at the end of a claim. `quote`: the part of it that supports the claim; undefined while the reply is written. */
export interface CitationMark {
  source: CitedSource;
  quote?: Citation['quote'];
}

/** A Markdown text with placeholders for its marks, which `renderCitationChips` replaces. */
export interface CitedText {
  text: string;
  marks: readonly CitationMark[];
}

/** Delimiters of a placeholder: characters for private use, which fonts and languages leave free. */
const DELIMITERS = /[\uE000\uE001]/g;
export const PLACEHOLDER = / ?\uE000(\d+)\uE001/;

/** Adds placeholders after the claims. */
export function insertMarks(
  text: string,
  citations: readonly (Pick<Citation, 'end' | 'number'> & { quote?: Citation['quote'] })[],
  sources: readonly CitedSource[],
): CitedText {
  const byNumber = new Map(sources.map((source) => [source.number, source]));
  const marks: CitationMark[] = [];
  const ends: { end: number; number: number }[] = [];
  const seen = new Set<string>();
  for (const { end, number, quote } of citations) {
    const source = byNumber.get(number);
    if (!source || seen.has(`${end} ${number}`)) continue;
    seen.add(`${end} ${number}`);
    ends.push({ end, number: marks.push({ source, ...(quote ? { quote } : {}) }) - 1 });
  }
  // A space first, so that an address or emphasis ends before it.
  return { text: withMarkers(text.replace(DELIMITERS, '\uFFFD'), ends, (index) => ` \uE000${index}\uE001`), marks };
}
