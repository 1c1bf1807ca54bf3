import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { type Claim, ClaimStatus } from '../claim.ts';
import { getPlaceKind } from './place-kinds.ts';
import { areExclusive } from './amounts.ts';
import { areDifferentDates } from './dates.ts';
import { type Statement, parseStatements } from './statement.ts';
import { areOpposite, ONE_TIME_EVENTS, UNIQUE_ATTRIBUTES, UNIQUE_VERBS } from './contradiction-words.ts';

/** Denial of a statement, or a different value. */
type ContradictionKind = 'negation' | 'value';

/** Why two texts contradict each other. */
interface ContradictionReason {
  kind: ContradictionKind;
  /** A sentence. */
  reason: string;
}

/** A claim that contradicts another one. */
export interface Contradiction extends ContradictionReason {
  claim: Claim;
}

/** Two claims that contradict each other. */
export interface ContradictingPair extends ContradictionReason {
  claims: [Claim, Claim];
}

/** Maximum number of words that only one side has; beyond it the two are about different things. */
const MAX_EXTRA_WORDS = 4;
const NEVER_ABORTED = new AbortController().signal;
const statementCache = new Map<string, Statement[]>();
const MAX_CACHED = 20_000;

function readStatements(text: string): Statement[] {
  let statements = statementCache.get(text);
  if (!statements) {
    if (statementCache.size >= MAX_CACHED) statementCache.clear();
    statementCache.set(text, (statements = parseStatements(text)));
  }
  return statements;
}

/**
 * Finds a contradiction between two English texts: the same subject, with a negation or a different value. Symmetric. Prefers precision to
 * recall: uncertain cases are not reported.
 */
export function findConflict(text: string, otherText: string): ContradictionReason | undefined {
  const [first, second] = text < otherText ? [text, otherText] : [otherText, text];
  for (const a of readStatements(first))
    for (const b of readStatements(second)) {
      const conflict = compareStatements(a, b);
      if (conflict) return conflict;
    }
  return undefined;
}

/** Whether a user has decided to keep both. */
const isKeptPair = (a: Claim, b: Claim): boolean => (a.beside?.includes(b.id) ?? false) || (b.beside?.includes(a.id) ?? false);

/** Cost of parsing a claim, in characters; used to yield to other tasks regularly. */
const PARSE_COST = 60;
/** Cost of comparing two claims. */
const COMPARE_COST = 1000;

/** Keys of the subjects of a claim. Two claims without a common key cannot contradict each other. */
function getSubjectKeys(text: string): Set<string> {
  const toKey = (words: ReadonlySet<string>): string => [...words].sort().join(' ');
  return new Set(
    readStatements(text)
      .flatMap((statement) => [toKey(statement.subject), ...getAttributes(statement).map(({ of }) => toKey(of))])
      .filter(Boolean),
  );
}

/**
 * The active ones among `claims` that contradict a claim, most certain first. Yields to other tasks; rejects with the reason of `signal` if
 * it is aborted.
 */
export async function findContradictions(
  claim: Claim,
  claims: readonly Claim[],
  signal: AbortSignal = NEVER_ABORTED,
): Promise<Contradiction[]> {
  const timeSlicer = new TimeSlicer(signal);
  const found: Contradiction[] = [];
  const subjects = getSubjectKeys(claim.text);
  for (const other of claims) {
    if (other.id === claim.id || other.status !== ClaimStatus.ACTIVE || isKeptPair(claim, other)) continue;
    await timeSlicer.after(other.text.length * PARSE_COST);
    if (![...getSubjectKeys(other.text)].some((subject) => subjects.has(subject))) continue;
    const conflict = findConflict(claim.text, other.text);
    if (conflict) found.push({ claim: other, ...conflict });
  }
  return found.sort((a, b) => b.claim.confidence - a.claim.confidence);
}

/**
 * Up to `most` pairs of active claims that contradict each other. Only claims with a common subject are compared. Yields to other tasks;
 * rejects with the reason of `signal` if it is aborted.
 */
