import type { Schedule } from '../rpc/methods/cron-contracts.ts';

/** A schedule in one line: its expression, or words such as `every 3600 s`, `at 2026-01-01T00:00:00.000Z`. */
export function formatSchedule(schedule: Schedule): string {
  if (schedule.kind === 'cron') return schedule.expr;
  return schedule.kind === 'every' ? `every ${schedule.everyMs / 1000} s` : `at ${new Date(schedule.at).toISOString()}`;
}
