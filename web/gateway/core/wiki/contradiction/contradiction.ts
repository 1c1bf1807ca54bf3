import { Breath } from '../../documents/breath.ts';
import { type Claim, ClaimStatus } from '../claim.ts';
import { kindsOf } from './places.ts';
import { exclude } from './amounts.ts';
import { differ } from './dates.ts';
import { type Statement, statementsOf } from './statement.ts';
import { areOpposite, ONCE, SINGLE, SINGLE_VERBS } from './words.ts';

export type ContradictionKind = 'negation' | 'value';

/** Why two texts cannot both be so. */
export interface Conflict {
  kind: ContradictionKind;
  /** A sentence. */
  reason: string;
}

/** A claim that cannot be so where another one is. */
export interface Contradiction extends Conflict {
  claim: Claim;
}

export interface ContradictingPair extends Conflict {
  claims: [Claim, Claim];
}

/** Words that one side may say beyond the other: more, and it speaks of something else. */
const MOST_MORE = 4;
const never = new AbortController().signal;
const known = new Map<string, Statement[]>();
const MOST_KNOWN = 20_000;

function read(text: string): Statement[] {
  let found = known.get(text);
  if (!found) {
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(text, (found = statementsOf(text)));
  }
  return found;
}

/**
 * Whether two texts, in English, cannot both be so: the same subject, and a negated or a differing value (decisions, "Memory, recall …"). The same whichever is named first.
 * Careful rather than complete: what it is not sure of, it does not tell.
 */
export function conflictOf(one: string, other: string): Conflict | undefined {
  const [first, second] = one < other ? [one, other] : [other, one];
  for (const a of read(first))
    for (const b of read(second)) {
      const conflict = conflictBetween(a, b);
      if (conflict) return conflict;
    }
  return undefined;
}

/** Whether a person has said that both stand. */
const areKept = (a: Claim, b: Claim): boolean => (a.beside?.includes(b.id) ?? false) || (b.beside?.includes(a.id) ?? false);

/** Characters that reading a claim is worth, so that thousands of them leave room for other work between. */
const READING = 60;
/** What comparing two of them is worth. */
const COMPARING = 1000;

/** What a claim may be contradicted by: those that say something of the same. Two without any in common cannot contradict each other. */
function subjectsOf(text: string): Set<string> {
  const keyOf = (words: ReadonlySet<string>): string => [...words].sort().join(' ');
  return new Set(
    read(text)
      .flatMap((statement) => [keyOf(statement.subject), ...attributesOf(statement).map(({ of }) => keyOf(of))])
      .filter(Boolean),
  );
}

/** The active ones among `claims` that contradict a claim, the surest first. Lets others have their turn between; rejects with the reason of `signal`. */
export async function contradictionsOf(claim: Claim, claims: readonly Claim[], signal: AbortSignal = never): Promise<Contradiction[]> {
  const breath = new Breath(signal);
  const found: Contradiction[] = [];
  const subjects = subjectsOf(claim.text);
  for (const other of claims) {
    if (other.id === claim.id || other.status !== ClaimStatus.ACTIVE || areKept(claim, other)) continue;
    await breath.after(other.text.length * READING);
    if (![...subjectsOf(other.text)].some((subject) => subjects.has(subject))) continue;
    const conflict = conflictOf(claim.text, other.text);
    if (conflict) found.push({ claim: other, ...conflict });
  }
  return found.sort((a, b) => b.claim.confidence - a.claim.confidence);
}

/**
 * Pairs of active claims that contradict each other, `most` of them. Only those are compared that say something of the same, and others have their turn between. Rejects with
 * the reason of `signal`.
 */
