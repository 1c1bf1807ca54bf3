import { cronInWords } from '#shared/cron/words.ts';
import type { JobRun, Schedule } from '#shared/rpc/methods/cron.ts';
import { counted } from '#lib/counted.ts';

const MINUTE = 60_000;
/** From the largest to the smallest, in milliseconds. */
const UNITS = [
  ['day', 24 * 60 * MINUTE],
  ['hour', 60 * MINUTE],
  ['minute', MINUTE],
] as const;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
const clock = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const clockWithYear = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' });

/** A time by the clock of this browser, to the minute: `Mon, Nov 23, 07:00`; of another year than `now` with the year. Milliseconds since 1970. */
export const byTheClock = (at: number, now: number): string =>
  (new Date(at).getFullYear() === new Date(now).getFullYear() ? clock : clockWithYear).format(at);

/** How long it is until then: `in 3 hours`. Milliseconds since 1970. */
export function ahead(at: number, now: number): string {
  for (const [unit, ms] of UNITS) if (at - now >= ms) return relative.format(Math.round((at - now) / ms), unit);
  return at > now ? 'in less than a minute' : 'now';
}

/** A schedule as people say it: `every 15 minutes`, `Monday to Friday at 08:00 (Europe/Berlin)`, `once, Mon, Nov 23, 07:00`. */
export function scheduleWords(schedule: Schedule, now: number): string {
  switch (schedule.kind) {
    case 'at':
      return `once, ${byTheClock(schedule.at, now)}`;
    case 'every': {
      const [unit, ms] = UNITS.find(([, each]) => schedule.everyMs % each === 0) ?? (['second', 1000] as const);
      const count = schedule.everyMs / ms;
      return count === 1 ? `every ${unit}` : `every ${counted(count, unit)}`;
    }
    case 'cron':
      return `${cronInWords(schedule.expr)}${schedule.tz === undefined ? '' : ` (${schedule.tz})`}`;
  }
}

export const runWords: Readonly<Record<JobRun['status'], string>> = {
  running: 'Under way',
  completed: 'Done',
  failed: 'Failed',
  timeout: 'Took too long',
  skipped: 'Skipped',
};
