import type { SearchQuery } from './search-query.ts';
import { forEachTerm } from './text/terms.ts';

/** Start and end, in UTF-16 units. */
type Span = [start: number, end: number];

/** Number of characters shown before the first match. */
const LEAD_CHARS = 40;

/** Positions of a query's words in a text; adjacent ones are merged. */
export function findSpans({ words }: SearchQuery, text: string): Span[] {
  const spans: Span[] = [];
  forEachTerm(text, (term, start, end) => {
    if (!words.some((word) => word.fits(term))) return;
    const last = spans.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else spans.push([start, end]);
  });
  return spans;
}

/** The excerpt of a text with the most matches, about `length` characters on one line, and the positions of the matches in it. */
export function createSnippet(query: SearchQuery, text: string, length: number): { snippet: string; matches: Span[] } {
  const spans = findSpans(query, text);
  const from = text.length <= length ? 0 : findWordStart(text, findBestWindow(spans, length));
  let to = Math.min(text.length, from + length);
  if (to < text.length) {
    const space = text.slice(to - 20, to).search(/\s\S*$/u);
    if (space > 0) to = to - 20 + space;
    else if (isCut(text, to)) to--;
  }
  const piece = text.slice(from, to);
  const before = from > 0 ? '…' : '';
  const matches: Span[] = [];
  for (const [start, end] of spans) {
    if (start < from || start >= to) continue;
    matches.push([start - from + before.length, Math.min(end, to) - from + before.length]);
  }
  // White space is replaced character by character, so that positions stay valid.
  return { snippet: `${before}${piece.replace(/\s/gu, ' ')}${to < text.length ? '…' : ''}`, matches };
}

/** The start of the span from which the most spans are within reach. */
function findBestWindow(spans: readonly Span[], length: number): number {
  let [best, maxCount, end] = [spans[0]?.[0] ?? 0, 0, 0];
  spans.forEach(([start], first) => {
    while ((spans[end]?.[0] ?? Infinity) < start + length - 2 * LEAD_CHARS) end++;
    if (end - first > maxCount) [best, maxCount] = [start, end - first];
  });
  return Math.max(0, best - LEAD_CHARS);
}

/** The next word boundary, if one is near. */
function findWordStart(text: string, index: number): number {
  if (index === 0) return 0;
  const space = text.slice(index, index + 20).search(/\s\S/u);
  if (space >= 0) return index + space + 1;
  return isCut(text, index) ? index + 1 : index;
}

/** Whether a position is inside a surrogate pair. */
const isCut = (text: string, index: number): boolean =>
  /[\udc00-\udfff]/.test(text.charAt(index)) && /[\ud800-\udbff]/.test(text.charAt(index - 1));
