import { formatDateTime } from '../i18n/format.ts';

/** Date and time for prompts, in this browser's locale and time zone. */
export const getDefaultVariables = (now: Date): { date: string; time: string } => ({
  date: formatDateTime(now, { dateStyle: 'long' }),
  time: formatDateTime(now, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
});
