import { createLocalTime } from '#shared/local-time.ts';
import type { Workspace } from '../memory/workspace.ts';
import { parseDialogPassages } from './dialog-passages.ts';
import type { Pace } from './pace.ts';
import { type Passage, parsePassagesInSlices, SUMMARY_REASON } from './parse-passages.ts';
import type { LightReport, Problem } from './phase-report.ts';
import { computeContentHash, DAY_MS, type ShortTermSignal } from './signal.ts';
import type { SignalInput, SignalsStore } from './signals-store.ts';
import { isInformative } from './is-informative.ts';
import type { SignalSources } from './signal-sources.ts';

/** Larger files (in bytes) are skipped and reported. */
const MAX_FILE_BYTES = 5_000_000;
/** Maximum number of new signals per run, and of characters per signal. */
const MAX_COLLECTED = 1000;
const MAX_CONTENT_CHARS = 500;
/** Number of passages taken from a tool result; enough to show that it exists. */
const MAX_PASSAGES_PER_RESULT = 3;
const DAILY_FILE = /^(?:memory\/(\d{4}-\d\d-\d\d)\.md|dialog\/(\d{4}-\d\d-\d\d)\.jsonl)$/;
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Dependencies of `runLightPhase`. */
interface LightPhaseDeps {
  workspace: Workspace;
  signals: SignalsStore;
  sources: SignalSources;
  now: () => number;
  maxAgeDays: number;
  timezone: string;
  pace: Pace;
}

/**
 * Collects recent notes and conversations as signals, and finds the sources of recalled texts. Tool results, quotations and text written by
 * dreaming are kept as signals that are never promoted. Idempotent.
 */
export async function runLightPhase({
  workspace,
  signals,
  sources,
  now,
  maxAgeDays,
  timezone,
  pace,
}: LightPhaseDeps): Promise<Omit<LightReport, 'startedAt' | 'finishedAt'>> {
  const removed = await signals.cleanupOldSignals(maxAgeDays);
  const known = new Map((await signals.getAllSignals()).map((signal) => [signal.contentHash, signal]));
  const recalled = [...known.values()].filter((signal) => signal.recallCount > 0 && signal.untrusted === undefined);
  const marks = [];
  for (const signal of recalled) {
    const state = await sources.check(signal);
    if (!state.stands && state.untrusted) marks.push({ contentHash: signal.contentHash, why: state.why });
  }
  await signals.markUntrusted(marks);
  const local = createLocalTime(timezone);
  const toDay = (at: number): string => local(at).date;
  const problems: Problem[] = [];
  const candidates = new Map<string, SignalInput>();
  const files = await listDailyFiles(workspace, now(), maxAgeDays, problems);
  const repeated: { contentHash: string; at: number }[] = [];
  let omittedCount = 0;
  for (const { path, at } of files) {
    for (const input of await collectSignals(workspace, path, { day: at, now: now(), problems, pace })) {
      await pace();
      const contentHash = await computeContentHash(input.content);
      const signal = known.get(contentHash);
      if (signal && isAnotherDay(signal, input, toDay)) {
        repeated.push({ contentHash, at: input.at ?? at });
        signal.consolidationDays.push(toDay(input.at ?? at));
      }
      const previous = candidates.get(contentHash);
      // A trusted source of the same text is preferred.
      if ((signal && (signal.untrusted === undefined || input.untrusted !== undefined)) || (previous && previous.untrusted === undefined))
        continue;
      if (!previous && candidates.size >= MAX_COLLECTED) omittedCount++;
      else candidates.set(contentHash, input);
    }
  }
  if (omittedCount > 0) problems.push({ path: '', why: `${omittedCount} more are left for the next run` });
  await signals.recordConsolidations(repeated);
  const collected = await signals.note([...candidates.values()]);
  const all = await signals.getAllSignals();
  return {
    phase: 'LIGHT',
    sources: files.map(({ path }) => path),
    collected: collected.length,
    seenAgain: repeated.length,
    removed: removed.length,
    total: all.length,
    untrusted: all.filter(({ untrusted }) => untrusted !== undefined).length,
    problems: [...problems, ...(await signals.brokenLines())],
  };
}

