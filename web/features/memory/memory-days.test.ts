import { expect, test } from 'vitest';
import { toUtcDate, formatDayCounts, formatDay, addDays, toConsecutiveDays } from './memory-days.ts';

const day = (date: string, memories: number, messages = 0, notes = false) => ({ date, memories, messages, notes });

test('days in a row: those of which memory has nothing count 0, those outside are left out', () => {
  const counts = toConsecutiveDays([day('2026-03-01', 2), day('2026-02-27', 1, 9, true), day('2026-01-01', 5)], '2026-03-01', 4);
  expect(counts).toEqual([day('2026-02-26', 0), day('2026-02-27', 1, 9, true), day('2026-02-28', 0), day('2026-03-01', 2)]);
  expect(toConsecutiveDays([], '2026-03-01', 2).map(({ date }) => date)).toEqual(['2026-02-28', '2026-03-01']);
});

test('days go by UTC, over the ends of months and leap years', () => {
  expect(toUtcDate(Date.UTC(2026, 10, 22, 23, 59))).toBe('2026-11-22');
  expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
  expect(addDays('2027-01-01', -1)).toBe('2026-12-31');
});

test.each([
  ['2026-11-22', 'Today'],
  ['2026-11-21', 'Yesterday'],
  ['2026-11-20', 'Fri, Nov 20'],
  ['2025-12-31', 'Wed, Dec 31, 2025'],
  ['2026-11-23', 'Mon, Nov 23'],
])('%s is %s', (date, name) => expect(formatDay(date, '2026-11-22')).toBe(name));

test('what memory has of a day, in words', () => {
  expect(formatDayCounts(day('2026-11-22', 3, 1200, true))).toBe('3 memories · 1,200 messages · notes');
  expect(formatDayCounts(day('2026-11-22', 0))).toBe('no entries');
});
