import type { Schedule } from '../rpc/methods/cron.ts';

/** A schedule in one line: its expression, or words such as `every 3600 s`, `at 2026-01-01T00:00:00.000Z`. */
export function scheduleText(given: Schedule): string {
  if (given.kind === 'cron') return given.expr;
  return given.kind === 'every' ? `every ${given.everyMs / 1000} s` : `at ${new Date(given.at).toISOString()}`;
}
