import { extractTerms } from '../../search/text/extract-terms.ts';
import { isInformative } from '../is-informative.ts';

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Phrases in front of a statement that do not belong to it. */
const FRAME = new RegExp(
  `^(?:${[
    'for the record',
    'just so you know',
    '(?:just )?(?:a )?(?:quick )?(?:update|correction|reminder|note)(?=[:,–-])',
    'by the way',
    'fyi',
    'as (?:we|i) (?:discussed|said|mentioned|talked about)[^,.:]{0,40}',
    '(?:please )?(?:note|remember|keep in mind)(?: that)?',
    '(?:the )?user (?:has )?(?:said|says|mentioned|told me|noted|confirmed|stated)(?: that)?',
    'i (?:just )?wanted to (?:say|mention|tell you|let you know)(?: that)?',
    'übrigens',
    'zur info',
    'au fait',
    'pour info',
    'por cierto',
    'a propósito',
    'a proposito',
    'trouwens',
    'кстати',
  ].join('|')})\\s*[:,–-]?\\s+`,
  'iu',
);

/** Phrases after a statement that do not belong to it. */
const TAIL =
  /,? (?:as (?:we|i) (?:discussed|said|mentioned|talked about)|in case (?:you|it|that)|just so you know|so that you know|for (?:the record|later|(?:future )?reference)|by the way)(?: [\p{L}]+){0,6}(?=[.!]?$)/iu;

/** Words about the conversation itself rather than its subject. */
const TALK_TERMS = new Set(
  extractTerms(
    'remember note noted save saved record mention mentioned tell told know forget important later reference conversation discuss talk today chat ask asked thank thanks please sure keep mind handy useful future want wanted said say good great okay',
  ),
);

/** Removes the phrases around a statement. */
export function stripFrame(sentence: string): string {
  let text = sentence.trim().replace(TAIL, '');
  for (let before = ''; before !== text;) {
    before = text;
    text = text.replace(FRAME, '');
  }
  return text === sentence.trim() || text === '' ? sentence.trim() : text.charAt(0).toUpperCase() + text.slice(1);
}

const word = (all: string): string => `(?<![\\p{L}\\p{N}])(?:${all})(?![\\p{L}\\p{N}])`;

/** Words that mark a statement as newer than others, in the languages of the app. */
export const CUE = new RegExp(
  [
    word('now|nowadays|currently|these days|from now on|as of (?:now|today)|instead|after all|actually'),
    word('jetzt|inzwischen|mittlerweile|neuerdings|nun|ab sofort|doch'),
    word('maintenant|désormais|dorénavant|à présent|finalement'),
    word('ahora|actualmente|desde ahora|ahora mismo|finalmente'),
    word('adesso|ora|ormai|attualmente'),
    word('agora|atualmente|neste momento'),
    word('nu|tegenwoordig|voortaan'),
    word('teraz|obecnie'),
    word('теперь|сейчас|ныне'),
    word('الآن|حاليا|حاليًا'),
    '现在|如今|目前|今は|現在|いまは|지금은?|이제',
  ].join('|'),
  'giu',
);

/** A move says where somebody lives from then on. */
const MOVE = /\b(?:has |have |had |just |recently )*(?:moved|relocated)(?: house| home| away)? (?:from [\p{L} ]{1,40}? )?to\b/giu;
const LIVES = 'lives in';

/** A statement without phrases that only say when it became true. */
export function toPlainStatement(text: string): string {
  const plain = stripFrame(text).replace(MOVE, LIVES).replace(CUE, ' ');
  return plain
    .replace(/\s+/g, ' ')
    .replace(/\s+(?=[.,;:!])/g, '')
    .trim();
}

/** The sentences of a text, without surrounding white space. */
export const splitSentences = (text: string): string[] =>
  text.split('\n').flatMap((line) => [...segmenter.segment(line)].flatMap(({ segment }) => (segment.trim() === '' ? [] : segment.trim())));

/** Whether a sentence states something about the world, not only about the conversation. */
export const isFactual = (sentence: string): boolean =>
  isInformative(sentence) && (/\p{N}/u.test(sentence) || extractTerms(sentence).filter((term) => !TALK_TERMS.has(term)).length >= 3);

const MAX_CACHED_TERMS = 20_000;
const termCache = new Map<string, ReadonlySet<string>>();

/** The index terms of a text. Cached, because each night compares the same texts many times. */
export function getTerms(text: string): ReadonlySet<string> {
  let terms = termCache.get(text);
  if (!terms) {
    if (termCache.size >= MAX_CACHED_TERMS) termCache.clear();
    termCache.set(text, (terms = new Set(extractTerms(text))));
  }
  return terms;
}
