import { type CronField, parseCron } from './fields.ts';

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const WORKDAYS = '1,2,3,4,5';
/** More times than these are told by what they have in common. */
const MOST_TIMES = 4;

/** A five-field schedule as people say it: `every day at 03:00`. What has no such words, and what cannot be read, stays as it is written. */
export function cronInWords(text: string): string {
  let fields;
  try {
    fields = parseCron(text);
  } catch {
    return text.trim();
  }
  if (!fields) return text.trim();
  const { minute, hour, day, month, weekday } = fields;
  const time = timeInWords(minute, hour);
  if (time === undefined) return text.trim();
  const days = daysInWords(day, weekday);
  const months = month.all ? (month.step === 1 ? '' : undefined) : ` in ${listed(month.values.map((each) => MONTHS[each - 1] ?? ''))}`;
  if (days === undefined || months === undefined) return text.trim();
  // "every 15 minutes" already says how often.
  if (days === 'every day' && !time.startsWith('at ')) return `${time}${months}`;
  return time.startsWith('at ') ? `${days}${months} ${time}` : `${time}, ${days}${months}`;
}

function timeInWords(minute: CronField, hour: CronField): string | undefined {
  if (minute.all) {
    if (!hour.all || hour.step !== 1) return undefined;
    return minute.step === 1 ? 'every minute' : `every ${minute.step} minutes`;
  }
  if (hour.all) {
    const [first = 0] = minute.values;
    if (minute.values.length > 1) return undefined;
    const every = hour.step === 1 ? 'every hour' : `every ${hour.step} hours`;
    return first === 0 ? every : `${every}, ${first} minutes past`;
  }
  const times = hour.values.flatMap((each) => minute.values.map((at) => `${two(each)}:${two(at)}`));
  return times.length > MOST_TIMES ? undefined : `at ${listed(times)}`;
}

function daysInWords(day: CronField, weekday: CronField): string | undefined {
  if (day.all && weekday.all) {
    if (weekday.step !== 1) return undefined;
    return day.step === 1 ? 'every day' : undefined;
  }
  if (day.all && !weekday.all) {
    if (day.step !== 1) return undefined;
    if (weekday.values.join() === WORKDAYS) return 'Monday to Friday';
    return `every ${listed(weekday.values.map((each) => WEEKDAYS[each] ?? ''))}`;
  }
  if (!day.all && weekday.all && weekday.step === 1) return `on the ${listed(day.values.map(ordinal))} of the month`;
  return undefined;
}

const two = (value: number): string => String(value).padStart(2, '0');

function ordinal(value: number): string {
  const ending = value % 100 >= 11 && value % 100 <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th');
  return `${value}${ending}`;
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
