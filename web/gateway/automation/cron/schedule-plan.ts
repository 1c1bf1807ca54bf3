import type { CronJobDefinition, CronRun } from '#shared/rpc/methods/cron-contracts.ts';
import { getTicks } from '#shared/cron-schedule.ts';

/** Delay after which a tick counts as missed. A running host checks at least once a minute. */
export const GRACE_MS = 120_000;
/** Pause of a recurring job after its first, second, … consecutive failure. */
const PAUSES_MS = [30_000, 60_000, 300_000, 900_000, 3_600_000] as const;
/** Maximum number of missed ticks that are counted. */
const MAX_MISSED = 500;

/** Ticks without a run. */
export interface MissedTicks {
  first: number;
  last: number;
  /** `MAX_MISSED` means that number or more. */
  count: number;
  /** Number of consecutive failures that caused the pause in which the ticks fell; 0 if no host was running. */
  failures: number;
}

/** State of a job's schedule. */
export interface SchedulePlan {
  /** Time of the next run (now or earlier if a tick is due); null if there is none. */
  nextAt: number | null;
  /** The tick that is due. `late`: no host was running at the time. `earlier`: missed ticks before it. */
  due: { tick: number; late: boolean; earlier: MissedTicks | null } | null;
}

/**
 * Derives what is due and what comes next from stored data (the job, and the records of its runs). Robust against clock changes: if the
 * clock goes back, ticks with a record are not due again; if it jumps ahead, the ticks in between are missed.
 */
export function computePlan(job: CronJobDefinition, runs: readonly CronRun[], now: number, timeZone: string): SchedulePlan {
  const ticks = getTicks(job.schedule, job.since, timeZone);
  const handled = new Set(runs.map(({ scheduledAt }) => scheduledAt));
  const next = (at: number): number | null => {
    let tick = ticks.after(at);
    while (tick !== null && handled.has(tick)) tick = ticks.after(tick);
    return tick;
  };
  const first = next(computeStart(job, runs, now));
  if (first === null) return { nextAt: null, due: null };
  const pause = computePause(job, runs, now);
  const nextAt = Math.max(first, pause.until);
  if (nextAt > now) return { nextAt, due: null };
  const newest = ticks.upTo(now) ?? first;
  const tick = newest < first || handled.has(newest) ? first : newest;
  let count = 0;
  let last = first;
  for (let at: number | null = first; at !== null && at < tick && count < MAX_MISSED; at = next(at)) {
    count++;
    last = at;
  }
  if (count === MAX_MISSED) last = ticks.upTo(tick - 1) ?? last;
  const earlier = count === 0 ? null : { first, last, count, failures: first < pause.until ? pause.failures : 0 };
  return { nextAt, due: { tick, late: now - Math.max(tick, pause.until) > GRACE_MS, earlier } };
}

/** The time after which ticks are considered. */
function computeStart({ since }: CronJobDefinition, runs: readonly CronRun[], now: number): number {
  const handled = runs.filter(({ manual }) => !manual).map(({ scheduledAt }) => scheduledAt);
  const pastTicks = [since, ...handled].filter((at) => at <= now);
  // The clock went back to before the job's creation, or before all recorded runs: what happened before now is unknown, or done.
  if (pastTicks.length === 0 || (handled.length > 0 && pastTicks.length === 1)) return Math.max(now - GRACE_MS, pastTicks[0] ?? 0);
  return Math.max(...pastTicks);
}

/** End of a recurring job's pause after failures; 0 if there is none. */
function computePause({ schedule, since }: CronJobDefinition, runs: readonly CronRun[], now: number): { until: number; failures: number } {
  const endedRuns = runs.filter(({ status }) => status !== 'skipped' && status !== 'running').sort((a, b) => b.startedAt - a.startedAt);
  const success = endedRuns.findIndex(({ status }) => status === 'completed');
  const failures = success < 0 ? endedRuns.length : success;
  const at = endedRuns[0]?.completedAt ?? endedRuns[0]?.startedAt ?? 0;
  // A job that was changed or enabled since then starts over; and if the clock went back, the time since the failure is unknown.
  if (schedule.kind === 'at' || failures === 0 || at < since || at > now) return { until: 0, failures: 0 };
  return { until: at + (PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? 0), failures };
}

/** The note about missed ticks. */
export function formatMissed({ first, last, count, failures }: MissedTicks): string {
  const number = count >= MAX_MISSED ? `${MAX_MISSED} or more` : String(count);
  const subject = count === 1 ? `The run due at ${toIso(first)} was` : `${number} runs due from ${toIso(first)} to ${toIso(last)} were`;
  if (failures > 0) return `${subject} skipped during the pause after ${failures === 1 ? 'a failure' : `${failures} failures in a row`}`;
  return `${subject} missed because Perch was not running or the computer was asleep`;
}

const toIso = (at: number): string => new Date(at).toISOString();
