import { type CronField, parseCron } from './cron-fields.ts';

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const WORKDAYS = '1,2,3,4,5';
/** Maximum number of times to list one by one. */
const MAX_TIMES = 4;

/** Structure of a schedule, for callers that phrase it themselves. */
export interface CronShape {
  /** Every `step` minutes; every `step` hours, `past` minutes past; or at times of a day, such as `03:00`. */
  time: { every: 'minutes'; step: number } | { every: 'hours'; step: number; past: number } | { every: 'day'; at: string[] };
  /** Weekdays count from Sunday, 0; dates from 1. */
  days:
    { kind: 'all' } | { kind: 'workdays' } | { kind: 'weekdays'; values: readonly number[] } | { kind: 'dates'; values: readonly number[] };
  /** From 1; null: all of them. */
  months: readonly number[] | null;
}

/** Undefined if the description would be longer than the expression, or the expression is invalid. */
export function getCronShape(text: string): CronShape | undefined {
  let fields;
  try {
    fields = parseCron(text);
  } catch {
    return undefined;
  }
  if (!fields) return undefined;
  const { minute, hour, day, month, weekday } = fields;
  const time = toTime(minute, hour);
  const days = toDays(day, weekday);
  if (!time || !days || (month.all && month.step !== 1)) return undefined;
  return { time, days, months: month.all ? null : month.values };
}

/** Describes a five-field schedule: `every day at 03:00`. A schedule that has no such description or is invalid is returned as written. */
export function describeCronInEnglish(text: string): string {
  const shape = getCronShape(text);
  if (!shape) return text.trim();
  const days = describeDays(shape.days);
  const months = shape.months ? ` in ${joinWithAnd(shape.months.map((each) => MONTHS[each - 1] ?? ''))}` : '';
  const { time } = shape;
  if (time.every === 'day') return `${days}${months} at ${joinWithAnd(time.at)}`;
  const every = describeInterval(time);
  // "every 15 minutes" already states the interval.
  return shape.days.kind === 'all' ? `${every}${months}` : `${every}, ${days}${months}`;
}

function toTime(minute: CronField, hour: CronField): CronShape['time'] | undefined {
  if (minute.all) return hour.all && hour.step === 1 ? { every: 'minutes', step: minute.step } : undefined;
  if (hour.all) {
    const [past = 0] = minute.values;
    return minute.values.length > 1 ? undefined : { every: 'hours', step: hour.step, past };
  }
  const at = hour.values.flatMap((each) => minute.values.map((past) => `${padTwoDigits(each)}:${padTwoDigits(past)}`));
  return at.length > MAX_TIMES ? undefined : { every: 'day', at };
}

function describeInterval(time: Exclude<CronShape['time'], { every: 'day' }>): string {
  if (time.every === 'minutes') return time.step === 1 ? 'every minute' : `every ${time.step} minutes`;
  const every = time.step === 1 ? 'every hour' : `every ${time.step} hours`;
  return time.past === 0 ? every : `${every}, ${time.past} minutes past`;
}

function toDays(day: CronField, weekday: CronField): CronShape['days'] | undefined {
  if (day.all && weekday.all) return weekday.step === 1 && day.step === 1 ? { kind: 'all' } : undefined;
  if (day.all && !weekday.all) {
    if (day.step !== 1) return undefined;
    return weekday.values.join() === WORKDAYS ? { kind: 'workdays' } : { kind: 'weekdays', values: weekday.values };
  }
  if (!day.all && weekday.all && weekday.step === 1) return { kind: 'dates', values: day.values };
  return undefined;
}

function describeDays(days: CronShape['days']): string {
  switch (days.kind) {
    case 'all':
      return 'every day';
    case 'workdays':
      return 'Monday to Friday';
    case 'weekdays':
      return `every ${joinWithAnd(days.values.map((each) => WEEKDAYS[each] ?? ''))}`;
    case 'dates':
      return `on the ${joinWithAnd(days.values.map(toOrdinal))} of the month`;
  }
}

const padTwoDigits = (value: number): string => String(value).padStart(2, '0');

function toOrdinal(value: number): string {
  const ending = value % 100 >= 11 && value % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th');
  return `${value}${ending}`;
}

const joinWithAnd = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
