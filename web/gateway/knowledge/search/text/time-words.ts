/** A time range that a text mentions, in milliseconds since the Unix epoch: start inclusive, end exclusive. */
export interface TimeRange {
  from: number;
  to: number;
}

const DAY_MS = 86_400_000;
const WEEK_DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];
const SEASONS: Readonly<Record<string, number>> = { spring: 2, summer: 5, autumn: 8, fall: 8, winter: 11 };
const NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  couple: 2,
  three: 3,
  few: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
};
/** Named days of the year, as month and day. */
const HOLIDAYS: Readonly<Record<string, [month: number, day: number]>> = {
  christmas: [11, 25],
  'christmas eve': [11, 24],
  xmas: [11, 25],
  'new year': [0, 1],
  "new year's": [0, 1],
  "new year's eve": [11, 31],
  valentine: [1, 14],
  "valentine's": [1, 14],
  halloween: [9, 31],
};

/** Names of months, in full or abbreviated. */
const MONTH = `(?:${MONTHS.map((month) => (month === 'may' ? 'may' : `${month.slice(0, 3)}(?:${month.slice(3)})?`)).join('|')}|sept)\\.?`;
const WEEK_DAY = WEEK_DAYS.map((day) => `${day}|${day.slice(0, 3)}s?`)
  .join('|')
  .replaceAll('|sat|', '|sat|');
const COUNT = `\\d{1,3}|(?:a )?(?:couple|few)(?: of)?|an?|${Object.keys(NUMBERS)
  .filter((each) => each.length > 2)
  .join('|')}`;
const UNIT = 'day|night|week|weekend|fortnight|month|year';

const EXPRESSION = new RegExp(
  [
    `(?<iso>\\b(?:19|20)\\d\\d-[01]\\d(?:-[0-3]\\d)?\\b)`,
    `\\b(?<ago>${COUNT}) (?<agoUnit>${UNIT})s? (?:ago|before|back|earlier)\\b`,
    `\\b(?:in|over|within) (?<in>${COUNT}) (?<inUnit>${UNIT})s?\\b(?! ago)`,
    `\\b(?<which>last|past|previous|this|next|coming|following) (?<part>early |mid-? ?|late )?(?<what>${UNIT}|morning|evening|afternoon|night|spring|summer|autumn|fall|winter|${MONTH}|${WEEK_DAY})\\b`,
    `\\b(?<word>today|tonight|yesterday|tomorrow|day before yesterday|day after tomorrow|this morning|the other day)\\b`,
    `\\b(?<day1>\\d{1,2})(?:st|nd|rd|th)?(?: of)? (?<month1>${MONTH})(?:,? (?<year1>(?:19|20)\\d\\d))?\\b`,
    `\\b(?<month2>${MONTH}) (?<day2>\\d{1,2})(?:st|nd|rd|th)?(?!\\d)(?:,? (?<year2>(?:19|20)\\d\\d))?\\b`,
    `\\b(?<third>early|mid|middle of|late|beginning of|end of)[ -](?<month3>${MONTH}|spring|summer|autumn|fall|winter)(?: (?<year3>(?:19|20)\\d\\d))?\\b`,
    `\\b(?:in|during|since|around|by|until|of|over the|the|that|for) (?<month4>${MONTH}|spring|summer|autumn|fall|winter)(?: (?:of )?(?<year4>(?:19|20)\\d\\d))?\\b(?! (?:be|have|not|need|want))`,
    `\\b(?<feast>${Object.keys(HOLIDAYS)
      .sort((a, b) => b.length - a.length)
      .join('|')})\\b`,
    `\\bon (?:a |the )?(?<weekday>${WEEK_DAY})\\b`,
    `\\bon the (?<dayAlone>\\d{1,2})(?:st|nd|rd|th)\\b`,
    `\\bin (?<year>(?:19|20)\\d\\d)\\b`,
  ].join('|'),
  'giu',
);

/**
 * Time ranges mentioned in an English text, relative to `at`. Ambiguous ones ("in March") are assumed to lie in the past. Days begin at
 * midnight UTC.
 */
export function findTimeRanges(text: string, at: number): TimeRange[] {
  const today = Math.floor(at / DAY_MS) * DAY_MS;
  return [...text.toLowerCase().replaceAll('’', "'").matchAll(EXPRESSION)].flatMap(({ groups = {} }) => toTimeRange(groups, today) ?? []);
}

type Groups = Record<string, string | undefined>;

function toTimeRange(found: Groups, today: number): TimeRange | undefined {
  if (found['iso'] !== undefined) return fromIsoDate(found['iso']);
  if (found['ago'] !== undefined) return toOffsetRange(today, -parseCount(found['ago']), found['agoUnit'] ?? 'day');
  if (found['in'] !== undefined) return toOffsetRange(today, parseCount(found['in']), found['inUnit'] ?? 'day');
  if (found['which'] !== undefined) return toRelativeRange(found['which'], found['what'] ?? '', found['part'], today);
  if (found['word'] !== undefined) return fromWord(found['word'], today);
  const day = found['day1'] ?? found['day2'];
  if (day !== undefined) return toDateRange(found['month1'] ?? found['month2'] ?? '', Number(day), found['year1'] ?? found['year2'], today);
  const month = found['month3'] ?? found['month4'];
  if (month !== undefined) return narrowToThird(toMonthRange(month, found['year3'] ?? found['year4'], today), found['third']);
  if (found['feast'] !== undefined) return toHolidayRange(found['feast'], today);
  if (found['weekday'] !== undefined) return getLastWeekday(getWeekdayNumber(found['weekday']), today);
  if (found['dayAlone'] !== undefined) return toDayOfMonth(Number(found['dayAlone']), today);
  return found['year'] === undefined ? undefined : toYear(Number(found['year']));
}

