import { ENGLISH } from '../../search/text/languages.ts';

const splitLines = (text: string): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
const splitWords = (text: string): string[] => text.trim().split(/\s+/);
const toStems = (text: string): ReadonlySet<string> => new Set(splitWords(text).map((word) => ENGLISH.stem(word)));

/** Synonyms by the stem of the first word. Stricter than in search, where "mother" may match "parent". */
const SYNONYMS = new Map(
  splitLines(`
own possess
big large
small little
start begin commence
end finish conclude
buy purchase
film movie
locate situate based headquartered
need require
allow permit
live lives reside dwell
founded establish
marry wed
employee staff worker
car automobile
favourite preferred
ceo chief
author writer
support handle
`).flatMap(([first = '', ...rest]) => rest.map((each): [string, string] => [ENGLISH.stem(each), ENGLISH.stem(first)])),
);

export function toStem(word: string): string {
  const stem = ENGLISH.stem(word);
  return SYNONYMS.get(stem) ?? stem;
}

/** Predicates of "is" that exclude each other. */
const OPPOSITE_STATES = splitLines(`
open closed shut
alive dead
true false untrue
on off
enabled disabled
allowed forbidden prohibited banned
required optional
mandatory optional voluntary
public private
free paid
single married divorced widowed
hot cold
warm cold
high low
tall short
big small
long short
fast slow
safe dangerous
synchronous asynchronous
male female
full empty
strong weak
cheap expensive
easy difficult
easy hard
early late
new old
young old
rich poor
heavy light
wet dry
clean dirty
guilty innocent
legal illegal
online offline
active inactive
finished unfinished
complete incomplete
present absent
vegan carnivorous
vegetarian carnivorous
native foreign
permanent temporary
available unavailable
correct wrong incorrect
right wrong
healthy sick ill
happy sad
read-only writable
mutable immutable
stable unstable
deprecated recommended
red orange yellow green blue purple pink brown black white grey gray
cat dog rabbit hamster horse parrot cow sheep goat pig
square round triangular
north south east west
republic monarchy
`);

/** Verbs that exclude each other. */
const OPPOSITE_VERBS = splitLines(`
like dislike hate
love hate dislike
increase decrease
increase reduce
raise lower
rise fall
grow shrink
win lose
succeed fail
accept reject
accept refuse
allow forbid
allow prevent
allow prohibit
enable disable
include exclude
arrive depart
support oppose
confirm deny
agree disagree
before after
inside outside
cause prevent
encrypt unencrypted
`);

const toOpposites = (sets: string[][]): ReadonlyMap<string, ReadonlySet<string>> => {
  const opposite = new Map<string, Set<string>>();
  for (const set of sets.map((set) => set.map(toStem)))
    for (const word of set) for (const other of set) if (word !== other) opposite.set(word, (opposite.get(word) ?? new Set()).add(other));
  return opposite;
};
const states = toOpposites(OPPOSITE_STATES);
const acts = toOpposites(OPPOSITE_VERBS);
const PREFIX = /^(un|in|im|dis|non|il|ir)(?=.{4})/;

/** Whether two stems exclude each other; `state`: both are predicates of "is". */
export function areOpposite(a: string, b: string, state: boolean): boolean {
  if (acts.get(a)?.has(b) === true || (state && states.get(a)?.has(b) === true)) return true;
  return a !== b && (a.replace(PREFIX, '') === b || b.replace(PREFIX, '') === a);
}

export const NEGATIONS: ReadonlySet<string> = new Set(
  splitWords('not never no none nobody nothing nowhere neither nor without hardly barely lacks lack lacked lacking'),
);
export const UNIVERSAL_WORDS: ReadonlySet<string> = new Set(splitWords('all every each always everybody everyone everything entirely'));
export const PARTIAL_WORDS: ReadonlySet<string> = new Set(
  splitWords('some many most few several sometimes often usually partly rarely seldom occasionally typically generally certain various'),
);
/** Words that mark a statement as possible, asked or supposed. */
export const POSSIBLE: ReadonlySet<string> = new Set(
  splitWords(
    'may might could perhaps maybe possibly probably likely if unless whether would should supposedly allegedly apparently rumoured',
  ),
);
/** Verbs of thinking, wanting or saying, which do not make a statement true. */
export const ATTITUDES = toStems(
  'say think believe claim want hope ask wish plan doubt assume suggest expect deny argue fear dream pretend intend consider',
);
/** Events that happen to a subject once, and so have one date. */
export const ONE_TIME_EVENTS = toStems(
  'born die death founded establish release launch start begin end finish graduate marry birthday deadline due expire schedule appoint elect happen publish inaugurate birth date retire complete construct build invent discover sign merge acquire open move join',
);
/** Attributes of which a subject has only one. */
export const UNIQUE_ATTRIBUTES = toStems(
  'capital colour price name age ceo owner author birthday password licence license status location address version default timezone currency population size manager director president chancellor king queen mayor headquarters deadline height weight length width depth speed surname nickname title language nationality birthplace wife husband spouse mother father boss chair chairman editor publisher maintainer leader winner captain principal email number purpose cause symbol format protocol port limit host hometown profession maximum minimum favourite main primary only current official largest smallest tallest biggest highest longest oldest youngest first last best worst',
);
/** Verbs that usually have only one object or place at a time. */
export const UNIQUE_VERBS = toStems(
  'live locate base born die marry belong headquarter name call work study employ own write founded direct invent discover compose',
);
