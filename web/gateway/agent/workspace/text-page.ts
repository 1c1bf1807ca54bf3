/** Returns a page of a text, from `offset` in UTF-16 units; surrogate pairs are kept intact. `nextOffset` is null at the end. */
export function getTextPage(
  text: string,
  offset: number,
  limit: number,
): { content: string; offset: number; nextOffset: number | null; chars: number } {
  const isLow = (index: number): boolean => index > 0 && index < text.length && (text.charCodeAt(index) & 0xfc00) === 0xdc00;
  const from = isLow(offset) ? offset - 1 : offset;
  let end = Math.min(text.length, from + limit);
  // A limit of half a pair must still make progress.
  if (isLow(end)) end += end - 1 > from ? -1 : 1;
  return { content: text.slice(from, end), offset: from, nextOffset: end < text.length ? end : null, chars: text.length };
}
