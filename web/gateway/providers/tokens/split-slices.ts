/** Number of characters to count at once, which takes a millisecond or two. */
const SLICE_CHARS = 4 * 1024;
/**
 * Maximum length of a run without spaces; longer ones are cut. Merging takes quadratic time, and a client may send a megabyte of one
 * letter.
 */
const MAX_RUN_CHARS = 256;

/**
 * Splits a text into slices that can be counted separately: each ends before a space followed by a word, which no token crosses. In a long
 * text without such a place, or a long run without white space, a slice ends elsewhere, which adds at most one token.
 */
export function* splitSlices(text: string): Generator<string> {
  const gap = /\s(?=\S)/g;
  let from = 0;
  let end = 0;
  for (let index = 0; index < text.length; index = end) {
    gap.lastIndex = index + 1;
    end = gap.exec(text)?.index ?? text.length;
    // A long run is split into slices of its own, so that its parts are not merged with adjacent text.
    while (end - index > MAX_RUN_CHARS) {
      const cut = toCodePointBoundary(text, index + MAX_RUN_CHARS);
      yield text.slice(from, cut);
      from = index = cut;
    }
    if (end - from < (isCleanBoundary(text, end) ? SLICE_CHARS : 2 * SLICE_CHARS)) continue;
    yield text.slice(from, end);
    from = end;
  }
  if (from < text.length) yield text.slice(from);
}

/** In both tokenizers, a word after a space that follows a word or sign includes that space. */
const isCleanBoundary = (text: string, index: number): boolean =>
  text.charAt(index) === ' ' && /\S/.test(text.charAt(index - 1)) && /\p{L}/u.test(text.charAt(index + 1));

/** Keeps surrogate pairs together. */
function toCodePointBoundary(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}
