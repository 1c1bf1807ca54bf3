import { expect, test } from 'vitest';
import { groupByDay, getDayHeading } from './day-groups.ts';

const now = new Date(2026, 10, 21, 0, 30).getTime();
const at = (...parts: [number, number, number, number?]) => new Date(...(parts as [number, number, number])).getTime();

test.each([
  [at(2026, 10, 21), 'Today'],
  [new Date(2026, 10, 20, 23, 59).getTime(), 'Yesterday'],
  [at(2026, 10, 16), 'Previous 7 days'],
  [at(2026, 10, 1), 'Previous 30 days'],
  [at(2026, 5, 1), 'June'],
  [at(2025, 5, 1), 'June 2025'],
  [now + 3_600_000, 'Today'],
])('%d stands under %s', (time, heading) => {
  expect(getDayHeading(time, now)).toBe(heading);
});

test('entries keep their order under their headings', () => {
  const groups = groupByDay([{ updatedAt: now }, { updatedAt: now - 1000 }, { updatedAt: now - 86_400_000 }], now);
  expect(groups.map(({ heading, entries }) => [heading, entries.length])).toEqual([
    ['Today', 2],
    ['Yesterday', 1],
  ]);
});
