import { dateTime } from '#lib/i18n/format.ts';

/** Day and time as a person has them here. */
export const ownValues = (now: Date): { date: string; time: string } => ({
  date: dateTime(now, { dateStyle: 'long' }),
  time: dateTime(now, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
});