export async function findContradictingPairs(
  claims: readonly Claim[],
  { most = Infinity, signal = NEVER_ABORTED }: { most?: number; signal?: AbortSignal } = {},
): Promise<ContradictingPair[]> {
  const timeSlicer = new TimeSlicer(signal);
  const claimsBySubject = new Map<string, Claim[]>();
  const pairs: ContradictingPair[] = [];
  for (const claim of claims) {
    if (claim.status !== ClaimStatus.ACTIVE) continue;
    const subjects = getSubjectKeys(claim.text);
    const earlier = new Set([...subjects].flatMap((subject) => claimsBySubject.get(subject) ?? []));
    await timeSlicer.after(claim.text.length * PARSE_COST);
    for (const earlierClaim of earlier) {
      await timeSlicer.after(COMPARE_COST);
      const conflict = isKeptPair(earlierClaim, claim) ? undefined : findConflict(earlierClaim.text, claim.text);
      if (conflict) pairs.push({ claims: [earlierClaim, claim], ...conflict });
      if (pairs.length >= most) return pairs;
    }
    for (const subject of subjects) {
      const all = claimsBySubject.get(subject);
      if (all) all.push(claim);
      else claimsBySubject.set(subject, [claim]);
    }
  }
  return pairs;
}

function compareStatements(a: Statement, b: Statement): ContradictionReason | undefined {
  if (a.possible || b.possible || a.attitudes !== b.attitudes) return undefined;
  if (a.negated !== b.negated) return a.negated ? findDenial(a, b) : findDenial(b, a);
  // "Not five" and "not six" are compatible.
  if (a.negated) return undefined;
  return (
    compareAttributes(a, b) ??
    (isSameSet(a.subject, b.subject)
      ? (compareDates(a, b) ?? (a.past === b.past ? (compareAmounts(a, b) ?? findOpposites(a, b) ?? compareValues(a, b)) : undefined))
      : undefined)
  );
}

const subtract = (a: ReadonlySet<string>, b: ReadonlySet<string>): string[] => [...a].filter((word) => !b.has(word));
const isSameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size > 0 && a.size === b.size && subtract(a, b).length === 0;
const describeWords = (words: Iterable<string>, { written }: Statement): string =>
  [...words]
    .map((word) => written.get(word) ?? '')
    .filter(Boolean)
    .slice(0, 6)
    .join(' ') || 'the same subject';
const createValueConflict = (a: Statement, value: string, otherValue: string): ContradictionReason => ({
  kind: 'value',
  reason: `Conflicting values for ${describeWords(a.subject, a)}: ${quote(value)} and ${quote(otherValue)}`,
});
const quote = (text: string): string => `“${text.length > 200 ? `${text.slice(0, 200)}…` : text}”`;

/** Whether the dates of both statements are compatible. */
const areDatesCompatible = (a: Statement, b: Statement): boolean =>
  (a.dates.length === 0) === (b.dates.length === 0) && a.dates.every((date) => b.dates.some((other) => !areDifferentDates(date, other)));

/** One statement denies the other, which may say more. */
function findDenial(denial: Statement, assertion: Statement): ContradictionReason | undefined {
  if (!isSameSet(denial.subject, assertion.subject) || denial.past !== assertion.past) return undefined;
  // "Not all" is compatible with "some", and positive and negative "some" are compatible.
  if ((denial.quantity === 'some' && assertion.quantity !== 'all') || (assertion.quantity === 'some' && denial.quantity !== 'all'))
    return undefined;
  if (subtract(denial.words, assertion.words).length > 0 || subtract(assertion.words, denial.words).length > MAX_EXTRA_WORDS)
    return undefined;
  if (denial.dates.length > 0 && !areDatesCompatible(denial, assertion)) return undefined;
  if (denial.dates.length === 0 && assertion.dates.length > 0 && denial.past) return undefined;
  if (!denial.amounts.every((amount) => assertion.amounts.some((other) => other.unit === amount.unit && !areExclusive(amount, other))))
    return undefined;
  return {
    kind: 'negation',
    reason: `Contradiction about ${describeWords(denial.subject, denial)}: ${quote(assertion.text)} and ${quote(denial.text)}`,
  };
}

/** An event that happens once has two different dates. */
function compareDates(a: Statement, b: Statement): ContradictionReason | undefined {
  if (![...a.words].some((word) => ONE_TIME_EVENTS.has(word) && b.words.has(word))) return undefined;
  if (subtract(a.words, b.words).length > 0 && subtract(b.words, a.words).length > 0) return undefined;
  if (a.dates.length !== 1 || b.dates.length !== 1) return undefined;
  const [[date], [otherDate]] = [a.dates, b.dates];
  return date && otherDate && areDifferentDates(date, otherDate) ? createValueConflict(a, date.written, otherDate.written) : undefined;
}

