import type { JobDefinition, JobRun } from '#shared/rpc/methods/cron.ts';
import { ticksOf } from './schedule.ts';

/** A tick that is noticed so late was missed. A host that is there looks once a minute at least. */
export const GRACE_MS = 120_000;
/** For how long a recurring job rests after its first, second, … failure in a row. */
const PAUSES_MS = [30_000, 60_000, 300_000, 900_000, 3_600_000] as const;
/** Missed ticks are counted so far. */
const MOST = 500;

/** Ticks that no run is for. */
export interface Missed {
  first: number;
  last: number;
  /** `MOST` stands for as many or more. */
  count: number;
  /** Failures in a row whose pause they fell into; 0: nobody was there to run them. */
  failures: number;
}

/** How a job stands. */
export interface Plan {
  /** When it is to run next (now, or earlier, where a tick is due); null: never. */
  nextAt: number | null;
  /** The tick that is due. */
  due: { tick: number; /** Nobody was there when it came. */ late: boolean; /** Ticks before that one. */ earlier: Missed | null } | null;
}

/**
 * Derives from what is stored (the job, and the records of its runs) what is due and what comes next. It holds whatever the clock does in between: where it goes
 * back, ticks that have a record are not due again; where it goes on in a leap, those in between are missed.
 */
export function planOf(job: JobDefinition, runs: readonly JobRun[], now: number, timeZone: string): Plan {
  const ticks = ticksOf(job.schedule, job.since, timeZone);
  const handled = new Set(runs.map(({ scheduledAt }) => scheduledAt));
  const next = (at: number): number | null => {
    let tick = ticks.after(at);
    while (tick !== null && handled.has(tick)) tick = ticks.after(tick);
    return tick;
  };
  const first = next(startOf(job, runs, now));
  if (first === null) return { nextAt: null, due: null };
  const pause = pauseOf(job, runs, now);
  const nextAt = Math.max(first, pause.until);
  if (nextAt > now) return { nextAt, due: null };
  const newest = ticks.upTo(now) ?? first;
  const tick = newest < first || handled.has(newest) ? first : newest;
  let count = 0;
  let last = first;
  for (let at: number | null = first; at !== null && at < tick && count < MOST; at = next(at)) {
    count++;
    last = at;
  }
  if (count === MOST) last = ticks.upTo(tick - 1) ?? last;
  const earlier = count === 0 ? null : { first, last, count, failures: first < pause.until ? pause.failures : 0 };
  return { nextAt, due: { tick, late: now - Math.max(tick, pause.until) > GRACE_MS, earlier } };
}

/** The instant that ticks are looked for after. */
function startOf({ since }: JobDefinition, runs: readonly JobRun[], now: number): number {
  const handled = runs.filter(({ manual }) => !manual).map(({ scheduledAt }) => scheduledAt);
  const past = [since, ...handled].filter((at) => at <= now);
  // The clock went back behind the job, or behind all that is remembered of it: what was before now is unknown, or done.
  if (past.length === 0 || (handled.length > 0 && past.length === 1)) return Math.max(now - GRACE_MS, past[0] ?? 0);
  return Math.max(...past);
}

/** Until when a recurring job rests after failures; 0 where it does not. */
function pauseOf({ schedule, since }: JobDefinition, runs: readonly JobRun[], now: number): { until: number; failures: number } {
  const ended = runs.filter(({ status }) => status !== 'skipped' && status !== 'running').sort((a, b) => b.startedAt - a.startedAt);
  const success = ended.findIndex(({ status }) => status === 'completed');
  const failures = success < 0 ? ended.length : success;
  const at = ended[0]?.completedAt ?? ended[0]?.startedAt ?? 0;
  // One that was changed or enabled since begins anew; and a clock that went back says nothing of how long ago it was.
  if (schedule.kind === 'at' || failures === 0 || at < since || at > now) return { until: 0, failures: 0 };
  return { until: at + (PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? 0), failures };
}

/** What is said of ticks that were missed. */
export function missedText({ first, last, count, failures }: Missed): string {
  const number = count >= MOST ? `${MOST} or more` : String(count);
  const which = count === 1 ? `The run due at ${iso(first)} was` : `${number} runs due from ${iso(first)} to ${iso(last)} were`;
  if (failures > 0) return `${which} skipped during the pause after ${failures === 1 ? 'a failure' : `${failures} failures in a row`}`;
  return `${which} missed because Perch was not running or the computer was asleep`;
}

const iso = (at: number): string => new Date(at).toISOString();
