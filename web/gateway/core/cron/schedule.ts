import { Cron } from 'croner';
import { toClause } from '#shared/clause.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { Schedule, WantedSchedule } from '#shared/rpc/methods/cron.ts';
import { isTimeZone } from '../local-time.ts';

/** The ticks of a schedule; instants are milliseconds since 1970. */
export interface Ticks {
  /** The first tick later than `at`; null where there is none any more. */
  after(at: number): number | null;
  /** The last tick up to `at`; null where there was none. */
  upTo(at: number): number | null;
}

/**
 * The ticks of a schedule. `since`: from where `every` counts. `timeZone`: of an expression that has none of its own.
 *
 * Where the clocks change, an expression with plain minutes and hours (`30 2 * * *`, lists and ranges too) ticks exactly once a day: at the end of the gap
 * where its time is left out, at the first of two where it comes twice. Parts of a second of such a one are dropped. One with `*` or a step in them (`0-59/15 2 * * *`) follows the clock: it is left out
 * with the hour, and ticks in both of two. `every` counts real time.
 */
export function ticksOf(schedule: Schedule, since: number, timeZone: string): Ticks {
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
        // What is asked for is before the reference.
        upTo: (at) => cron.previousRuns(1, new Date(at + 1))[0]?.getTime() ?? null,
      };
    }
  }
}

/**
 * A schedule as it is kept: with a time in milliseconds. One without an offset is of the schedule's own time zone: as much later as the clocks leave out where it is in their gap, the
 * first of two where it comes twice. Throws `INVALID_PARAMS` where it could be of any. `key`: the param it came in.
 */
export function scheduleOf(given: WantedSchedule, key: string): Schedule {
  if (given.kind !== 'at') return given;
  const { kind, at, tz } = given;
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

/** Throws `INVALID_PARAMS` for an expression that cannot be read or never ticks, a time zone that there is not, and a time that is past. `key`: the param it came in. */
export function checkSchedule(schedule: Schedule, now: number, key: string): void {
  const refuse = (why: string): never => {
    throw new RpcError('INVALID_PARAMS', `Invalid \`${key}\`: ${toClause(why)}.`);
  };
  if (schedule.kind === 'at' && schedule.at <= now) refuse(`the time ${new Date(schedule.at).toISOString()} has passed`);
  if (schedule.kind !== 'cron') return;
  const { expr, tz } = schedule;
  if (tz !== undefined && !isTimeZone(tz)) refuse(`unknown time zone "${tz}"`);
  if (expr.split(/\s+/).length !== 5) refuse(`"${expr}" must have five fields: minute, hour, day, month, weekday`);
  let next: number | null = null;
  try {
    next = ticksOf(schedule, now, 'UTC').after(now);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    refuse(`"${expr}" is not a cron expression (${why})`);
  }
  if (next === null) refuse(`"${expr}" never matches`);
}