const toDays = (from: number, count = 1): TimeRange => ({ from, to: from + count * DAY_MS });
const toYear = (year: number): TimeRange => ({ from: Date.UTC(year, 0), to: Date.UTC(year + 1, 0) });
const toMonths = (year: number, month: number, count = 1): TimeRange => ({
  from: Date.UTC(year, month),
  to: Date.UTC(year, month + count),
});
const getWeekdayNumber = (name: string): number => WEEK_DAYS.findIndex((day) => day.startsWith(name.slice(0, 3)));
const getMonthNumber = (name: string): number => MONTHS.findIndex((month) => month.startsWith(name.slice(0, 3)));

function parseCount(text: string): number {
  const words = text.split(' ').filter((word) => word !== 'of');
  return Number(text) || (NUMBERS[words.at(-1) ?? ''] ?? 1);
}

/** The day a number of units from today (negative: before it); the range widens with the number. */
function toOffsetRange(today: number, count: number, unit: string): TimeRange {
  const length = { day: 1, night: 1, week: 7, weekend: 7, fortnight: 14, month: 30.4, year: 365.25 }[unit] ?? 1;
  const middle = today + Math.round(count * length) * DAY_MS;
  const slack = Math.floor((length * Math.max(1, Math.abs(count) / 3)) / 2);
  return { from: middle - slack * DAY_MS, to: middle + (slack + 1) * DAY_MS };
}

function fromIsoDate(text: string): TimeRange {
  const [year = 0, month = 1, day] = text.split('-').map(Number);
  return day === undefined ? toMonths(year, month - 1) : toDays(Date.UTC(year, month - 1, day));
}

function fromWord(word: string, today: number): TimeRange {
  if (word === 'the other day') return { from: today - 6 * DAY_MS, to: today + DAY_MS };
  const dayOffset = { yesterday: -1, tomorrow: 1, 'day before yesterday': -2, 'day after tomorrow': 2 }[word] ?? 0;
  return toDays(today + dayOffset * DAY_MS);
}

function toRelativeRange(qualifier: string, unit: string, part: string | undefined, today: number): TimeRange | undefined {
  const offset = /last|past|previous/.test(qualifier) ? -1 : qualifier === 'this' ? 0 : 1;
  const date = new Date(today);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const monday = today - ((date.getUTCDay() + 6) % 7) * DAY_MS;
  if (unit === 'day' || /morning|evening|afternoon|night/.test(unit)) return toDays(today + offset * DAY_MS);
  if (unit === 'week') return toDays(monday + 7 * offset * DAY_MS, 7);
  if (unit === 'fortnight') return toDays(today + (offset < 0 ? -14 : 0) * DAY_MS, 14);
  if (unit === 'weekend') return toDays(monday + (7 * offset + (offset < 0 ? 4 : 5)) * DAY_MS, offset < 0 ? 4 : 3);
  if (unit === 'month') return toMonths(year, month + offset);
  if (unit === 'year') return toYear(year + offset);
  const weekday = getWeekdayNumber(unit);
  if (weekday >= 0 && !/^(mar|summer)/.test(unit))
    return offset < 0 ? getLastWeekday(weekday, today) : toDays(today + ((weekday - date.getUTCDay() + 7) % 7 || 7) * DAY_MS);
  const range = toMonthRange(unit, undefined, offset > 0 ? today + 365 * DAY_MS : today);
  return narrowToThird(range, part?.trim());
}

/** The last such weekday before today. */
function getLastWeekday(weekday: number, today: number): TimeRange {
  const back = (new Date(today).getUTCDay() - weekday + 7) % 7 || 7;
  return toDays(today - back * DAY_MS);
}

/** The latest month or season of that name that has begun, or the one in the given year. */
function toMonthRange(name: string, year: string | undefined, today: number): TimeRange {
  const season = SEASONS[name];
  const month = season ?? getMonthNumber(name);
  const count = season === undefined ? 1 : 3;
  if (year !== undefined) return toMonths(Number(year), month, count);
  const now = new Date(today).getUTCFullYear();
  return toMonths(Date.UTC(now, month) <= today ? now : now - 1, month, count);
}

function narrowToThird(range: TimeRange, qualifier: string | undefined): TimeRange {
  if (qualifier === undefined) return range;
  const length = (range.to - range.from) / 3;
  const third = /early|begin/.test(qualifier) ? 0 : /late|end/.test(qualifier) ? 2 : 1;
  return { from: range.from + (third - 0.3) * length, to: range.from + (third + 1.3) * length };
}

function toDateRange(month: string, day: number, year: string | undefined, today: number): TimeRange | undefined {
  if (day < 1 || day > 31) return undefined;
  const now = new Date(today).getUTCFullYear();
  if (year !== undefined) return toDays(Date.UTC(Number(year), getMonthNumber(month), day));
  // A date with a day may lie a little in the future, such as an appointment.
  const from = Date.UTC(now, getMonthNumber(month), day);
  return toDays(from > today + 120 * DAY_MS ? Date.UTC(now - 1, getMonthNumber(month), day) : from);
}

function toDayOfMonth(day: number, today: number): TimeRange | undefined {
  if (day < 1 || day > 31) return undefined;
  const date = new Date(today);
  return toDays(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day));
}

function toHolidayRange(name: string, today: number): TimeRange {
  const [month, day] = HOLIDAYS[name] ?? [0, 1];
  const now = new Date(today).getUTCFullYear();
  const from = Date.UTC(now, month, day);
  const last = from > today + 30 * DAY_MS ? Date.UTC(now - 1, month, day) : from;
  return { from: last - 3 * DAY_MS, to: last + 4 * DAY_MS };
}
