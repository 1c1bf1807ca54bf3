import { formatDateTime } from '#lib/i18n/format.ts';

/** Day and time as a person has them here. */
export const getDefaultVariables = (now: Date): { date: string; time: string } => ({
  date: formatDateTime(now, { dateStyle: 'long' }),
  time: formatDateTime(now, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
});
