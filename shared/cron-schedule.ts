import { Cron } from 'croner';
import { toClause } from './clause.ts';
import { RpcError } from './rpc/rpc-error.ts';
import type { Schedule, ScheduleInput } from './rpc/methods/cron-contracts.ts';
import { isTimeZone } from './local-time.ts';

/** The ticks of a schedule, in milliseconds since 1970. */
interface Ticks {
  /** The first tick later than `at`; null if there is none. */
  after(at: number): number | null;
  /** The last tick up to `at`; null if there was none. */
  upTo(at: number): number | null;
}

/**
 * The ticks of a schedule. `since`: time from which `every` counts. `timeZone`: for an expression without its own.
 *
 * On clock changes, an expression with plain minutes and hours (`30 2 * * *`, also lists and ranges) ticks exactly once a day: at the end
 * of the gap if its time is skipped, at the first of two if it occurs twice; fractions of a second are dropped. An expression with `*` or a
 * step in them (`0-59/15 2 * * *`) follows the clock: it is skipped with the hour, and ticks in both of two. `every` counts elapsed time.
 */
export function getTicks(schedule: Schedule, since: number, timeZone: string): Ticks {
  switch (schedule.kind) {
    case 'at':
      return { after: (at) => (at < schedule.at ? schedule.at : null), upTo: (at) => (schedule.at <= at ? schedule.at : null) };
    case 'every': {
      const upTo = (at: number): number => since + Math.floor((at - since) / schedule.everyMs) * schedule.everyMs;
      return { after: (at) => upTo(at) + schedule.everyMs, upTo };
    }
    case 'cron': {
      const cron = new Cron(schedule.expr, { timezone: schedule.tz ?? timeZone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
      return {
        after: (at) => cron.nextRun(new Date(at))?.getTime() ?? null,
        // `previousRuns` returns ticks before the reference.
        upTo: (at) => cron.previousRuns(1, new Date(at + 1))[0]?.getTime() ?? null,
      };
    }
  }
}

/**
 * Normalizes a schedule to a time in milliseconds. A time without an offset is in the schedule's own time zone: in a gap of the clocks it
 * is moved by the gap's length, and the first of two is taken if it occurs twice. Throws `INVALID_PARAMS` if there is neither offset nor
 * time zone. `key`: the param with the schedule.
 */
export function parseSchedule(input: ScheduleInput, key: string): Schedule {
  if (input.kind !== 'at') return input;
  const { kind, at, tz } = input;
  if (typeof at === 'number') return { kind, at };
  if (/(Z|[+-]\d\d:\d\d)$/.test(at)) return { kind, at: Date.parse(at) };
  if (tz === undefined)
    throw new RpcError(
      'INVALID_PARAMS',
      `\`${key}.at\` has no time zone: ${at}. End it with Z or an offset such as +02:00, or set \`tz\`.`,
    );
  if (!isTimeZone(tz)) throw new RpcError('INVALID_PARAMS', `Unknown time zone "${tz}" in \`${key}\`.`);
  return { kind, at: new Cron(at, { timezone: tz }).nextRun(new Date(0))?.getTime() ?? 0 };
}

/**
 * Throws `INVALID_PARAMS` for an expression that is malformed or never ticks, an unknown time zone, and a past time. `key`: the param with
 * the schedule.
 */
export function checkSchedule(schedule: Schedule, now: number, key: string): void {
  const fail = (message: string): never => {
    throw new RpcError('INVALID_PARAMS', `Invalid \`${key}\`: ${toClause(message)}.`);
  };
  if (schedule.kind === 'at' && schedule.at <= now) fail(`the time ${new Date(schedule.at).toISOString()} has passed`);
  if (schedule.kind !== 'cron') return;
  const { expr, tz } = schedule;
  if (tz !== undefined && !isTimeZone(tz)) fail(`unknown time zone "${tz}"`);
  if (expr.split(/\s+/).length !== 5) fail(`"${expr}" must have five fields: minute, hour, day, month, weekday`);
  let next: number | null = null;
  try {
    next = getTicks(schedule, now, 'UTC').after(now);
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    fail(`"${expr}" is not a cron expression (${message})`);
  }
  if (next === null) fail(`"${expr}" never matches`);
}
