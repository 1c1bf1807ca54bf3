/** Letters without accents and case. */
const folded = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Scripts that put nothing between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Minimum shared letters of two forms of a word, and maximum letters of an ending. */
const STEM = 4;
const SHORT_STEM = 3;
const ENDING = 3;

/** Forms of one word, as far as their beginnings tell: `dog` and `dogs`, `story` and `stories`. */
function akin(a: string, b: string): boolean {
  if (a === b) return true;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  let shared = 0;
  while (shared < short.length && short[shared] === long[shared]) shared++;
  if (long.length - shared > ENDING) return false;
  return shared >= STEM ? short.length - shared <= ENDING : shared === short.length && shared >= SHORT_STEM;
}

/** Finds the words in a text, in any form: start and end, in order. Synonyms are not found. */
export function spansOf(text: string, words: readonly string[]): [start: number, end: number][] {
  const wanted = words.flatMap((word) => folded(word).match(/[\p{L}\p{N}]+/gu) ?? []);
  const spans: [number, number][] = [];
  for (const { 0: token, index } of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const form = folded(token);
    if (!UNSPACED.test(token)) {
      if (wanted.some((word) => akin(form, word))) spans.push([index, index + token.length]);
      continue;
    }
    for (let at = 0; at < token.length;) {
      const word = words.find((each) => UNSPACED.test(each) && token.startsWith(each, at));
      if (word) spans.push([index + at, index + at + word.length]);
      at += word?.length ?? 1;
    }
  }
  return spans;
}
