import { type Word, splitWords } from '../../search/text/analyze.ts';
import { irregular } from '../../search/text/irregular.ts';
import { ENGLISH } from '../../search/text/languages.ts';
import { type Amount, AMOUNT_MARK, extractAmounts } from './amounts.ts';
import { type NamedDate, extractDates } from './dates.ts';
import { UNIVERSAL_WORDS, ATTITUDES, NEGATIONS, POSSIBLE, PARTIAL_WORDS, toStem } from './contradiction-words.ts';

/** A parsed sentence. Words are stems, without stop words. */
export interface Statement {
  /** As written. */
  text: string;
  negated: boolean;
  past: boolean;
  /** Whether it is about all, or only some. */
  quantity: 'all' | 'some' | undefined;
  /** Whether it is a question, an assumption or a possibility, and so claims nothing. */
  possible: boolean;
  /** Verbs of reported statements, thoughts or wishes. */
  attitudes: string;
  words: ReadonlySet<string>;
  /** Words before the verb, and amounts that are part of a name, as in "Apollo 11". */
  subject: ReadonlySet<string>;
  /** Words after the verb. */
  predicate: ReadonlySet<string>;
  /** Whether the verb is "is" or similar. */
  state: boolean;
  /** Whether the predicate is definite: "the capital of", "Ana's boss". */
  definite: boolean;
  /** Whether it says where something is. */
  placed: boolean;
  /** Words as written, by stem. */
  written: ReadonlyMap<string, string>;
  /** Stems of capitalized words. */
  names: ReadonlySet<string>;
  amounts: readonly Amount[];
  dates: readonly NamedDate[];
}

const STATE_VERBS = new Set('is are am was were be been being become becomes became remain remains remained stay stays stayed'.split(' '));
const PRESENT = new Set('is are am has have does do will can must cannot shall'.split(' '));
const PAST = new Set('was were had did could formerly previously once'.split(' '));
/** Irregular forms of verbs, which come first in the list; `AMBIGUOUS_FORMS` are ambiguous. */
const FORMS = [...irregular].slice(0, [...irregular.keys()].indexOf('children'));
const AMBIGUOUS_FORMS = new Set('left mean meant lay lie light lit hide hang read reads lead felt found saw like'.split(' '));
const PAST_FORMS = new Map(FORMS.filter(([form]) => !form.endsWith('s') && !AMBIGUOUS_FORMS.has(form)));
const VERBS = new Set(FORMS.flat().filter((word) => !AMBIGUOUS_FORMS.has(word)));
const ENDING = /[^aeious]s$|[^s]es$|[^e]ed$/;
/** Words that look like verbs but are not. */
const NO_VERBS = new Set('this its his hers ours theirs yours always perhaps less plus across united hundred limited'.split(' '));
const AUXILIARY = new Set([...STATE_VERBS, ...PRESENT, ...PAST, 'having', 'may', 'might', 'should', 'would']);
const MAX_SENTENCES = 30;

/** Splits a text into sentences and parses them. */
export function parseStatements(text: string): Statement[] {
  return text
    .slice(0, 20_000)
    .split(/(?<=[.!?;])\s+|\n+/)
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
    .slice(0, MAX_SENTENCES)
    .map(parseStatement);
}