export async function contradictingPairs(
  claims: readonly Claim[],
  { most = Infinity, signal = never }: { most?: number; signal?: AbortSignal } = {},
): Promise<ContradictingPair[]> {
  const breath = new Breath(signal);
  const having = new Map<string, Claim[]>();
  const pairs: ContradictingPair[] = [];
  for (const claim of claims) {
    if (claim.status !== ClaimStatus.ACTIVE) continue;
    const subjects = subjectsOf(claim.text);
    const earlier = new Set([...subjects].flatMap((subject) => having.get(subject) ?? []));
    await breath.after(claim.text.length * READING);
    for (const before of earlier) {
      await breath.after(COMPARING);
      const conflict = areKept(before, claim) ? undefined : conflictOf(before.text, claim.text);
      if (conflict) pairs.push({ claims: [before, claim], ...conflict });
      if (pairs.length >= most) return pairs;
    }
    for (const subject of subjects) {
      const all = having.get(subject);
      if (all) all.push(claim);
      else having.set(subject, [claim]);
    }
  }
  return pairs;
}

function conflictBetween(a: Statement, b: Statement): Conflict | undefined {
  if (a.possible || b.possible || a.attitudes !== b.attitudes) return undefined;
  if (a.negated !== b.negated) return a.negated ? denied(a, b) : denied(b, a);
  // "Not five" and "not six" go together.
  if (a.negated) return undefined;
  return (
    attributes(a, b) ??
    (same(a.subject, b.subject)
      ? (dates(a, b) ?? (a.past === b.past ? (amounts(a, b) ?? opposites(a, b) ?? values(a, b)) : undefined))
      : undefined)
  );
}

const minus = (a: ReadonlySet<string>, b: ReadonlySet<string>): string[] => [...a].filter((word) => !b.has(word));
const same = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => a.size > 0 && a.size === b.size && minus(a, b).length === 0;
const about = (words: Iterable<string>, { written }: Statement): string =>
  [...words]
    .map((word) => written.get(word) ?? '')
    .filter(Boolean)
    .slice(0, 6)
    .join(' ') || 'the same subject';
const value = (a: Statement, said: string, and: string): Conflict => ({
  kind: 'value',
  reason: `Conflicting values for ${about(a.subject, a)}: ${quoted(said)} and ${quoted(and)}`,
});
const quoted = (text: string): string => `“${text.length > 200 ? `${text.slice(0, 200)}…` : text}”`;

/** Whether the dates that the two name allow them to speak of the same time. */
const sameTime = (a: Statement, b: Statement): boolean =>
  (a.dates.length === 0) === (b.dates.length === 0) && a.dates.every((date) => b.dates.some((other) => !differ(date, other)));

/** What one denies, the other says: all of it, and perhaps more. */
function denied(no: Statement, yes: Statement): Conflict | undefined {
  if (!same(no.subject, yes.subject) || no.past !== yes.past) return undefined;
  // "Not all" goes with "some", and some do where some do not.
  if ((no.quantity === 'some' && yes.quantity !== 'all') || (yes.quantity === 'some' && no.quantity !== 'all')) return undefined;
  if (minus(no.words, yes.words).length > 0 || minus(yes.words, no.words).length > MOST_MORE) return undefined;
  if (no.dates.length > 0 && !sameTime(no, yes)) return undefined;
  if (no.dates.length === 0 && yes.dates.length > 0 && no.past) return undefined;
  if (!no.amounts.every((amount) => yes.amounts.some((other) => other.unit === amount.unit && !exclude(amount, other)))) return undefined;
  return {
    kind: 'negation',
    reason: `Contradiction about ${about(no.subject, no)}: ${quoted(yes.text)} and ${quoted(no.text)}`,
  };
}

/** What happens once has one date. */
function dates(a: Statement, b: Statement): Conflict | undefined {
  if (![...a.words].some((word) => ONCE.has(word) && b.words.has(word))) return undefined;
  if (minus(a.words, b.words).length > 0 && minus(b.words, a.words).length > 0) return undefined;
  if (a.dates.length !== 1 || b.dates.length !== 1) return undefined;
  const [[one], [other]] = [a.dates, b.dates];
  return one && other && differ(one, other) ? value(a, one.written, other.written) : undefined;
}

