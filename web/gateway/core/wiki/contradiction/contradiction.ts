import { Breath } from '../../documents/breath.ts';
import { type Claim, ClaimStatus } from '../claim.ts';
import { kindsOf } from './places.ts';
import { exclude } from './amounts.ts';
import { differ } from './dates.ts';
import { type Statement, statementsOf } from './statement.ts';
import { areOpposite, ONCE, SINGLE, SINGLE_VERBS } from './words.ts';

export type ContradictionKind = 'negation' | 'value';

/** Why two texts contradict each other. */
export interface Conflict {
  kind: ContradictionKind;
  /** A sentence. */
  reason: string;
}

/** A claim that contradicts another one. */
export interface Contradiction extends Conflict {
  claim: Claim;
}

export interface ContradictingPair extends Conflict {
  claims: [Claim, Claim];
}

/** Maximum number of words that only one side has; beyond it the two are about different things. */
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
 * Finds a contradiction between two English texts: the same subject, with a negation or a different value. Symmetric. Prefers precision to
 * recall: uncertain cases are not reported.
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

/** Whether a user has decided to keep both. */
const areKept = (a: Claim, b: Claim): boolean => (a.beside?.includes(b.id) ?? false) || (b.beside?.includes(a.id) ?? false);

/** Cost of parsing a claim, in characters; used to yield to other tasks regularly. */
const READING = 60;
/** Cost of comparing two claims. */
const COMPARING = 1000;

/** Keys of the subjects of a claim. Two claims without a common key cannot contradict each other. */
function subjectsOf(text: string): Set<string> {
  const keyOf = (words: ReadonlySet<string>): string => [...words].sort().join(' ');
  return new Set(
    read(text)
      .flatMap((statement) => [keyOf(statement.subject), ...attributesOf(statement).map(({ of }) => keyOf(of))])
      .filter(Boolean),
  );
}

/**
 * The active ones among `claims` that contradict a claim, most certain first. Yields to other tasks; rejects with the reason of `signal` if
 * it is aborted.
 */
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
 * Up to `most` pairs of active claims that contradict each other. Only claims with a common subject are compared. Yields to other tasks;
 * rejects with the reason of `signal` if it is aborted.
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
  // "Not five" and "not six" are compatible.
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

/** Whether the dates of both statements are compatible. */
const sameTime = (a: Statement, b: Statement): boolean =>
  (a.dates.length === 0) === (b.dates.length === 0) && a.dates.every((date) => b.dates.some((other) => !differ(date, other)));

/** One statement denies the other, which may say more. */
function denied(no: Statement, yes: Statement): Conflict | undefined {
  if (!same(no.subject, yes.subject) || no.past !== yes.past) return undefined;
  // "Not all" is compatible with "some", and positive and negative "some" are compatible.
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

/** An event that happens once has two different dates. */
function dates(a: Statement, b: Statement): Conflict | undefined {
  if (![...a.words].some((word) => ONCE.has(word) && b.words.has(word))) return undefined;
  if (minus(a.words, b.words).length > 0 && minus(b.words, a.words).length > 0) return undefined;
  if (a.dates.length !== 1 || b.dates.length !== 1) return undefined;
  const [[one], [other]] = [a.dates, b.dates];
  return one && other && differ(one, other) ? value(a, one.written, other.written) : undefined;
}

/** The same quantity has two different values. */
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

/** The statements contain opposites, such as open and closed. */
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

/** A subject has two values where only one is possible, such as two places of residence. */
function values(a: Statement, b: Statement): Conflict | undefined {
  const [more, less] = [minus(a.words, b.words), minus(b.words, a.words)];
  if (more.length === 0 || less.length === 0 || !agreeing(a, b)) return undefined;
  const single = [...a.predicate].some((word) => SINGLE_VERBS.has(word) && b.predicate.has(word));
  if (!single && !(a.placed && b.placed)) return undefined;
  if (!more.every((word) => a.names.has(word)) || !less.every((word) => b.names.has(word))) return undefined;
  return comparable(more, less) ? value(a, about(more, a), about(less, b)) : undefined;
}

/** Only places of the same kind exclude each other: a city may lie in a country. */
function comparable(more: readonly string[], less: readonly string[]): boolean {
  const [one, other] = [kindsOf(more), kindsOf(less)];
  return one === other;
}

interface Attribute {
  of: ReadonlySet<string>;
  is: ReadonlySet<string>;
  /** The value comes first: "Canberra is the capital of Australia". */
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

/** A unique attribute has two values, in either word order: "The capital of Australia is …", "… is the capital of Australia". */
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
