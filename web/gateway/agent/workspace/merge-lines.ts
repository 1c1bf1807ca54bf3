import { z } from '#shared/rpc/zod.ts';

const time = z.union([z.number(), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))]);
/** Members that hold the time of a line: of a changed claim, a promotion, a run, a signal, or counters. */
const timedLine = z
  .looseObject({
    id: z.string(),
    at: time,
    startedAt: time,
    finishedAt: time.nullable(),
    created_at: time,
    recalls: z.array(z.looseObject({ at: time })),
    taken: z.looseObject({ until: time }),
  })
  .partial();

interface TimedLine {
  text: string;
  /** Milliseconds since the Unix epoch; not earlier than that of the line before. */
  at: number;
}

/** Undefined if the line is invalid. */
function parseLine(text: string): z.output<typeof timedLine> | undefined {
  try {
    return timedLine.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function getLineTime(text: string): number {
  const { at, startedAt, finishedAt, created_at: createdAt, recalls = [], taken: messages } = parseLine(text) ?? {};
  const times = [at, startedAt, finishedAt, createdAt, messages?.until, ...recalls.map((recall) => recall.at)];
  return Math.max(-Infinity, ...times.filter((value) => typeof value === 'number'));
}

/** Of duplicate lines the last counts, as for readers of the file. */
function parseLines(file: string): TimedLine[] {
  let latest = -Infinity;
  const lines = new Map<string, TimedLine>();
  for (const line of file.split(/\r?\n/)) {
    const text = line.replace(/^\uFEFF/, '');
    if (text.trim() === '') continue;
    latest = Math.max(latest, getLineTime(text));
    lines.delete(text);
    lines.set(text, { text, at: latest });
  }
  return [...lines.values()];
}

const getTexts = (lines: readonly TimedLine[]): Set<string> => new Set(lines.map(({ text }) => text));
const joinLines = (lines: Iterable<string>): string => [...lines].map((line) => `${line}\n`).join('');
const isBefore = (a: TimedLine, b: TimedLine): boolean => a.at < b.at || (a.at === b.at && a.text < b.text);

/**
 * Merges two diverged versions of a JSON Lines file, independent of their order: all lines of both, each in its own order and otherwise by
 * time. Lines common to both occur once, and a dreaming run keeps only its latest line.
 */
export function mergeLines(file: string, otherFile: string): string {
  const [a, b] = [parseLines(file), parseLines(otherFile)];
  const [inA, inB] = [getTexts(a), getTexts(b)];
  // If one version contains the other, it is the result.
  const [hasB, hasA] = [b.every(({ text }) => inA.has(text)), a.every(({ text }) => inB.has(text))];
  if (hasB && hasA) return [inA, inB].map(joinLines).sort()[0] ?? '';
  if (hasB || hasA) return joinLines(keepNewestRuns([...(hasB ? inA : inB)]));
  const merged = new Set<string>();
  for (let [atA, atB] = [0, 0]; atA < a.length || atB < b.length;) {
    const [left, right] = [a[atA], b[atB]];
    if (left && merged.has(left.text)) atA++;
    else if (right && merged.has(right.text)) atB++;
    else if (left && right) {
      // A common line waits until all its predecessors in both versions are written.
      const [leftWaits, rightWaits] = [inB.has(left.text), inA.has(right.text)];
      const isLeft = leftWaits === rightWaits ? isBefore(left, right) : rightWaits;
      merged.add((isLeft ? left : right).text);
    } else merged.add((left ?? right)?.text ?? '');
  }
  return joinLines(keepNewestRuns([...merged]));
}

/** The log of runs has one line per run: a run that is active in one version may have ended in the other. */
function keepNewestRuns(lines: readonly string[]): string[] {
  const newest = new Map<string, { line: string; finishedAt: number }>();
  const runs = lines.map((line) => {
    const { id, startedAt, finishedAt } = parseLine(line) ?? {};
    if (id === undefined || startedAt === undefined) return undefined;
    const run = { line, finishedAt: finishedAt ?? -1 };
    if (run.finishedAt >= (newest.get(id)?.finishedAt ?? -1)) newest.set(id, run);
    return id;
  });
  return lines.filter((line, index) => {
    const id = runs[index];
    return id === undefined || newest.get(id)?.line === line;
  });
}
