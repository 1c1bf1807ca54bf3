import { dateTime } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/pages.ts';
import type { MemoryDay } from './types.ts';

const DAY_MS = 86_400_000;

/** A time's day as memory names it: of UTC, `YYYY-MM-DD`. */
export const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const timeOf = (date: string): number => Date.parse(`${date}T00:00:00Z`);

/** The day that many days after another, or before it. */
export const daysAfter = (date: string, days: number): string => dateOf(timeOf(date) + days * DAY_MS);

/** `count` consecutive days ending with `last`, oldest first; a day without memories counts 0. */
export function inARow(days: readonly MemoryDay[], last: string, count: number): MemoryDay[] {
  const known = new Map(days.map((day) => [day.date, day]));
  return Array.from({ length: count }, (_, at) => {
    const date = daysAfter(last, at - count + 1);
    return known.get(date) ?? { date, memories: 0, messages: 0, notes: false };
  });
}

/** Formats a day relative to `today`: `Today`, `Fri, Nov 20`, with the year if it differs. */
export function dayName(date: string, today: string): string {
  if (date === today) return m.memory_today();
  if (date === daysAfter(today, -1)) return m.memory_yesterday();
  const sameYear = date.slice(0, 4) === today.slice(0, 4);
  return dateTime(timeOf(date), {
    timeZone: 'UTC',
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(sameYear ? {} : { year: 'numeric' }),
  });
}

/** Counts of a day's memories, messages and notes, in words. */
export function dayCounts({ memories, messages, notes }: MemoryDay): string {
  const parts = [
    memories > 0 ? m.memory_count_noted({ count: memories }) : '',
    messages > 0 ? m.memory_count_said({ count: messages }) : '',
    notes ? m.memory_count_notes() : '',
  ];
  return parts.filter((part) => part !== '').join(' · ') || m.memory_count_nothing();
}
