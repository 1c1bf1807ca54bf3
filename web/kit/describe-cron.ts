import { findCronFault } from '#shared/cron/cron-fields.ts';
import { type CronShape, getCronShape } from '#shared/cron/cron-in-english.ts';
import { formatDateTime, formatList } from '#app/i18n/format.ts';
import { locale } from '#app/i18n/locale.ts';
import { m } from '#app/i18n/messages.ts';

/** Sunday is 0. */
export const getWeekdayName = (weekday: number): string =>
  formatDateTime(Date.UTC(2023, 0, 1 + weekday), { weekday: 'long', timeZone: 'UTC' });
/** January is 1. */
const getMonthName = (month: number): string => formatDateTime(Date.UTC(2023, month - 1, 1), { month: 'long', timeZone: 'UTC' });

// British English, without a comma before the last item, as in texts of the gateway.
const english = new Intl.ListFormat('en-GB');
const formatValues = (words: readonly string[]): string => (locale === 'en' ? english.format(words) : formatList(words));

/** Describes a five-field schedule: `every day at 03:00`. A schedule that has no such description or is invalid is returned as written. */
export function describeCron(text: string): string {
  const shape = getCronShape(text);
  if (!shape) return locale === 'en' ? text.trim() : `\u2066${text.trim()}\u2069`;
  return shape.time.every === 'day'
    ? describeTimes(shape, formatValues(shape.time.at))
    : describeRepeat(shape, describeInterval(shape.time));
}

function describeInterval(time: Exclude<CronShape['time'], { every: 'day' }>): string {
  if (time.every === 'minutes') return m.schedules_every_minutes({ count: time.step });
  const { step: count, past } = time;
  return past === 0 ? m.schedules_every_hours({ count }) : m.schedules_every_hours_past({ count, past });
}

function describeTimes({ days, months: monthNumbers }: CronShape, times: string): string {
  const months = monthNumbers && formatValues(monthNumbers.map(getMonthName));
  switch (days.kind) {
    case 'all':
      return months ? m.schedules_daily_in_at({ months, times }) : m.schedules_daily_at({ times });
    case 'workdays':
      return months ? m.schedules_workdays_in_at({ months, times }) : m.schedules_workdays_at({ times });
    case 'weekdays': {
      const weekdays = formatValues(days.values.map(getWeekdayName));
      return months ? m.schedules_weekdays_in_at({ weekdays, months, times }) : m.schedules_weekdays_at({ weekdays, times });
    }
    case 'dates': {
      const dates = formatValues(days.values.map((day) => m.schedules_date_ordinal({ day })));
      return months ? m.schedules_dates_in_at({ dates, months, times }) : m.schedules_dates_at({ dates, times });
    }
  }
}

function describeRepeat({ days, months: monthNumbers }: CronShape, every: string): string {
  const months = monthNumbers && formatValues(monthNumbers.map(getMonthName));
  switch (days.kind) {
    case 'all':
      return months ? m.schedules_daily_in_every({ every, months }) : every;
    case 'workdays':
      return months ? m.schedules_workdays_in_every({ every, months }) : m.schedules_workdays_every({ every });
    case 'weekdays': {
      const weekdays = formatValues(days.values.map(getWeekdayName));
      return months ? m.schedules_weekdays_in_every({ every, weekdays, months }) : m.schedules_weekdays_every({ every, weekdays });
    }
    case 'dates': {
      const dates = formatValues(days.values.map((day) => m.schedules_date_ordinal({ day })));
      return months ? m.schedules_dates_in_every({ every, dates, months }) : m.schedules_dates_every({ every, dates });
    }
  }
}

const FIELD_ERRORS = {
  minute: (range: CronFieldRange) => m.schedules_wrong_minute(range),
  hour: (range: CronFieldRange) => m.schedules_wrong_hour(range),
  day: (range: CronFieldRange) => m.schedules_wrong_day(range),
  month: (range: CronFieldRange) => m.schedules_wrong_month(range),
  weekday: (range: CronFieldRange) => m.schedules_wrong_weekday(range),
};
interface CronFieldRange {
  text: string;
  least: number;
  most: number;
}

/** Validates a five-field schedule. Returns the problem as a sentence; undefined if valid. */
export function validateCron(text: string): string | undefined {
  const fault = findCronFault(text);
  switch (fault?.kind) {
    case undefined:
      return undefined;
    case 'fields':
      return m.schedules_wrong_fields();
    case 'never':
      return m.schedules_wrong_never();
    case 'range':
      return FIELD_ERRORS[fault.field]({ text: fault.text, least: fault.least, most: fault.most });
  }
}
