import type { CronRun, Schedule } from '#shared/rpc/methods/cron-contracts.ts';
import { formatDateTime, formatRelativeTime } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';
import { describeCron } from '#kit/describe-cron.ts';

const MINUTE_MS = 60_000;
/** From the largest to the smallest, in milliseconds. */
const UNITS = [
  ['day', 24 * 60 * MINUTE_MS],
  ['hour', 60 * MINUTE_MS],
  ['minute', MINUTE_MS],
] as const;
const CLOCK = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
} as const;
const CLOCK_WITH_YEAR = { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' } as const;

/** Formats a time to the minute: `Mon, Nov 23, 07:00`; with the year if it is not that of `now`. Milliseconds since 1970. */
export const formatClockTime = (at: number, now: number): string =>
  formatDateTime(at, new Date(at).getFullYear() === new Date(now).getFullYear() ? CLOCK : CLOCK_WITH_YEAR);

/** Formats the time until `at`: `in 3 hours`. Milliseconds since 1970. */
export function formatTimeUntil(at: number, now: number): string {
  for (const [unit, ms] of UNITS) if (at - now >= ms) return formatRelativeTime(Math.round((at - now) / ms), unit, { numeric: 'always' });
  return at > now ? m.schedules_ahead_soon() : m.schedules_ahead_now();
}

/** Describes a schedule: `every 15 minutes`, `Monday to Friday at 08:00 (Europe/Berlin)`, `once, Mon, Nov 23, 07:00`. */
export function describeSchedule(schedule: Schedule, now: number): string {
  switch (schedule.kind) {
    case 'at':
      return m.schedules_once({ when: formatClockTime(schedule.at, now) });
    case 'every': {
      const [unit, ms] = UNITS.find(([, each]) => schedule.everyMs % each === 0) ?? (['second', 1000] as const);
      return INTERVAL_TEXTS[unit](schedule.everyMs / ms);
    }
    case 'cron': {
      const description = describeCron(schedule.expr);
      return schedule.tz === undefined ? description : m.schedules_in_zone({ when: description, zone: schedule.tz });
    }
  }
}

const INTERVAL_TEXTS = {
  day: (count: number) => m.schedules_every_days({ count }),
  hour: (count: number) => m.schedules_every_hours({ count }),
  minute: (count: number) => m.schedules_every_minutes({ count }),
  second: (count: number) => m.schedules_every_seconds({ count }),
};

export const RUN_LABELS: Readonly<Record<CronRun['status'], () => string>> = {
  running: () => m.schedules_run_running(),
  completed: () => m.schedules_run_completed(),
  failed: () => m.schedules_run_failed(),
  timeout: () => m.schedules_run_timeout(),
  skipped: () => m.schedules_run_skipped(),
};
