import { formatDateTime } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';

const DAY_MS = 86_400_000;

function getStartOfDay(time: number): number {
  const date = new Date(time);
  date.setHours(0, 0, 0, 0);
  return date.getTime();
}

/** The heading for a session of this time, seen at `now`. */
export function getDayHeading(time: number, now: number): string {
  const days = Math.round((getStartOfDay(now) - getStartOfDay(time)) / DAY_MS);
  if (days <= 0) return m.chat_day_today();
  if (days === 1) return m.chat_day_yesterday();
  if (days < 7) return m.chat_day_past_week();
  if (days < 30) return m.chat_day_past_month();
  const date = new Date(time);
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  return formatDateTime(date, sameYear ? { month: 'long' } : { month: 'long', year: 'numeric' });
}

/** Groups a list that is sorted by time, newest first, under its headings. */
export function groupByDay<T extends { updatedAt: number }>(list: readonly T[], now: number): { heading: string; entries: T[] }[] {
  const groups: { heading: string; entries: T[] }[] = [];
  for (const entry of list) {
    const heading = getDayHeading(entry.updatedAt, now);
    const last = groups.at(-1);
    if (last?.heading === heading) last.entries.push(entry);
    else groups.push({ heading, entries: [entry] });
  }
  return groups;
}
