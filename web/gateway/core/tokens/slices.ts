/** Number of characters to count at once, which takes a millisecond or two. */
const SLICE = 4 * 1024;
/**
 * Maximum length of a run without spaces; longer ones are cut. Merging takes quadratic time, and a client may send a megabyte of one
 * letter.
 */
const LONGEST_RUN = 256;

/**
 * Splits a text into slices that can be counted separately: each ends before a space followed by a word, which no token crosses. In a long
 * text without such a place, or a long run without white space, a slice ends elsewhere, which adds at most one token.
 */
export function* slices(text: string): Generator<string> {
  const gap = /\s(?=\S)/g;
  let from = 0;
  let end = 0;
  for (let at = 0; at < text.length; at = end) {
    gap.lastIndex = at + 1;
    end = gap.exec(text)?.index ?? text.length;
    // A long run is split into slices of its own, so that its parts are not merged with adjacent text.
    while (end - at > LONGEST_RUN) {
      const cut = withoutHalf(text, at + LONGEST_RUN);
      yield text.slice(from, cut);
      from = at = cut;
    }
    if (end - from < (isClean(text, end) ? SLICE : 2 * SLICE)) continue;
    yield text.slice(from, end);
    from = end;
  }
  if (from < text.length) yield text.slice(from);
}

/** In both tokenizers, a word after a space that follows a word or sign includes that space. */
const isClean = (text: string, at: number): boolean =>
  text.charAt(at) === ' ' && /\S/.test(text.charAt(at - 1)) && /\p{L}/u.test(text.charAt(at + 1));

/** Keeps surrogate pairs together. */
function withoutHalf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}
