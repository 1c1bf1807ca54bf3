import { expect, test } from 'vitest';
import type { CronJob, Schedule } from '#shared/rpc/methods/cron-contracts.ts';
import { toJobDraft, type JobDraft, createJobDraft, toSchedule, toOutsideGrant } from './job-draft.ts';
import { formatTimeUntil, formatClockTime, describeSchedule } from './schedule-texts.ts';

const NOW = new Date(2026, 10, 23, 9, 0).getTime();
const MINUTE = 60_000;

const job = (schedule: Schedule): CronJob => ({
  ...{ id: 'a', name: 'A', enabled: true, schedule, message: 'Say it', agentId: 'main', sessionTarget: 'main', catchUp: true },
  ...{ createdAt: NOW, nextRunAt: null, lastRunAt: null, lastStatus: null },
});
const buildSchedule = (change: Partial<JobDraft>): Schedule | string =>
  toSchedule({ ...createJobDraft(NOW, 'Europe/Berlin'), ...change }, NOW);

test.each<[Schedule, Partial<JobDraft>]>([
  [
    { kind: 'every', everyMs: 15 * MINUTE },
    { when: 'every', count: 15, unit: 'minutes' },
  ],
  [
    { kind: 'every', everyMs: 120 * MINUTE },
    { when: 'every', count: 2, unit: 'hours' },
  ],
  [
    { kind: 'every', everyMs: 90_000 },
    { when: 'every', count: 1.5, unit: 'minutes' },
  ],
  [
    { kind: 'cron', expr: '30 7 * * *', tz: 'Asia/Tokyo' },
    { when: 'daily', time: '07:30', zone: 'Asia/Tokyo' },
  ],
  [
    { kind: 'cron', expr: '0 16 * * 5' },
    { when: 'weekly', time: '16:00', weekdays: [5], zone: '' },
  ],
  [
    { kind: 'cron', expr: '0 8 1 * *' },
    { when: 'cron', expr: '0 8 1 * *' },
  ],
  [{ kind: 'cron', expr: '0 8 * 6 1' }, { when: 'cron' }],
  [{ kind: 'cron', expr: '*/5 8 * * *' }, { when: 'cron' }],
  [{ kind: 'cron', expr: '0 8,9 * * *' }, { when: 'cron' }],
  [{ kind: 'cron', expr: '0 8 L * *' }, { when: 'cron' }],
  [{ kind: 'at', at: NOW + 60 * MINUTE }, { when: 'once' }],
])('the form says of %j what it is, and makes the same of it', (schedule, fields) => {
  const draft = toJobDraft(job(schedule), NOW);
  expect(draft).toMatchObject({ name: 'A', message: 'Say it', sessionTarget: 'main', catchUp: true, ...fields });
  expect(toSchedule(draft, NOW)).toEqual(schedule);
});

test.each<[CronJob['outsideGrant'], Partial<JobDraft>]>([
  [{ tools: [] }, { outside: 'ask' }],
  [{ tools: ['*'] }, { outside: 'all' }],
  [
    { tools: ['file_write'], paths: ['reports/daily/'] },
    { outside: 'files', outsideFolder: 'reports/daily' },
  ],
])('the form has what %j allows after reading from outside, and makes the same of it', (outsideGrant, fields) => {
  const draft = toJobDraft({ ...job({ kind: 'every', everyMs: MINUTE }), outsideGrant }, NOW);
  expect(draft).toMatchObject(fields);
  expect(toOutsideGrant(draft)).toEqual(outsideGrant);
});

test('the form leaves what was allowed elsewhere, asks in a new job, and reads a folder as people write it', () => {
  const outsideGrant = { tools: ['file_write', 'wiki_write'] };
  expect(toOutsideGrant(toJobDraft({ ...job({ kind: 'every', everyMs: MINUTE }), outsideGrant }, NOW))).toBeUndefined();
  expect(toOutsideGrant(createJobDraft(NOW, ''))).toEqual({ tools: [] });
  expect(toOutsideGrant({ outside: 'files', outsideFolder: ' /reports// ' })).toEqual({ tools: ['file_write'], paths: ['reports/'] });
});

test('Monday to Friday is what a form for days of the week begins with', () => {
  expect(buildSchedule({ when: 'weekly', time: '09:05' })).toEqual({ kind: 'cron', expr: '5 9 * * 1,2,3,4,5', tz: 'Europe/Berlin' });
});

test.each<[Partial<JobDraft>, RegExp]>([
  [{ when: 'every', count: null }, /minimum is 1 minute/],
  [{ when: 'every', count: 0.5, unit: 'minutes' }, /minimum is 1 minute/],
  [{ when: 'every', count: 367, unit: 'days' }, /maximum is 1 year/],
  [{ when: 'daily', time: '' }, /Enter a time/],
  [{ when: 'weekly', weekdays: [] }, /at least one day/],
  [{ when: 'once', date: '' }, /date and time/],
  [{ when: 'once', date: '2020-01-01T00:00' }, /in the future/],
  [{ when: 'cron', expr: '0 25 * * *' }, /Use 0 to 23/],
  [{ when: 'cron', expr: '0 8 * * *', zone: 'Europe/Berlinn' }, /Unknown time zone/],
  [{ when: 'daily', zone: ' Mars/Base ' }, /Unknown time zone/],
])('%j is refused with a sentence', (change, sentence) => {
  expect(buildSchedule(change)).toMatch(sentence);
});

test('times are said in words, and by the clock', () => {
  expect([0, -5000, 1, 30_000].map((ms) => formatTimeUntil(NOW + ms, NOW))).toEqual([
    'now',
    'now',
    'in less than a minute',
    'in less than a minute',
  ]);
  expect([MINUTE, 59 * MINUTE, 60 * MINUTE, 1440 * MINUTE].map((ms) => formatTimeUntil(NOW + ms, NOW))).toEqual([
    'in 1 minute',
    'in 59 minutes',
    'in 1 hour',
    'in 1 day',
  ]);
  expect(formatClockTime(NOW, NOW)).toBe('Mon, Nov 23, 09:00');
  expect(formatClockTime(new Date(2027, 0, 2, 0, 5).getTime(), NOW)).toBe('Jan 2, 2027, 00:05');
});

test('a schedule is said as people say it', () => {
  expect(describeSchedule({ kind: 'every', everyMs: MINUTE }, NOW)).toBe('every minute');
  expect(describeSchedule({ kind: 'every', everyMs: 90_000 }, NOW)).toBe('every 90 seconds');
  expect(describeSchedule({ kind: 'every', everyMs: 120 * MINUTE }, NOW)).toBe('every 2 hours');
  expect(describeSchedule({ kind: 'cron', expr: '0 8 * * 1-5', tz: 'Europe/Berlin' }, NOW)).toBe(
    'Monday to Friday at 08:00 (Europe/Berlin)',
  );
  expect(describeSchedule({ kind: 'at', at: NOW }, NOW)).toBe('once, Mon, Nov 23, 09:00');
});
