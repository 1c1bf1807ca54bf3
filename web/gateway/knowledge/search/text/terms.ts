import { PAIRED, PAIRED_RUN, SEGMENTED, segmentWords, WORD } from './scripts.ts';

/** Longer words are truncated: keys, hashes and the like would fill the index. */
const MAX_TERM_CHARS = 32;
/** Accents of Latin, Greek and Cyrillic. In other scripts, marks are part of the letters. */
const ACCENTS = /[\u0300-\u036f]/g;
const ASCII = /^[\0-\x7f]*$/;
const PLAIN_WORD = /[a-z0-9]+/g;

/** Folds a text for comparison: ignores case, width and accents. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  return ASCII.test(lower) ? lower : lower.normalize('NFKD').replace(ACCENTS, '').normalize('NFKC').toLowerCase().replaceAll('ß', 'ss');
}

/**
 * Calls `onTerm` with each term of a text and its position in UTF-16 units. A term is a folded word. In scripts without spaces it is a pair
 * of adjacent characters, or the last character of a run, so that each character begins a term.
 */
export function forEachTerm(text: string, onTerm: (term: string, start: number, end: number) => void): void {
  if (ASCII.test(text)) {
    for (const { 0: word, index } of text.toLowerCase().matchAll(PLAIN_WORD))
      onTerm(word.slice(0, MAX_TERM_CHARS), index, index + word.length);
    return;
  }
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (ASCII.test(word)) onTerm(word.toLowerCase().slice(0, MAX_TERM_CHARS), index, index + word.length);
    else if (!PAIRED.test(word)) forEachPlain(word, index, onTerm);
    else {
      for (const { 0: run, index: offset } of word.matchAll(PAIRED_RUN)) {
        if (PAIRED.test(run)) forEachPair(run, index + offset, onTerm);
        else forEachPlain(run, index + offset, onTerm);
      }
    }
  }
}

function forEachPlain(word: string, index: number, onTerm: (term: string, start: number, end: number) => void): void {
  if (!SEGMENTED.test(word)) return emitWord(word, index, onTerm);
  for (const { segment, index: offset } of segmentWords(word)) emitWord(segment, index + offset, onTerm);
}

/** Folding may expand a character (`½`, `ﬁ`), also to characters that are not letters. */
function emitWord(word: string, index: number, onTerm: (term: string, start: number, end: number) => void): void {
  for (const [part] of fold(word).matchAll(WORD)) onTerm(part.slice(0, MAX_TERM_CHARS), index, index + word.length);
}

function forEachPair(run: string, index: number, onTerm: (term: string, start: number, end: number) => void): void {
  const chars = [...run];
  let position = index;
  chars.forEach((char, i) => {
    const next = chars[i + 1] ?? '';
    onTerm(fold(char + next), position, position + char.length + next.length);
    position += char.length;
  });
}
