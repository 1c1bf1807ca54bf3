import type { ConceptScores } from '../../search/concept-scores.ts';
import { splitWords } from '../../search/text/analyze.ts';
import { CAUSE_WORDS, type MemoryIndex, MONEY_WORDS, NUMBER_WORDS } from './memory-index.ts';
import type { RankedPassage } from './rank.ts';
import { parseSpoken } from './spoken.ts';

/** Signals by which the best passages are ordered again, from 0 to 1. */
export const FEATURES = [
  /** Score of the first ranking, relative to the best. */
  'score',
  /** Position in the first ranking. */
  'first',
  /** Share of the query's words, by worth, in the passage itself, and only around it. */
  'own',
  'borrowed',
  /** Share of the words that the passage has in nearly full measure, not as a distant relation. */
  'exact',
  /** Worth of its rarest word of the query. */
  'rarest',
  /** Share of the query's words in the turn before, if that is a question, if not, and in the turn after. */
  'answers',
  'before',
  'after',
  /** The person named in the query says it; somebody else does; it mentions the person. */
  'speaker',
  'stranger',
  'mentions',
  /** It is said in the first person, by the person named if there is one. */
  'firstPerson',
  /** Terms shared with the best passages. */
  'feedback',
  /** Score of the whole conversation. */
  'thread',
  'asks',
  /** Length of a turn: a short one rarely says anything by itself, but a short note does. */
  'short',
  'long',
  /** A time that the query names. */
  'timely',
  /** Kind of content that the query asks for. */
  'when',
  'number',
  'name',
  'cause',
  /** Denials, for a query that asks for one. */
  'denies',
  /** Age, for all queries and for those about the present. */
  'recent',
  'current',
  /** Interactions with queries that ask for several things. */
  'listOwn',
  'listBorrowed',
  'listFeedback',
  'listFirstPerson',
  'listName',
] as const;
export type Feature = (typeof FEATURES)[number];

/** What the words of a query ask for. */
interface Demand {
  /** Folded names of people in the query who speak in the conversations. */
  people: ReadonlySet<string>;
  asksWhen: boolean;
  asksNumber: boolean;
  asksName: boolean;
  asksCause: boolean;
  denies: boolean;
  isCurrent: boolean;
  isList: boolean;
}

