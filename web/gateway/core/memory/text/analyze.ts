import { PAIRED, PAIRED_RUN, SEGMENTED, WORD } from '../../retrieval/scripts.ts';
import { fold } from '../../retrieval/terms.ts';
import type { Language } from './languages.ts';

/** Longer words are known by their beginning. */
const LONGEST = 32;
const segmenter = new Intl.Segmenter('ja', { granularity: 'word' });

/** A word of a text in small letters; `paired` where its script has no spaces, so that it has no stem and cannot be a stop word. */
export interface Word {
  text: string;
  folded: string;
  paired: boolean;
  /** Written with a capital where no sentence begins: a name, as a rule. */
  name: boolean;
}

const APOSTROPHE = /['’](s|t|re|ve|ll|d|m)?(?![\p{L}\p{N}])/giu;

/** The words of a text, in their order. Texts without spaces give the words that a segmenter sees, and each pair of neighbours. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let end = 0;
  const plain = text.normalize('NFKC').replace(APOSTROPHE, (match) => ' '.repeat(match.length));
  for (const { 0: found, index } of plain.matchAll(WORD)) {
    if (PAIRED.test(found) || SEGMENTED.test(found)) {
      for (const each of withoutSpaces(found)) words.push({ text: each, folded: fold(each), paired: true, name: false });
    } else {
      const small = found.toLowerCase().slice(0, LONGEST);
      const begins = end === 0 || /[.!?:;\n"“(]\s*$/.test(plain.slice(Math.max(0, index - 3), index));
      words.push({ text: small, folded: fold(small), paired: false, name: !begins && /^\p{Lu}/u.test(found) && found !== 'I' });
    }
    end = index + found.length;
  }
  return words;
}

function* withoutSpaces(run: string): Generator<string> {
  for (const { segment, isWordLike } of segmenter.segment(run)) {
    // Pairs are given below.
    if (isWordLike === true && (SEGMENTED.test(segment) || [...segment].length > 2)) yield segment;
  }
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

/** Stems that were worked out, by language: a language has far fewer words than texts have. */
const known = new Map<Language, Map<string, string>>();
const MOST_KNOWN = 50_000;

/** The term of a word, as it is looked up. */
export function termOf({ text, folded, paired }: Word, language: Language): string {
  if (paired) return folded;
  let stems = known.get(language);
  if (!stems) known.set(language, (stems = new Map()));
  let stem = stems.get(text);
  if (stem === undefined) {
    if (stems.size >= MOST_KNOWN) stems.clear();
    stems.set(text, (stem = /\p{N}/u.test(text) ? folded : language.stem(text)));
  }
  return stem;
}
