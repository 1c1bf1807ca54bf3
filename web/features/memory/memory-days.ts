import { formatDateTime } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';
import type { MemoryDay } from './types.ts';

const DAY_MS = 86_400_000;

/** UTC date of a time, `YYYY-MM-DD`, as memory uses it. */
export const toUtcDate = (time: number): string => new Date(time).toISOString().slice(0, 10);

const parseUtcDate = (date: string): number => Date.parse(`${date}T00:00:00Z`);

/** Adds a number of days, which may be negative, to a date. */
export const addDays = (date: string, days: number): string => toUtcDate(parseUtcDate(date) + days * DAY_MS);

/** `count` consecutive days ending with `last`, oldest first; a day without memories counts 0. */
export function toConsecutiveDays(days: readonly MemoryDay[], last: string, count: number): MemoryDay[] {
  const dayByDate = new Map(days.map((day) => [day.date, day]));
  return Array.from({ length: count }, (_, index) => {
    const date = addDays(last, index - count + 1);
    return dayByDate.get(date) ?? { date, memories: 0, messages: 0, notes: false };
  });
}

/** Formats a day relative to `today`: `Today`, `Fri, Nov 20`, with the year if it differs. */
export function formatDay(date: string, today: string): string {
  if (date === today) return m.memory_today();
  if (date === addDays(today, -1)) return m.memory_yesterday();
  const sameYear = date.slice(0, 4) === today.slice(0, 4);
  return formatDateTime(parseUtcDate(date), {
    timeZone: 'UTC',
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(sameYear ? {} : { year: 'numeric' }),
  });
}

/** Counts of a day's memories, messages and notes, in words. */
export function formatDayCounts({ memories, messages, notes }: MemoryDay): string {
  const parts = [
    memories > 0 ? m.memory_count_noted({ count: memories }) : '',
    messages > 0 ? m.memory_count_said({ count: messages }) : '',
    notes ? m.memory_count_notes() : '',
  ];
  return parts.filter((part) => part !== '').join(' · ') || m.memory_count_nothing();
}
