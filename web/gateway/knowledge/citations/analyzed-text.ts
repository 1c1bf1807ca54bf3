import { toTerm } from '../search/text/analyze.ts';
import { detectLanguage, ENGLISH, type Language } from '../search/text/languages.ts';
import { PAIRED, SEGMENTED, segmentWords, WORD } from '../search/text/scripts.ts';
import { fold } from '../search/text/terms.ts';
import type { TextSpan } from './sentences.ts';

/** A word of a text. */
export interface TextToken extends TextSpan {
  folded: string;
  term: string;
  /** Distinguishes texts: no function word, no number. */
  isContent: boolean;
  /**
   * `sure`: written like a name, such as `XR-200` or `NATO`, or capitalized within a sentence. `maybe`: capitalized at the start of a sentence,
   * or in a language that capitalizes nouns.
   */
  name: 'sure' | 'maybe' | undefined;
}

/** Words of replies that say nothing about their subject. */
const FILLERS = new Set(
  `about approximately around roughly also according document documents source sources states stated says said notes noted reports reported mentions
mentioned passage text however therefore thus additionally furthermore moreover currently overall specifically namely e.g i.e etc answer question based
provided given there here this that these those it its they them their he his she her which who whom whose what when where while as well such both
laut dokument quelle quellen gemäß etwa rund ungefähr ca zudem außerdem jedoch daher ferner somit derzeit insgesamt
selon document environ également cependant donc según documento aproximadamente también embargo`.split(/\s+/),
);

/** Function words that the list for searches leaves in. */
const AUXILIARIES = new Set(
  `am been being were was is are be has had have having does did do will would shall should can could may might must than then them they he she his her him
into onto over under between among through during before after above below up down out off again further once only own same so too very just any
some each few more most other no nor not never none without neither own because until against per via within across along since though although yet`.split(
    /\s+/,
  ),
);

/** The language of a text, or undefined if it is not clear. */
export function detectTextLanguage(text: string): Language | undefined {
  return detectLanguage([...text.slice(0, 4000).matchAll(WORD)].map(([word]) => fold(word)));
}

/** The words of a part of a text. */
export function tokenize(text: string, { start, end }: TextSpan, language: Language = ENGLISH): TextToken[] {
  const tokens: TextToken[] = [];
  let isFirst = true;
  const add = (word: string, at: number, paired: boolean): void => {
    const folded = fold(word);
    const isNumber = /^\p{N}+$/u.test(word);
    const isContent = !isNumber && (paired || (!language.functionWords.has(folded) && !AUXILIARIES.has(folded) && !FILLERS.has(folded)));
    const small = word.toLowerCase().slice(0, 32);
    const name = paired || !isContent ? undefined : getNameKind(word, isFirst, language);
    tokens.push({
      ...{ start: at, end: at + word.length, folded, isContent, name },
      term: isNumber ? folded : toTerm({ text: small, folded, paired, name: false }, language),
    });
    isFirst = false;
  };
  for (const { 0: word, index } of text.slice(start, end).matchAll(WORD)) {
    const at = start + index;
    if (SEGMENTED.test(word)) for (const part of segmentWords(word)) add(part.segment, at + part.index, true);
    else if (PAIRED.test(word)) {
      for (let offset = 0; offset < Math.max(1, word.length - 1); offset++) add(word.slice(offset, offset + 2), at + offset, true);
    } else add(/^[stdm]$/.test(word) && /['’]$/.test(text.slice(Math.max(0, at - 1), at)) ? '' : word, at, false);
  }
  return tokens.filter(({ start: from, end: to }) => to > from);
}

function getNameKind(word: string, isFirst: boolean, { name }: Language): TextToken['name'] {
  if (/^\P{Lu}+$/u.test(word)) return /\p{L}\p{N}|\p{N}\p{L}/u.test(word) && !/^\d+(?:st|nd|rd|th|s)$/.test(word) ? 'sure' : undefined;
  if (/^\p{Lu}?.*\p{Lu}/u.test(word.slice(1)) || /\p{N}/u.test(word)) return 'sure';
  return isFirst || name === 'german' ? 'maybe' : 'sure';
}