/** The same quantity has two different values. */
function compareAmounts(a: Statement, b: Statement): ContradictionReason | undefined {
  const [onlyInA, onlyInB] = [subtract(a.words, b.words), subtract(b.words, a.words)];
  if ((onlyInA.length > 0 && onlyInB.length > 0) || onlyInA.length + onlyInB.length > MAX_EXTRA_WORDS || !areDatesCompatible(a, b))
    return undefined;
  for (const amount of a.amounts) {
    const sameUnit = b.amounts.filter(({ unit }) => unit === amount.unit);
    const [other] = sameUnit;
    const alone = a.amounts.filter(({ unit }) => unit === amount.unit).length === 1;
    if (other && alone && sameUnit.length === 1 && areExclusive(amount, other))
      return createValueConflict(a, amount.written, other.written);
  }
  return undefined;
}

const isCompatible = (a: Statement, b: Statement): boolean =>
  areDatesCompatible(a, b) &&
  a.amounts.every((amount) => !b.amounts.some((other) => other.unit === amount.unit && areExclusive(amount, other)));

/** The statements contain opposites, such as open and closed. */
function findOpposites(a: Statement, b: Statement): ContradictionReason | undefined {
  const [onlyInA, onlyInB] = [subtract(a.words, b.words), subtract(b.words, a.words)];
  if (!isCompatible(a, b) || a.quantity === 'some' || b.quantity === 'some') return undefined;
  for (const word of onlyInA) {
    const opposite = onlyInB.find((candidate) => areOpposite(word, candidate, a.state && b.state));
    if (opposite === undefined) continue;
    const [remainingInA, remainingInB] = [
      onlyInA.filter((each) => each !== word),
      onlyInB.filter((each) => each !== opposite && !areOpposite(word, each, a.state)),
    ];
    if ((remainingInA.length === 0 || remainingInB.length === 0) && remainingInA.length + remainingInB.length <= MAX_EXTRA_WORDS / 2)
      return createValueConflict(a, describeWords([word], a), describeWords([opposite], b));
  }
  return undefined;
}

/** A subject has two values where only one is possible, such as two places of residence. */
function compareValues(a: Statement, b: Statement): ContradictionReason | undefined {
  const [onlyInA, onlyInB] = [subtract(a.words, b.words), subtract(b.words, a.words)];
  if (onlyInA.length === 0 || onlyInB.length === 0 || !isCompatible(a, b)) return undefined;
  const single = [...a.predicate].some((word) => UNIQUE_VERBS.has(word) && b.predicate.has(word));
  if (!single && !(a.placed && b.placed)) return undefined;
  if (!onlyInA.every((word) => a.names.has(word)) || !onlyInB.every((word) => b.names.has(word))) return undefined;
  return isComparable(onlyInA, onlyInB) ? createValueConflict(a, describeWords(onlyInA, a), describeWords(onlyInB, b)) : undefined;
}

/** Only places of the same kind exclude each other: a city may lie in a country. */
function isComparable(words: readonly string[], otherWords: readonly string[]): boolean {
  const [kind, otherKind] = [getPlaceKind(words), getPlaceKind(otherWords)];
  return kind === otherKind;
}

interface Attribute {
  of: ReadonlySet<string>;
  is: ReadonlySet<string>;
  /** The value comes first: "Canberra is the capital of Australia". */
  valueFirst: boolean;
}

function getAttributes({ state, subject, predicate, definite }: Statement): Attribute[] {
  if (!state) return [];
  const single = (words: ReadonlySet<string>): boolean => [...words].some((word) => UNIQUE_ATTRIBUTES.has(word));
  return [
    ...(single(subject) ? [{ of: subject, is: predicate, valueFirst: false }] : []),
    ...(definite && predicate.size >= 2 && single(predicate) ? [{ of: predicate, is: subject, valueFirst: true }] : []),
  ];
}

/** A unique attribute has two values, in either word order: "The capital of Australia is …", "… is the capital of Australia". */
function compareAttributes(a: Statement, b: Statement): ContradictionReason | undefined {
  if (a.past !== b.past || !isCompatible(a, b)) return undefined;
  for (const attribute of getAttributes(a))
    for (const otherAttribute of getAttributes(b)) {
      if (!isSameSet(attribute.of, otherAttribute.of)) continue;
      const [onlyInA, onlyInB] = [subtract(attribute.is, otherAttribute.is), subtract(otherAttribute.is, attribute.is)];
      if (onlyInA.length === 0 || onlyInB.length === 0) continue;
      const containsName = (words: readonly string[], { names }: Statement): boolean => words.some((word) => names.has(word));
      if (containsName(onlyInA, a) !== containsName(onlyInB, b) || !isComparable(onlyInA, onlyInB)) continue;
      return {
        kind: 'value',
        reason: `Conflicting values for ${describeWords(attribute.of, a)}: ${quote(describeWords(attribute.is, a))} and ${quote(describeWords(otherAttribute.is, b))}`,
      };
    }
  return undefined;
}
