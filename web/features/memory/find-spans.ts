/** Removes accents and case. */
const foldCase = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Scripts without spaces between words. */
const UNSPACED_SCRIPTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Minimum shared letters of two forms of a word, and maximum letters of an ending. */
const MIN_STEM_CHARS = 4;
const MIN_SHORT_STEM_CHARS = 3;
const MAX_ENDING_CHARS = 3;

/** Whether two words are probably forms of one, by their beginnings: `dog` and `dogs`, `story` and `stories`. */
function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  let shared = 0;
  while (shared < short.length && short[shared] === long[shared]) shared++;
  if (long.length - shared > MAX_ENDING_CHARS) return false;
  return shared >= MIN_STEM_CHARS ? short.length - shared <= MAX_ENDING_CHARS : shared === short.length && shared >= MIN_SHORT_STEM_CHARS;
}

/** Finds the words in a text, in any form: start and end, in order. Synonyms are not found. */
export function findSpans(text: string, words: readonly string[]): [start: number, end: number][] {
  const terms = words.flatMap((word) => foldCase(word).match(/[\p{L}\p{N}]+/gu) ?? []);
  const spans: [number, number][] = [];
  for (const { 0: token, index } of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const form = foldCase(token);
    if (!UNSPACED_SCRIPTS.test(token)) {
      if (terms.some((word) => isSameWord(form, word))) spans.push([index, index + token.length]);
      continue;
    }
    for (let at = 0; at < token.length;) {
      const word = words.find((each) => UNSPACED_SCRIPTS.test(each) && token.startsWith(each, at));
      if (word) spans.push([index + at, index + at + word.length]);
      at += word?.length ?? 1;
    }
  }
  return spans;
}