/** The same is counted or measured, with another outcome. */
function amounts(a: Statement, b: Statement): Conflict | undefined {
  const [more, less] = [minus(a.words, b.words), minus(b.words, a.words)];
  if ((more.length > 0 && less.length > 0) || more.length + less.length > MOST_MORE || !sameTime(a, b)) return undefined;
  for (const amount of a.amounts) {
    const alike = b.amounts.filter(({ unit }) => unit === amount.unit);
    const [other] = alike;
    const alone = a.amounts.filter(({ unit }) => unit === amount.unit).length === 1;
    if (other && alone && alike.length === 1 && exclude(amount, other)) return value(a, amount.written, other.written);
  }
  return undefined;
}

const agreeing = (a: Statement, b: Statement): boolean =>
  sameTime(a, b) && a.amounts.every((amount) => !b.amounts.some((other) => other.unit === amount.unit && exclude(amount, other)));

/** One is open, the other closed. */
function opposites(a: Statement, b: Statement): Conflict | undefined {
  const [more, less] = [minus(a.words, b.words), minus(b.words, a.words)];
  if (!agreeing(a, b) || a.quantity === 'some' || b.quantity === 'some') return undefined;
  for (const one of more) {
    const other = less.find((each) => areOpposite(one, each, a.state && b.state));
    if (other === undefined) continue;
    const [rest, others] = [more.filter((each) => each !== one), less.filter((each) => each !== other && !areOpposite(one, each, a.state))];
    if ((rest.length === 0 || others.length === 0) && rest.length + others.length <= MOST_MORE / 2)
      return value(a, about([one], a), about([other], b));
  }
  return undefined;
}

/** Who lives in one place does not live in another. */
function values(a: Statement, b: Statement): Conflict | undefined {
  const [more, less] = [minus(a.words, b.words), minus(b.words, a.words)];
  if (more.length === 0 || less.length === 0 || !agreeing(a, b)) return undefined;
  const single = [...a.predicate].some((word) => SINGLE_VERBS.has(word) && b.predicate.has(word));
  if (!single && !(a.placed && b.placed)) return undefined;
  if (!more.every((word) => a.names.has(word)) || !less.every((word) => b.names.has(word))) return undefined;
  return comparable(more, less) ? value(a, about(more, a), about(less, b)) : undefined;
}

/** A city is no other country: both must be of a kind, as far as that is known. */
function comparable(more: readonly string[], less: readonly string[]): boolean {
  const [one, other] = [kindsOf(more), kindsOf(less)];
  return one === other;
}

interface Attribute {
  of: ReadonlySet<string>;
  is: ReadonlySet<string>;
  /** The value stands first: "Canberra is the capital of Australia". */
  turned: boolean;
}

function attributesOf({ state, subject, predicate, definite }: Statement): Attribute[] {
  if (!state) return [];
  const single = (words: ReadonlySet<string>): boolean => [...words].some((word) => SINGLE.has(word));
  return [
    ...(single(subject) ? [{ of: subject, is: predicate, turned: false }] : []),
    ...(definite && predicate.size >= 2 && single(predicate) ? [{ of: predicate, is: subject, turned: true }] : []),
  ];
}

/** "The capital of Australia" is one, whichever way round it is said. */
function attributes(a: Statement, b: Statement): Conflict | undefined {
  if (a.past !== b.past || !agreeing(a, b)) return undefined;
  for (const one of attributesOf(a))
    for (const other of attributesOf(b)) {
      if (!same(one.of, other.of)) continue;
      const [more, less] = [minus(one.is, other.is), minus(other.is, one.is)];
      if (more.length === 0 || less.length === 0) continue;
      const named = (words: readonly string[], { names }: Statement): boolean => words.some((word) => names.has(word));
      if (named(more, a) !== named(less, b) || !comparable(more, less)) continue;
      return {
        kind: 'value',
        reason: `Conflicting values for ${about(one.of, a)}: ${quoted(about(one.is, a))} and ${quoted(about(other.is, b))}`,
      };
    }
  return undefined;
}
