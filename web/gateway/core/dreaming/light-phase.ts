import { localTime } from '../local-time.ts';
import type { Workspace } from '../memory/workspace.ts';
import { dialogPassages } from './dialog-passages.ts';
import type { Pace } from './pace.ts';
import { type Passage, passagesInTurns, SUMMARY } from './passages.ts';
import type { LightReport, Problem } from './report.ts';
import { contentHashOf, DAY_MS, type ShortTermSignal } from './signal.ts';
import type { Noted, SignalsStore } from './signals-store.ts';
import { saysSomething } from './says-something.ts';
import type { Sources } from './sources.ts';

/** Larger files (in bytes) are skipped and reported. */
const LARGEST_FILE = 5_000_000;
/** Maximum number of new signals per run, and of characters per signal. */
const MOST_COLLECTED = 1000;
const LONGEST = 500;
/** Number of passages taken from a tool result; enough to show that it exists. */
const MOST_OF_RESULT = 3;
const DAILY = /^(?:memory\/(\d{4}-\d\d-\d\d)\.md|dialog\/(\d{4}-\d\d-\d\d)\.jsonl)$/;
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

export interface LightDeps {
  workspace: Workspace;
  signals: SignalsStore;
  sources: Sources;
  now: () => number;
  maxAgeDays: number;
  timezone: string;
  pace: Pace;
}

/**
 * Collects recent notes and conversations as signals, and finds the sources of recalled texts. Tool results, quotations and text written by
 * dreaming are kept as signals that are never promoted. Idempotent.
 */
export async function lightPhase({
  workspace,
  signals,
  sources,
  now,
  maxAgeDays,
  timezone,
  pace,
}: LightDeps): Promise<Omit<LightReport, 'startedAt' | 'finishedAt'>> {
  const removed = await signals.cleanupOldSignals(maxAgeDays);
  const known = new Map((await signals.getAllSignals()).map((signal) => [signal.contentHash, signal]));
  const recalled = [...known.values()].filter((signal) => signal.recallCount > 0 && signal.untrusted === undefined);
  const marks = [];
  for (const signal of recalled) {
    const state = await sources.check(signal);
    if (!state.stands && state.untrusted) marks.push({ contentHash: signal.contentHash, why: state.why });
  }
  await signals.markUntrusted(marks);
  const local = localTime(timezone);
  const dayOf = (at: number): string => local(at).date;
  const problems: Problem[] = [];
  const found = new Map<string, Noted>();
  const files = await dailyFiles(workspace, now(), maxAgeDays, problems);
  const seenAgain: { contentHash: string; at: number }[] = [];
  let left = 0;
  for (const { path, at } of files) {
    for (const noted of await piecesOf(workspace, path, { day: at, now: now(), problems, pace })) {
      await pace();
      const contentHash = await contentHashOf(noted.content);
      const signal = known.get(contentHash);
      if (signal && isAnotherDay(signal, noted, dayOf)) {
        seenAgain.push({ contentHash, at: noted.at ?? at });
        signal.consolidationDays.push(dayOf(noted.at ?? at));
      }
      const before = found.get(contentHash);
      // A trusted source of the same text is preferred.
      if ((signal && (signal.untrusted === undefined || noted.untrusted !== undefined)) || (before && before.untrusted === undefined))
        continue;
      if (!before && found.size >= MOST_COLLECTED) left++;
      else found.set(contentHash, noted);
    }
  }
  if (left > 0) problems.push({ path: '', why: `${left} more are left for the next run` });
  await signals.recordConsolidations(seenAgain);
  const collected = await signals.note([...found.values()]);
  const all = await signals.getAllSignals();
  return {
    phase: 'LIGHT',
    sources: files.map(({ path }) => path),
    collected: collected.length,
    seenAgain: seenAgain.length,
    removed: removed.length,
    total: all.length,
    untrusted: all.filter(({ untrusted }) => untrusted !== undefined).length,
    problems: [...problems, ...(await signals.brokenLines())],
  };
}

/** Daily notes and conversations, newest first. */
async function dailyFiles(
  workspace: Workspace,
  now: number,
  maxAgeDays: number,
  problems: Problem[],
): Promise<{ path: string; at: number }[]> {
  const files: { path: string; at: number }[] = [];
  for (const { path, size } of [...(await workspace.list('memory')), ...(await workspace.list('dialog'))]) {
    const [, note, dialog] = DAILY.exec(path) ?? [];
    const at = Date.parse(`${note ?? dialog ?? ''}T12:00:00Z`);
    // One day of tolerance on either side, because the date's time zone is unknown.
    if (Number.isNaN(at) || at < now - (maxAgeDays + 1) * DAY_MS || at > now + 2 * DAY_MS) continue;
    if (size > LARGEST_FILE) problems.push({ path, why: `skipped because it is larger than ${LARGEST_FILE} bytes` });
    else files.push({ path, at: Math.min(at, now) });
  }
  return files.sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1));
}

async function piecesOf(
  workspace: Workspace,
  path: string,
  { day, now, problems, pace }: { day: number; now: number; problems: Problem[]; pace: Pace },
): Promise<Noted[]> {
  const text = (await workspace.read(path)) ?? '';
  if (!path.endsWith('.jsonl')) {
    // User statements in a summary also occur verbatim in the conversations.
    const own = (await passagesInTurns(text, pace)).filter(({ untrusted }) => untrusted !== SUMMARY);
    return signalsOfAll(own, () => day);
  }
  const { passages, broken } = await dialogPassages(text, path, pace);
  problems.push(...broken);
  const ofResults = new Map<number, number>();
  const wanted = passages.filter(({ role, line }) => {
    const before = ofResults.get(line) ?? 0;
    if (role === 'tool') ofResults.set(line, before + 1);
    return role === 'tool' ? before < MOST_OF_RESULT : role === 'user';
  });
  return signalsOfAll(wanted, ({ at }) => Math.min(at ?? day, now));

  async function signalsOfAll<Each extends Passage>(all: readonly Each[], timeOf: (passage: Each) => number): Promise<Noted[]> {
    const found: Noted[] = [];
    for (const passage of all) {
      found.push(...signalsOf(passage, path, timeOf(passage)));
      await pace();
    }
    return found;
  }
}

function signalsOf({ text, line, untrusted }: Passage, path: string, at: number): Noted[] {
  const pieces =
    text.length <= LONGEST && path.endsWith('.md') ? [text] : [...sentences.segment(text)].map(({ segment }) => segment.trim());
  return pieces.flatMap((content) =>
    content.length <= LONGEST && saysSomething(content)
      ? { content, sourceRef: `${path}#L${line}`, tags: tagsIn(content), at, untrusted }
      : [],
  );
}

/** Topics of a text as far as they are recognizable: #tags, and names within sentences. */
function tagsIn(text: string): string[] {
  const tags = [...text.matchAll(/(?:^|\s)#([\p{L}\p{N}_-]{2,40})/gu)].map(([, tag = '']) => tag);
  const names = [...text.matchAll(/(?<=[\p{L}\p{N},;] )\p{Lu}[\p{L}\p{N}'’-]{1,40}/gu)].map(([name]) => name);
  return [...new Set([...tags, ...names].map((tag) => tag.toLowerCase()))].slice(0, 8);
}

function isAnotherDay(signal: ShortTermSignal, { at }: Noted, dayOf: (at: number) => string): boolean {
  const day = dayOf(at ?? signal.createdAt);
  return day !== dayOf(signal.createdAt) && !signal.consolidationDays.includes(day);
}