const WHEN = /\b(when|what (date|day|year|month|time)|how long|how often|since when|wann|seit wann|cuándo)\b|いつ|何曜日/iu;
const COUNTED = /\b(how (many|much|old|far|tall|big|long)|what (price|cost|number|percentage|size)|cost|wie viele?)\b|いくつ|いくら/iu;
const NAMED =
  /\b(who|whose|whom|what('s| is| was) the name|called|named|which|where|wer|wem|wen|wo|wohin|welche[rsnm]?)\b|誰|どこ|どの|名前/iu;
const REASON = /\b(why|what (reason|made|caused)|warum|weshalb)\b|なぜ|理由/iu;
const DENIAL =
  /\b(not|no|never|none|nobody|nothing|without|except|cannot|avoid\w*|refus\w*|reject\w*|dislike\w*|declin\w*|skip\w*|miss(ed|ing)|absent|kein\w*|nicht|nie|ohne)\b|n['’]t\b|ない|ません|だめ/iu;
const PRESENT =
  /\b(now|current(ly)?|present|these days|at the moment|today|latest|still|after all|jetzt|inzwischen|aktuell\w*|derzeit)\b|今|現在/iu;
/** Several things are asked for: plural nouns after "which" or "what", counts, and perfect tenses about a person's past. */
const LIST =
  /\b(how many|list|which \w+s|what (\w+ )?(\w*[^s\s]s)\b|what (kinds?|types?|sorts?)|what all|both|each|all the|(what|which|where|who(m)?)( \w+){0,2} (has|have|had) |wie viele|welche \w+(n|s|er)\b|alles)|überall|いくつ|すべて|全部/iu;
const FIRST_PERSON = /\b(i|me|my|mine|myself|we|us|our|ours|ich|mich|mir|mein\w*|wir|uns|unser\w*)\b|私|僕|うち/iu;
/** A capital within a sentence, as names have. */
const INNER_CAPITAL = /[^.!?:\s]\s+\p{Lu}/u;
/** Passages with at least this number of meaningful words count as long. */
const LONG_WORDS = 25;
const SHORT_WORDS = 6;
/** Share of a word's worth from which a passage has it nearly in full. */
const NEAR_FULL = 0.6;

export function parseDemand(query: string, index: MemoryIndex): Demand {
  const people = new Set(splitWords(query).flatMap(({ folded }) => (index.speakers.has(folded) ? [folded] : [])));
  if (people.size === 0 && index.speakers.has('user') && FIRST_PERSON.test(query)) people.add('user');
  return {
    people,
    asksWhen: WHEN.test(query),
    asksNumber: COUNTED.test(query),
    asksName: NAMED.test(query),
    asksCause: REASON.test(query),
    denies: DENIAL.test(query),
    isCurrent: PRESENT.test(query),
    isList: LIST.test(query),
  };
}

/** Rows of features of the candidates, which are in the order of the first ranking. */
export function computeFeatures(
  index: MemoryIndex,
  demand: Demand,
  candidates: readonly RankedPassage[],
  concepts: readonly ConceptScores[],
): Float64Array[] {
  const topics = concepts.filter(({ concept }) => concept.word !== null && !concept.terms.some(({ term }) => term.startsWith('@')));
  const names = concepts.filter(({ concept }) => concept.word !== null && concept.terms.some(({ term }) => term.startsWith('@')));
  const expansion = concepts.filter(({ concept }) => concept.word === null && !/^[@#]/.test(concept.terms[0]?.term ?? ''));
  const total = sum(topics, ({ worth }) => worth) || 1;
  const highest = topics.reduce((max, { worth }) => Math.max(max, worth), 0) || 1;
  const expansionTotal = sum(expansion, ({ worth }) => worth) || 1;
  const top = candidates[0]?.score ?? 1;
  const bestThread = candidates.reduce((max, { thread }) => Math.max(max, thread), 0) || 1;
  const ages = candidates.flatMap(({ number }) => index.getTime(number) ?? []);
  const [oldest, newest] = [Math.min(...ages), Math.max(...ages)];
  const cover = (number: number): number =>
    number === -1 ? 0 : sum(topics, ({ worth, scores }) => Math.min(worth, scores[number] ?? 0)) / total;
  const known = new Map<string, boolean>();
  const isNamed = (speaker: string): boolean => {
    let is = known.get(speaker);
    if (is === undefined) known.set(speaker, (is = splitWords(speaker).some(({ folded }) => demand.people.has(folded))));
    return is;
  };
  return candidates.map(({ number, score, coverage, timely, thread }, rank) => {
    const passage = index.passage(number);
    const { speaker, text } = passage ? parseSpoken(passage) : { speaker: undefined, text: '' };
    const isSpeaker = speaker !== undefined && isNamed(speaker);
    const isFirstPerson = (isSpeaker || demand.people.size === 0) && FIRST_PERSON.test(text);
    const [previous, next] = [index.previous[number] ?? -1, index.next[number] ?? -1];
    const [own, before, after] = [cover(number), cover(previous), cover(next)];
    const at = index.getTime(number);
    const recent = at === null || newest <= oldest ? 0 : (at - oldest) / (newest - oldest);
    const length = index.lengths[number] ?? 0;
    const shared = sum(expansion, ({ worth, scores }) => Math.min(worth, scores[number] ?? 0)) / expansionTotal;
    const borrowed = Math.max(0, Math.min(1, coverage) - own);
    const list = Number(demand.isList);
    const isTurn = Number(speaker !== undefined);
    const hasName = Number((demand.asksName || demand.isList) && INNER_CAPITAL.test(text));
    const values: Record<Feature, number> = {
      score: score / top,
      first: 1 / (1 + rank / 5),
      own,
      borrowed,
      exact: sum(topics, ({ worth, scores }) => ((scores[number] ?? 0) >= NEAR_FULL * worth ? worth : 0)) / total,
      rarest: topics.reduce((max, { worth, scores }) => ((scores[number] ?? 0) > 0 ? Math.max(max, worth) : max), 0) / highest,
      answers: previous !== -1 && index.asks(previous) ? before : 0,
      before: previous !== -1 && !index.asks(previous) ? before : 0,
      after,
      speaker: Number(demand.people.size > 0 && isSpeaker),
      stranger: Number(demand.people.size > 0 && speaker !== undefined && !isSpeaker),
      mentions: Number(!isSpeaker && names.some(({ scores }) => (scores[number] ?? 0) > 0)),
      firstPerson: Number(isFirstPerson),
      feedback: shared,
      thread: thread / bestThread,
      asks: Number(index.asks(number)),
      short: isTurn * Math.max(0, 1 - length / SHORT_WORDS),
      long: isTurn * Math.min(1, length / LONG_WORDS),
      timely,
      when: Number(demand.asksWhen && index.mentionsTime(number)),
      number: Number(demand.asksNumber && (NUMBER_WORDS.test(text) || MONEY_WORDS.test(text))),
      name: Number(demand.asksName) * hasName,
      cause: Number(demand.asksCause && CAUSE_WORDS.test(text)),
      denies: Number(demand.denies && DENIAL.test(text)),
      recent,
      current: Number(demand.isCurrent) * recent,
      listOwn: list * own,
      listBorrowed: list * Math.max(before, after),
      listFeedback: list * shared,
      listFirstPerson: list * Number(isFirstPerson && isSpeaker),
      listName: list * hasName,
    };
    return Float64Array.from(FEATURES, (feature) => values[feature]);
  });
}

const sum = <T>(all: readonly T[], get: (each: T) => number): number => all.reduce((total, each) => total + get(each), 0);
