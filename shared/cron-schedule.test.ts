import { describe, expect } from 'vitest';
import { verifies } from '../tests/requirements.ts';
import { createWallClock } from '../tests/support/wall-clock.ts';
import { checkSchedule, parseSchedule, getTicks } from './cron-schedule.ts';

const HOUR = 3_600_000;
const FROM = Date.UTC(2026, 0, 1);
const TO = Date.UTC(2036, 0, 1);
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe', 'Africa/Casablanca'] as const;

const iso = (at: number): string => new Date(at).toISOString();

function all(expr: string, zone: string, from = FROM, to = TO): number[] {
  const ticks = getTicks({ kind: 'cron', expr, tz: zone }, 0, 'UTC');
  const found: number[] = [];
  for (let at = ticks.after(from - 1); at !== null && at < to; at = ticks.after(at)) found.push(at);
  return found;
}

describe.each(ZONES)('ten years in %s', (zone) => {
  const clock = createWallClock(zone, FROM, TO);

  verifies('cron/clock-changes', 'a job for a time of day comes exactly once a day, at the end of a gap, at the first of two', () => {
    expect(all('30 2 * * *', zone).map(iso)).toEqual(clock.daily([{ hour: 2, minute: 30 }], FROM, TO).map(iso));
    expect(all('0 0 * * *', zone).map(iso)).toEqual(clock.daily([{ hour: 0, minute: 0 }], FROM, TO).map(iso));
  });

  verifies('cron/clock-changes', 'around each change: a list or a range of times has each of them once, those in a gap together', () => {
    const times = [0, 1, 2, 3].flatMap((hour) => [15, 45].map((minute) => ({ hour, minute })));
    for (const change of clock.changes) {
      const span = [change - 26 * HOUR, change + 26 * HOUR] as const;
      expect(all('15,45 0-3 * * *', zone, ...span).map(iso)).toEqual(clock.daily(times, ...span).map(iso));
    }
  });

  verifies('cron/clock-changes', 'around each change: one with a step follows the clock, minute by minute', () => {
    for (const change of clock.changes) {
      const span = [change - 6 * HOUR, change + 6 * HOUR] as const;
      const expected = clock.minutes(...span).filter(({ hour, minute }) => hour <= 4 && minute % 20 === 0);
      expect(all('*/20 0-4 * * *', zone, ...span).map(iso)).toEqual(expected.map(({ at }) => iso(at)));
    }
  });

  verifies('cron/clock-changes', 'the newest tick up to a moment is the one before the next', () => {
    const ticks = getTicks({ kind: 'cron', expr: '30 2 * * *', tz: zone }, 0, 'UTC');
    for (const change of clock.changes) {
      for (let at = change - 3 * HOUR; at <= change + 27 * HOUR; at += 30 * 60_000) {
        const newest = ticks.upTo(at) ?? 0;
        expect(newest).toBeLessThanOrEqual(at);
        expect(ticks.after(newest)).toBeGreaterThan(at);
        expect(ticks.after(newest - 1)).toBe(newest);
      }
    }
  });
});

verifies('cron/schedule', 'an interval counts from when its job was made, whatever the clocks', () => {
  const ticks = getTicks({ kind: 'every', everyMs: 90_000 }, 1_000, 'Europe/Berlin');
  expect([ticks.after(1_000), ticks.after(91_000), ticks.after(91_001)]).toEqual([91_000, 181_000, 181_000]);
  expect([ticks.upTo(90_999), ticks.upTo(91_000)]).toEqual([1_000, 91_000]);
});

verifies('cron/schedule', 'a time is milliseconds, or text with an offset, or of a time zone that is given with it', () => {
  const kept = (at: string | number, tz?: string): string => {
    const schedule = parseSchedule({ kind: 'at', at, ...(tz === undefined ? {} : { tz }) }, 'schedule');
    return schedule.kind === 'at' && Object.keys(schedule).length === 2 ? iso(schedule.at) : JSON.stringify(schedule);
  };
  expect(kept(FROM, 'Asia/Tokyo')).toBe(iso(FROM));
  expect(kept('2026-05-01T09:00:00.250Z', 'Asia/Tokyo')).toBe('2026-05-01T09:00:00.250Z');
  expect(kept('2026-05-01T09:00-03:30')).toBe('2026-05-01T12:30:00.000Z');
  expect(kept('2026-05-01T09:00', 'Europe/Berlin')).toBe('2026-05-01T07:00:00.000Z');
  expect(kept('2026-11-01T09:00:30', 'Europe/Berlin')).toBe('2026-11-01T08:00:30.000Z');
  // The clocks go from 02:00 to 03:00, and from 03:00 back to 02:00.
  expect(kept('2026-03-29T02:30:00', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z');
  expect(kept('2026-10-25T02:30:00', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z');
  expect(() => kept('2026-05-01T09:00')).toThrow('`schedule.at` has no time zone: 2026-05-01T09:00. End it with Z or an offset');
  expect(() => kept('2026-05-01T09:00', 'No/Where')).toThrow('Unknown time zone "No/Where" in `schedule`.');
});

verifies('cron/schedule', 'an invalid schedule is refused with a reason', () => {
  const refused = (schedule: Parameters<typeof checkSchedule>[0]): string => {
    try {
      checkSchedule(schedule, FROM, 'schedule');
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_PARAMS' });
      return error instanceof Error ? error.message : '';
    }
    return 'accepted';
  };
  const expr = (text: string, tz?: string): string => refused({ kind: 'cron', expr: text, ...(tz === undefined ? {} : { tz }) });
  expect(expr('* * * *')).toBe('Invalid `schedule`: "* * * *" must have five fields: minute, hour, day, month, weekday.');
  expect(expr('0 * * * * *')).toContain('five fields');
  expect(expr('@daily')).toContain('five fields');
  expect(expr('61 * * * *')).toBe('Invalid `schedule`: "61 * * * *" is not a cron expression (Invalid value for minute: 61).');
  expect(expr('0 9 * * FOO')).toContain('is not a cron expression');
  expect(expr('0 0 30 2 *')).toBe('Invalid `schedule`: "0 0 30 2 *" never matches.');
  expect(expr('0 9 * * *', 'No/Where')).toBe('Invalid `schedule`: unknown time zone "No/Where".');
  expect(refused({ kind: 'at', at: FROM })).toBe(`Invalid \`schedule\`: the time ${iso(FROM)} has passed.`);
  expect([expr('0 9 * * MON-FRI'), expr('*/5 8-18 1,15 * *', 'Asia/Tokyo'), refused({ kind: 'at', at: FROM + 1 })]).toEqual(
    Array.from({ length: 3 }, () => 'accepted'),
  );
});
