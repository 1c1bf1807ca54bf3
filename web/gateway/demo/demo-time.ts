export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A time of day, `HH:MM`, some days before `now`, in milliseconds since 1970; never later than `now`. */
export function getDaysAgo(now: number, days: number, time = '09:00'): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return Math.min(now - MINUTE_MS, new Date(now - days * DAY_MS).setHours(hours, minutes, 0, 0));
}

/** Year of the last spring count before `now`: counts end in April. */
export const getSeason = (now: number): number => {
  const date = new Date(now);
  return date.getFullYear() - (date.getMonth() < 4 ? 1 : 0);
};