/** Daily notes and conversations, newest first. */
async function listDailyFiles(
  workspace: Workspace,
  now: number,
  maxAgeDays: number,
  problems: Problem[],
): Promise<{ path: string; at: number }[]> {
  const files: { path: string; at: number }[] = [];
  for (const { path, size } of [...(await workspace.list('memory')), ...(await workspace.list('dialog'))]) {
    const [, note, dialog] = DAILY_FILE.exec(path) ?? [];
    const time = Date.parse(`${note ?? dialog ?? ''}T12:00:00Z`);
    // One day of tolerance on either side, because the date's time zone is unknown.
    if (Number.isNaN(time) || time < now - (maxAgeDays + 1) * DAY_MS || time > now + 2 * DAY_MS) continue;
    if (size > MAX_FILE_BYTES) problems.push({ path, why: `skipped because it is larger than ${MAX_FILE_BYTES} bytes` });
    else files.push({ path, at: Math.min(time, now) });
  }
  return files.sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1));
}

async function collectSignals(
  workspace: Workspace,
  path: string,
  { day, now, problems, pace }: { day: number; now: number; problems: Problem[]; pace: Pace },
): Promise<SignalInput[]> {
  const text = (await workspace.read(path)) ?? '';
  if (!path.endsWith('.jsonl')) {
    // User statements in a summary also occur verbatim in the conversations.
    const notSummaries = (await parsePassagesInSlices(text, pace)).filter(({ untrusted }) => untrusted !== SUMMARY_REASON);
    return toAllSignals(notSummaries, () => day);
  }
  const { passages, broken } = await parseDialogPassages(text, path, pace);
  problems.push(...broken);
  const resultCounts = new Map<number, number>();
  const selected = passages.filter(({ role, line }) => {
    const before = resultCounts.get(line) ?? 0;
    if (role === 'tool') resultCounts.set(line, before + 1);
    return role === 'tool' ? before < MAX_PASSAGES_PER_RESULT : role === 'user';
  });
  return toAllSignals(selected, ({ at }) => Math.min(at ?? day, now));

  async function toAllSignals<Each extends Passage>(items: readonly Each[], timeOf: (passage: Each) => number): Promise<SignalInput[]> {
    const inputs: SignalInput[] = [];
    for (const passage of items) {
      inputs.push(...toSignals(passage, path, timeOf(passage)));
      await pace();
    }
    return inputs;
  }
}

function toSignals({ text, line, untrusted }: Passage, path: string, at: number): SignalInput[] {
  const pieces =
    text.length <= MAX_CONTENT_CHARS && path.endsWith('.md') ? [text] : [...sentences.segment(text)].map(({ segment }) => segment.trim());
  return pieces.flatMap((content) =>
    content.length <= MAX_CONTENT_CHARS && isInformative(content)
      ? { content, sourceRef: `${path}#L${line}`, tags: extractTags(content), at, untrusted }
      : [],
  );
}

/** Topics of a text as far as they are recognizable: #tags, and names within sentences. */
function extractTags(text: string): string[] {
  const tags = [...text.matchAll(/(?:^|\s)#([\p{L}\p{N}_-]{2,40})/gu)].map(([, tag = '']) => tag);
  const names = [...text.matchAll(/(?<=[\p{L}\p{N},;] )\p{Lu}[\p{L}\p{N}'’-]{1,40}/gu)].map(([name]) => name);
  return [...new Set([...tags, ...names].map((tag) => tag.toLowerCase()))].slice(0, 8);
}

function isAnotherDay(signal: ShortTermSignal, { at }: SignalInput, toDay: (at: number) => string): boolean {
  const day = toDay(at ?? signal.createdAt);
  return day !== toDay(signal.createdAt) && !signal.consolidationDays.includes(day);
}
