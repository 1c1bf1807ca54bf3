import { replaceMatches } from './replace-matches.ts';

/** A date in a text; any part may be missing. */
export interface NamedDate {
  year?: number;
  /** Counted from 1. */
  month?: number;
  day?: number;
  /** Monday is 1. */
  weekday?: number;
  /** `before`, `since` and the like: a limit rather than a point in time. */
  bound: string;
  written: string;
}

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const WEEK_DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTH = `(?:${MONTHS.map((month) => `${month}|${month.slice(0, 3)}\\.?`).join('|')}|Sept\\.?)(?![a-z])`;
const YEAR = '(?:1\\d|20)\\d\\d(?!\\d|[,.]\\d)';
const DAY = '(?:3[01]|[12]\\d|0?[1-9])(?!\\d)(?:st|nd|rd|th)?';

// Case-sensitive: "May" is a month, "may" is not. The more specific forms come first.
const DATE = new RegExp(
  `\\b(?:(?<bound>[Bb]efore|[Aa]fter|[Ss]ince|[Uu]ntil|[Tt]ill|[Bb]y) )?(?:(?:[Ii]n|[Oo]n|[Aa]t|[Ff]rom|[Dd]uring) (?:the )?)?(?:` +
    [
      `(?<iso>(?:1\\d|20)\\d\\d-[01]\\d(?:-[0-3]\\d)?)\\b`,
      `(?<day1>${DAY}) (?:of )?(?<month1>${MONTH}),?(?: (?<year1>${YEAR}))?`,
      `(?<month2>${MONTH}) (?<day2>${DAY})(?:,? (?<year2>${YEAR}))?`,
      `(?<month3>${MONTH}) (?<year3>${YEAR})`,
      `(?<weekday>${WEEK_DAYS.join('|')})s?\\b`,
      `(?<=\\b(?:[Ii]n|[Dd]uring|[Ss]ince|[Uu]ntil|[Bb]efore|[Aa]fter|[Bb]y|is|was) )(?<month4>${MONTH})`,
      `(?<=\\b(?:[Ii]n|[Dd]uring|[Ss]ince|[Uu]ntil|[Bb]efore|[Aa]fter|[Bb]y|[Ff]rom|[Yy]ear|is|was|of) )(?<year4>${YEAR})(?! ?(?:[a-z]+s|%|people|employees)\\b)`,
    ].join('|') +
    ')',
  'gu',
);

const getMonthNumber = (name: string | undefined): number | undefined =>
  name === undefined ? undefined : MONTHS.findIndex((month) => month.startsWith(name.slice(0, 3))) + 1;
const parseNumber = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number.parseInt(text, 10));

/** Extracts the dates of a text; `rest` is the text without them. */
export function extractDates(text: string): { dates: NamedDate[]; rest: string } {
  const dates: NamedDate[] = [];
  const rest = replaceMatches(text, DATE, ([written], g) => {
    const [year, month, day] = g['iso']?.split('-').map(Number) ?? [
      parseNumber(g['year1'] ?? g['year2'] ?? g['year3'] ?? g['year4']),
      getMonthNumber(g['month1'] ?? g['month2'] ?? g['month3'] ?? g['month4']),
      parseNumber(g['day1'] ?? g['day2']),
    ];
    const weekday = g['weekday'] === undefined ? undefined : WEEK_DAYS.indexOf(g['weekday']) + 1;
    dates.push({
      bound: g['bound']?.toLowerCase() ?? '',
      written: written.trim(),
      ...(year !== undefined && { year }),
      ...(month !== undefined && { month }),
      ...(day !== undefined && { day }),
      ...(weekday !== undefined && { weekday }),
    });
    return ' ';
  });
  return { dates, rest };
}

/** Whether two dates exclude each other. */
export function areDifferentDates(a: NamedDate, b: NamedDate): boolean {
  if (a.bound !== b.bound) return false;
  return (['year', 'month', 'day', 'weekday'] as const).some(
    (part) => a[part] !== undefined && b[part] !== undefined && a[part] !== b[part],
  );
}