function parseStatement(sentence: string): Statement {
  const plain = sentence
    .normalize('NFKC')
    .replaceAll('’', "'")
    .replace(/\b(ca|wo|sha)n't\b/gi, (_, verb: string) => ({ ca: 'can', wo: 'will', sha: 'shall' })[verb.toLowerCase()] + ' not')
    .replace(/\bcannot\b/gi, 'can not')
    .replace(/n't\b/gi, ' not')
    .replace(/\bno longer\b|\bnot any ?more\b/gi, 'not')
    .replace(/\b(fails?|failed|refuses?|refused|unable) to\b/gi, 'not')
    .replace(/\bnot only\b/gi, '')
    // A limit, not a negation; and the "No," of an answer.
    .replace(/\bno (less|fewer|more) than\b/gi, (_, word: string) => (word === 'more' ? 'at most' : 'at least'))
    .replace(/^no, /i, '');
  const { dates, rest: undated } = extractDates(plain);
  const { amounts, rest } = extractAmounts(undated);
  const words = splitWords(rest);
  const verb = findVerb(words);
  const has = (set: ReadonlySet<string>): boolean => words.some(({ text }) => set.has(text));
  const negations = words.filter(({ text }) => NEGATIONS.has(text)).length;
  const notAll = /\bnot (?:all|every|always|everyone|everybody|everything)\b/i.test(plain);
  const counted = words.flatMap(({ text }, index) => {
    const amount = amounts[Number(AMOUNT_MARK.exec(text)?.[1] ?? -1)];
    return amount ? [{ amount, named: index > 0 && index < verb }] : [];
  });
  const content = (from: number, to: number): Word[] => words.slice(from, to).filter(isMeaningful);
  const subject = toStems(content(0, verb));
  for (const { amount, named } of counted) if (named) subject.add(`${amount.low} ${amount.high}`);
  const all = content(0, words.length);
  const capitals = new Set([...rest.matchAll(/\p{Lu}[\p{L}\p{N}]*/gu)].map(([word]) => word.toLowerCase()));
  return {
    text: sentence.trim(),
    negated: negations % 2 === 1,
    past: isPast(words, verb),
    quantity: notAll || has(PARTIAL_WORDS) ? 'some' : has(UNIVERSAL_WORDS) ? 'all' : undefined,
    possible: sentence.trim().endsWith('?') || has(POSSIBLE) || /\bmay\b/.test(rest),
    attitudes: [...new Set(all.map(({ text }) => ENGLISH.stem(text)).filter((stem) => ATTITUDES.has(stem)))].sort().join(' '),
    words: toStems(all),
    subject,
    predicate: toStems(content(verb, words.length)),
    state: STATE_VERBS.has(words[verb]?.text ?? ''),
    definite: /\b(?:is|are|was|were) (?:also )?(?:the|its|his|her|their|our|my|\p{Lu}\S*'s|\p{L}+'s) /u.test(plain),
    placed: /\b(?:is|are|was|were) (?:now |currently )?(?:in|at) \S/.test(plain),
    written: new Map(all.map((word) => [word.paired ? word.text : toStem(word.text), restoreCase(rest, word.text)])),
    names: new Set(all.filter(({ text }) => capitals.has(text)).map(({ text }) => toStem(text))),
    amounts: counted.flatMap(({ amount, named }) => (named ? [] : amount)),
    dates,
  };
}

/** Stop words that carry meaning in statements about a state. */
const MEANINGFUL_STOP_WORDS = new Set(
  'on off own first last before after inside outside up down true false open full new old high low long like'.split(' '),
);

function isMeaningful({ text, folded, paired }: Word): boolean {
  if (AMOUNT_MARK.test(text) || NEGATIONS.has(text) || UNIVERSAL_WORDS.has(text)) return false;
  return paired || MEANINGFUL_STOP_WORDS.has(text) || !ENGLISH.stopWords.has(folded) || /^\p{N}/u.test(text);
}

/** Restores the original capitalization. */
const restoreCase = (text: string, word: string): string => {
  const index = text.toLowerCase().indexOf(word);
  return index < 0 ? word : text.slice(index, index + word.length);
};

const toStems = (words: readonly Word[]): Set<string> => new Set(words.map(({ text, paired }) => (paired ? text : toStem(text))));

/** Position of the verb: an auxiliary, an unambiguous verb form, or a word with a verb ending after another word. */
function findVerb(words: readonly Word[]): number {
  const auxiliary = words.findIndex(({ text }, index) => index > 0 && AUXILIARY.has(text));
  let meaningfulCount = 0;
  for (const [index, word] of words.entries()) {
    const { text, name } = word;
    if (index === auxiliary) return index;
    const isVerbForm = VERBS.has(text) || ENDING.test(text);
    if (meaningfulCount > 0 && isVerbForm && !name && !NO_VERBS.has(text) && (auxiliary < 0 || !ENDING.test(text) || auxiliary > index + 4))
      return index;
    if (isMeaningful(word) || AMOUNT_MARK.test(text)) meaningfulCount++;
  }
  if (auxiliary >= 0) return auxiliary;
  return words.findIndex(isMeaningful) + 1;
}

function isPast(words: readonly Word[], verb: number): boolean {
  const text = words[verb]?.text ?? '';
  if (
    PAST.has(text) ||
    words.some((word, index) => word.text === 'used' && words[index + 1]?.text === 'to' && !PRESENT.has(words[index - 1]?.text ?? ''))
  )
    return true;
  if (PRESENT.has(text)) return false;
  return PAST_FORMS.has(text) || (text.length > 4 && /[^e]ed$/.test(text));
}
