import { PAIRED, PAIRED_RUN, SEGMENTED, segmentWords, WORD } from './scripts.ts';
import { fold } from './terms.ts';
import type { Language } from './languages.ts';

/** Longer words are truncated to this length. */
const MAX_WORD_CHARS = 32;

/** A word of a text in lower case. `paired` marks scripts without spaces: such a word has no stem and cannot be a stop word. */
export interface Word {
  text: string;
  folded: string;
  paired: boolean;
  /** Capitalized other than at the start of a sentence: usually a name. */
  name: boolean;
}

const APOSTROPHE = /['’](s|t|re|ve|ll|d|m)?(?![\p{L}\p{N}])/giu;

/** The words of a text, in order. Text without spaces yields the segmenter's words and each pair of adjacent characters. */
export function splitWords(text: string): Word[] {
  const words: Word[] = [];
  let end = 0;
  const plain = text.normalize('NFKC').replace(APOSTROPHE, (match) => ' '.repeat(match.length));
  for (const { 0: found, index } of plain.matchAll(WORD)) {
    if (PAIRED.test(found) || SEGMENTED.test(found)) {
      for (const pair of splitUnspaced(found)) words.push({ text: pair, folded: fold(pair), paired: true, name: false });
    } else {
      const small = found.toLowerCase().slice(0, MAX_WORD_CHARS);
      const startsSentence = end === 0 || /[.!?:;\n"“(]\s*$/.test(plain.slice(Math.max(0, index - 3), index));
      words.push({ text: small, folded: fold(small), paired: false, name: !startsSentence && /^\p{Lu}/u.test(found) && found !== 'I' });
    }
    end = index + found.length;
  }
  return words;
}

function* splitUnspaced(run: string): Generator<string> {
  // Pairs are added below.
  for (const { segment } of segmentWords(run)) if (SEGMENTED.test(segment) || [...segment].length > 2) yield segment;
  for (const [part] of run.matchAll(PAIRED_RUN)) {
    if (!PAIRED.test(part)) {
      if (!SEGMENTED.test(part)) yield part.toLowerCase();
      continue;
    }
    const chars = [...part];
    if (chars.length === 1) yield part;
    for (let i = 1; i < chars.length; i++) yield `${chars[i - 1] ?? ''}${chars[i] ?? ''}`;
  }
}

/** Cache of stems by language. A language has far fewer distinct words than texts have words. */
const stemCache = new Map<Language, Map<string, string>>();
const MAX_CACHED = 50_000;

/** The index term of a word. */
export function toTerm({ text, folded, paired }: Word, language: Language): string {
  if (paired) return folded;
  let stems = stemCache.get(language);
  if (!stems) stemCache.set(language, (stems = new Map()));
  let stem = stems.get(text);
  if (stem === undefined) {
    if (stems.size >= MAX_CACHED) stems.clear();
    stems.set(text, (stem = /\p{N}/u.test(text) ? folded : language.stem(text)));
  }
  return stem;
}
