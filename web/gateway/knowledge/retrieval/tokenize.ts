import { PAIRED, PAIRED_RUN, SEGMENTED, segmentWords, WORD } from './scripts.ts';

/** Words too common to distinguish texts. */
const STOP_WORDS = new Set(
  (
    'a an and any are as at be been but by can could did do does for from had has have how i if in into is it its just me my of on or our ' +
    'please s so some t than that the their them then there these they this to us was we were what when where which who whom why will with ' +
    'would you your about tell show know use used uses using thing things something anything'
  ).split(' '),
);

/** Removes the most common English endings, so that `models`, `adding` and `stored` match `model`, `add` and `store`. */
export function stem(word: string): string {
  // Longer strings are not words: keys and the like.
  if (!/^[a-z]{4,40}$/.test(word)) return word;
  let root = word;
  if (/(ss|sh|ch|x|z)es$/.test(root)) root = root.slice(0, -2);
  else if (/[^aeiou]ies$/.test(root)) root = `${root.slice(0, -3)}y`;
  else if (/[^su]s$/.test(root)) root = root.slice(0, -1);
  const cut = /^(.*[aeiouy].*)(ing|ed)$/.exec(root)?.[1];
  if (cut !== undefined && cut.length >= 3) root = cut.length > 3 && /([^aeiouylsz])\1$/.test(cut) ? cut.slice(0, -1) : cut;
  if (root.length > 5 && root.endsWith('ly')) root = root.slice(0, -2);
  // `store` and `stor(ed)` must match.
  return root.length > 3 && root.endsWith('e') ? root.slice(0, -1) : root;
}

function toPairs(run: string): string[] {
  const chars = [...run];
  if (chars.length === 1) return chars;
  return chars.slice(0, -1).map((char, i) => char + (chars[i + 1] ?? ''));
}

function splitRun(text: string): string[] {
  if (PAIRED.test(text)) return (text.match(PAIRED_RUN) ?? []).flatMap((run) => (PAIRED.test(run) ? toPairs(run) : splitRun(run)));
  if (SEGMENTED.test(text)) return segmentWords(text).map(({ segment }) => segment);
  return [text];
}

/** The search terms of a text: folded, stemmed, without stop words. Used for documents and queries alike. */
export function tokenize(text: string): string[] {
  const folded = text.normalize('NFKC').toLowerCase().replaceAll('’', "'").replaceAll(/'s\b/g, '');
  return (folded.match(WORD) ?? [])
    .flatMap(splitRun)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem);
}
