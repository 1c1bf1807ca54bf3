/** Characters that are counted at once: a millisecond or two. */
const SLICE = 4 * 1024;
/** A run without spaces is cut after as many: merging takes the square of its length, and somebody may send a megabyte of one letter. */
const LONGEST_RUN = 256;

/**
 * A text in pieces that can be counted one by one: they end before a space with a word behind it, where no token goes across. Where there is none for long, and in a long run without white
 * space, a piece ends elsewhere, at the cost of one token too many at the most.
 */
export function* slices(text: string): Generator<string> {
  const gap = /\s(?=\S)/g;
  let from = 0;
  let end = 0;
  for (let at = 0; at < text.length; at = end) {
    gap.lastIndex = at + 1;
    end = gap.exec(text)?.index ?? text.length;
    // A long run is given piece by piece, so that none of its parts is merged with what stands beside it.
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

/** The word at a space behind a word or sign begins with that space, in both tokenizers. */
const isClean = (text: string, at: number): boolean =>
  text.charAt(at) === ' ' && /\S/.test(text.charAt(at - 1)) && /\p{L}/u.test(text.charAt(at + 1));

/** A pair of surrogates is not cut. */
function withoutHalf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}
