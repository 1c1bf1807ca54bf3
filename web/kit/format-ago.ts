import { formatDateTime, formatRelativeTime } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';

const UNITS = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/**
 * Formats a past time: `5 minutes ago`. Both are in milliseconds since 1970. Future times count as now, since the clocks of two devices may
 * differ a little.
 */
export function formatAgo(at: number, now: number): string {
  for (const [unit, ms] of UNITS) if (now - at >= ms) return formatRelativeTime(-Math.floor((now - at) / ms), unit, { numeric: 'auto' });
  return m.kit_just_now();
}

export const formatExactTime = (at: number): string => formatDateTime(at, { dateStyle: 'medium', timeStyle: 'medium' });
