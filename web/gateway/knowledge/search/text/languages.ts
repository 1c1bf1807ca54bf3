import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as hungarian } from '@orama/stemmers/hungarian';
import { stemmer as indonesian } from '@orama/stemmers/indonesian';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian';
import { stopwords as arabicStop } from '@orama/stopwords/arabic';
import { stopwords as danishStop } from '@orama/stopwords/danish';
import { stopwords as dutchStop } from '@orama/stopwords/dutch';
import { stopwords as englishStop } from '@orama/stopwords/english';
import { stopwords as finnishStop } from '@orama/stopwords/finnish';
import { stopwords as frenchStop } from '@orama/stopwords/french';
import { stopwords as germanStop } from '@orama/stopwords/german';
import { stopwords as greekStop } from '@orama/stopwords/greek';
import { stopwords as hungarianStop } from '@orama/stopwords/hungarian';
import { stopwords as indonesianStop } from '@orama/stopwords/indonesian';
import { stopwords as italianStop } from '@orama/stopwords/italian';
import { stopwords as norwegianStop } from '@orama/stopwords/norwegian';
import { stopwords as portugueseStop } from '@orama/stopwords/portuguese';
import { stopwords as romanianStop } from '@orama/stopwords/romanian';
import { stopwords as russianStop } from '@orama/stopwords/russian';
import { stopwords as spanishStop } from '@orama/stopwords/spanish';
import { stopwords as swedishStop } from '@orama/stopwords/swedish';
import { stopwords as turkishStop } from '@orama/stopwords/turkish';
import { stopwords as ukrainianStop } from '@orama/stopwords/ukrainian';
import { FUNCTION_WORDS } from './function-words.ts';
import { fold } from './terms.ts';
import { irregular } from './irregular.ts';

/** Language data: stemming and stop words. */
export interface Language {
  readonly name: string;
  /** Returns the stem of a lower-case word. */
  stem(word: string): string;
  /** Words too common to distinguish what people say. Case and accents are folded. */
  readonly stopWords: ReadonlySet<string>;
  /** Words too common to distinguish documents, where `off` and `own` do; the same as `stopWords` if there is no list of their own. */
  readonly functionWords: ReadonlySet<string>;
}

/** Words of questions to a program, in addition to function words. */
const ENGLISH_QUESTION_WORDS =
  'any been could just our please some than them then these they those would about tell show know use used uses using thing things something anything whom why'.split(
    ' ',
  );

/** Words of questions and conversation that the stop-word list for prose lacks. */
const ENGLISH_TALK =
  "did does doing done get got gets getting one ones would could should will can may might shall just like really also even ever still yet much many lot thing things something anything someone anyone way kind sort say says said tell told tells know knows knew think thinks thought yeah yes oh ok okay hey hi hello please thanks thank um uh haha lol wow well anyway actually maybe gonna wanna that's it's i'm don't didn't".split(
    ' ',
  );

function createLanguage(
  name: string,
  stemmer: (word: string) => string,
  words: readonly string[],
  functionWords?: ReadonlySet<string>,
): Language {
  const stopWords = new Set(words.flatMap((word) => fold(word).split("'").concat(fold(word).replace("'", ''))));
  return { name, stem: (word) => fold(stemmer(word)), stopWords, functionWords: functionWords ?? stopWords };
}

/** Normalizes British to American spelling: `colour` to `color`, `organise` to `organize`. */
const toAmericanSpelling = (word: string): string =>
  word.replace(/(?<=[a-z]{3})our(?=$|s$|ed$|ing$|ite)/, 'or').replace(/(?<=[a-z]{4})is(?=e$|es$|ed$|ing$|ation)/, 'iz');

export const ENGLISH: Language = createLanguage(
  'english',
  (word) => english(toAmericanSpelling(irregular.get(word) ?? word)),
  [...englishStop, ...ENGLISH_TALK],
  new Set([...FUNCTION_WORDS, ...ENGLISH_QUESTION_WORDS]),
);

/** All supported languages. A snapshot of an index refers to them by position. */
export const LANGUAGES: readonly Language[] = [
  ENGLISH,
  createLanguage('arabic', arabic, arabicStop),
  createLanguage('danish', danish, danishStop),
  createLanguage('dutch', dutch, dutchStop),
  createLanguage('finnish', finnish, finnishStop),
  createLanguage('french', french, frenchStop),
  createLanguage('german', german, germanStop),
  createLanguage('greek', greek, greekStop),
  createLanguage('hungarian', hungarian, hungarianStop),
  createLanguage('indonesian', indonesian, indonesianStop),
  createLanguage('italian', italian, italianStop),
  createLanguage('norwegian', norwegian, norwegianStop),
  createLanguage('portuguese', portuguese, portugueseStop),
  createLanguage('romanian', romanian, romanianStop),
  createLanguage('russian', russian, russianStop),
  createLanguage('spanish', spanish, spanishStop),
  createLanguage('swedish', swedish, swedishStop),
  createLanguage('turkish', turkish, turkishStop),
  createLanguage('ukrainian', ukrainian, ukrainianStop),
];

/** Maximum number of words examined to detect the language. */
const MAX_DETECTION_WORDS = 400;
/** Minimum ratio of stop words to those of the second-best language. */
const MIN_RATIO = 1.15;

/** Detects the language by the share of its stop words; undefined if the result is not clear, as for a few words or a list of names. */
export function detectLanguage(words: readonly string[]): Language | undefined {
  const sample = words.slice(0, MAX_DETECTION_WORDS);
  const counts = LANGUAGES.map((language) => ({
    each: language,
    count: sample.reduce((sum, word) => sum + (language.stopWords.has(word) ? 1 : 0), 0),
  }));
  const [first, second] = counts.sort((a, b) => b.count - a.count);
  return first && first.count >= 2 && first.count >= MIN_RATIO * (second?.count ?? 0) ? first.each : undefined;
}
