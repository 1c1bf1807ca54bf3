import { expect } from 'vitest';
import type { CronJobDefinition, CronRun } from '#shared/rpc/methods/cron-contracts.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createWallClock } from '../../../../tests/support/wall-clock.ts';
import { GRACE_MS, formatMissed, computePlan } from './schedule-plan.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 10, 20, 12);

const job = (change: Partial<CronJobDefinition> = {}): CronJobDefinition => ({
  id: 'j',
  name: 'Job',
  enabled: true,
  schedule: { kind: 'every', everyMs: MINUTE },
  message: 'Go',
  agentId: 'main',
  sessionTarget: 'isolated',
  catchUp: false,
  createdAt: START,
  since: START,
  ...change,
});

const ran = (at: number, change: Partial<CronRun> = {}): CronRun => ({
  id: `j@${at}`,
  jobId: 'j',
  scheduledAt: at,
  startedAt: at,
  completedAt: at,
  status: 'completed',
  ...change,
});

verifies('cron/clock-changes', 'a clock that runs for ten years, seen at each tick and between, finds each tick once, none late', () => {
  const zone = 'America/Santiago';
  const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2036, 0, 1)];
  const clock = new FakeClock(from);
  const night = job({ schedule: { kind: 'cron', expr: '0 0 * * *', tz: zone }, since: from });
  let runs: CronRun[] = [];
  const found: number[] = [];
  while (clock.now() < to) {
    const { nextAt, due } = computePlan(night, runs, clock.now(), 'UTC');
    expect(due?.late ?? false).toBe(false);
    expect(due?.earlier ?? null).toBeNull();
    if (due) {
      found.push(due.tick);
      runs = [...runs, ran(due.tick)].slice(-3);
    }
    clock.advance(due ? 17_000 : Math.min(40 * HOUR, Math.max(1, (nextAt ?? to) - clock.now())));
  }
  expect(found).toEqual(createWallClock(zone, from, to).daily([{ hour: 0, minute: 0 }], from, to));
});

verifies('cron/missed', 'the newest tick is due, those before it are missed; all of them where even that one is late', () => {
  expect(computePlan(job(), [ran(START + MINUTE)], START + 5 * MINUTE, 'UTC').due).toEqual({
    tick: START + 5 * MINUTE,
    late: false,
    earlier: { first: START + 2 * MINUTE, last: START + 4 * MINUTE, count: 3, failures: 0 },
  });
  const hourly = job({ schedule: { kind: 'every', everyMs: HOUR } });
  expect(computePlan(hourly, [], START + HOUR + GRACE_MS, 'UTC').due).toMatchObject({ late: false });
  expect(computePlan(hourly, [], START + HOUR + GRACE_MS + 1, 'UTC').due).toMatchObject({ late: true, earlier: null });
  const year = computePlan(job(), [], START + 365 * 24 * HOUR, 'UTC').due;
  expect(year?.earlier).toMatchObject({ first: START + MINUTE, last: START + 365 * 24 * HOUR - MINUTE, count: 500 });
  expect(formatMissed(year?.earlier ?? { first: 0, last: 0, count: 0, failures: 0 })).toBe(
    '500 or more runs due from 2026-11-20T12:01:00.000Z to 2027-11-20T11:59:00.000Z were missed because Perch was not running or the computer was asleep',
  );
});

verifies('cron/clock-jump', 'back: what has a record is not due again, and what is to come comes by the clock as it is now', () => {
  const runs = [1, 2, 3, 4, 5].map((tick) => ran(START + tick * MINUTE));
  expect(computePlan(job(), runs, START + 2.5 * MINUTE, 'UTC')).toEqual({ nextAt: START + 6 * MINUTE, due: null });
  // The clock was years ahead for a while: the job does not wait until then.
  const ahead = [...runs, ran(START + 40_000 * HOUR)];
  expect(computePlan(job(), ahead, START + 6 * MINUTE, 'UTC').due).toEqual({ tick: START + 6 * MINUTE, late: false, earlier: null });
  // All recorded runs are in the future: nothing before them counts as missed.
  const far = computePlan(job(), [ran(START + 300 * HOUR)], START + 200 * HOUR, 'UTC').due;
  expect(far?.earlier?.count ?? 0).toBeLessThan(3);
  // The job itself was created while the clock was ahead.
  expect(computePlan(job({ since: START + 1000 * HOUR }), [], START, 'UTC').nextAt).toBeLessThanOrEqual(START + MINUTE);
});

verifies('cron/pause', 'it grows with each failure, ends with a success, and its ticks are told apart from missed ones', () => {
  const failed = (count: number): CronRun[] =>
    Array.from({ length: count }, (_, index) => ran(START + (index + 1) * MINUTE, { status: index % 2 ? 'timeout' : 'failed' }));
  const pauses = [1, 2, 3, 4, 5, 6, 20].map((count) => {
    const runs = failed(count);
    const ended = runs.at(-1)?.completedAt ?? 0;
    return ((computePlan(job(), runs, ended, 'UTC').nextAt ?? 0) - ended) / 1000;
  });
  expect(pauses).toEqual([60, 60, 300, 900, 3600, 3600, 3600]);
  const half = job({ schedule: { kind: 'every', everyMs: 10 * MINUTE } });
  expect(computePlan(half, failed(1), START + 9 * MINUTE, 'UTC').nextAt).toBe(START + 10 * MINUTE);
  // Skipped ticks count as neither failure nor success; a successful manual run ends the back-off.
  const skipped = [...failed(4), ran(START + 5 * MINUTE, { status: 'skipped' })];
  expect(computePlan(job(), skipped, START + 5 * MINUTE, 'UTC').nextAt).toBe(START + 19 * MINUTE);
  const byHand = [...skipped, ran(START + 5 * MINUTE + 1, { manual: true })];
  expect(computePlan(job(), byHand, START + 5 * MINUTE + 1, 'UTC').nextAt).toBe(START + 6 * MINUTE);
  const { due } = computePlan(job(), failed(4), START + 19 * MINUTE, 'UTC');
  expect(due).toEqual({
    tick: START + 19 * MINUTE,
    late: false,
    earlier: { first: START + 5 * MINUTE, last: START + 18 * MINUTE, count: 14, failures: 4 },
  });
  expect(due?.earlier && formatMissed(due.earlier)).toContain('skipped during the pause after 4 failures in a row');
  // If it was changed or enabled since then, the count restarts.
  expect(computePlan(job({ since: START + 4.5 * MINUTE }), failed(4), START + 4.5 * MINUTE, 'UTC').nextAt).toBe(START + 5.5 * MINUTE);
});

verifies('cron/once', 'one time is due once; it has no other tick, and does not rest', () => {
  const once = job({ schedule: { kind: 'at', at: START + MINUTE } });
  expect(computePlan(once, [], START, 'UTC')).toEqual({ nextAt: START + MINUTE, due: null });
  expect(computePlan(once, [], START + MINUTE, 'UTC').due).toEqual({ tick: START + MINUTE, late: false, earlier: null });
  expect(computePlan(once, [ran(START + MINUTE, { status: 'failed' })], START + 2 * MINUTE, 'UTC')).toEqual({ nextAt: null, due: null });
});
