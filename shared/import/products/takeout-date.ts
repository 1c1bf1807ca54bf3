/** Locales whose month names are recognised. If two share a name, the first counts. */
const LOCALES = [
  ...[
    'en',
    'en-GB',
    'de',
    'de-AT',
    'fr',
    'fr-CA',
    'es',
    'it',
    'pt-BR',
    'pt-PT',
    'pl',
    'ru',
    'ar',
    'nl',
    'sv',
    'da',
    'nb',
    'fi',
    'cs',
    'sk',
  ],
  ...['uk', 'tr', 'hu', 'ro', 'el', 'id', 'ca', 'hi', 'th', 'lt', 'lv', 'et', 'bg', 'sl', 'sr'],
];

/** Offsets from UTC in minutes. Ambiguous abbreviations have their most frequent meaning. */
const ZONES: Readonly<Record<string, number>> = {
  ...{
    UTC: 0,
    GMT: 0,
    WET: 0,
    WEST: 60,
    BST: 60,
    CET: 60,
    MEZ: 60,
    HNEC: 60,
    CEST: 120,
    MESZ: 120,
    HAEC: 120,
    EET: 120,
    SAST: 120,
    EEST: 180,
  },
  ...{ MSK: 180, TRT: 180, GST: 240, PKT: 300, IST: 330, WIB: 420, ICT: 420, HKT: 480, SGT: 480, AWST: 480, JST: 540, KST: 540, AEST: 600 },
  ...{ AEDT: 660, NZST: 720, NZDT: 780, BRT: -180, ART: -180, ADT: -180, AST: -240, CLT: -240, EDT: -240, EST: -300, COT: -300, PET: -300 },
  ...{ CDT: -300, CST: -360, MDT: -360, MST: -420, PDT: -420, PST: -480, AKDT: -480, AKST: -540, HST: -600 },
};
const CHINA_OFFSET_MINUTES = 480;
const OFFSET = /(?:GMT|UTC)\s?([+\-−])(\d{1,2}):?(\d\d)?/;
/** Maximum length of a date. Longer lines are not parsed. */
const MAX_DATE_CHARS = 80;
const MAX_WORDS = 6;
/** Number of years that the Buddhist calendar is ahead. */
const BUDDHIST_OFFSET_YEARS = 543;

let months: ReadonlyMap<string, number> | undefined;

const toName = (text: string): string => text.toLowerCase().replaceAll('.', '').trim();

/** Numbers of months by their names, from 0. */
function getMonths(): ReadonlyMap<string, number> {
  if (months) return months;
  const byName = new Map<string, number>([['sept', 8]]);
  for (const locale of LOCALES)
    for (const style of ['short', 'long'] as const) {
      const format = new Intl.DateTimeFormat(locale, { month: style, day: 'numeric', timeZone: 'UTC', calendar: 'gregory' });
      for (let month = 0; month < 12; month++) {
        const part = format.formatToParts(Date.UTC(2026, month, 15)).find(({ type }) => type === 'month');
        const name = toName(part?.value ?? '');
        if (/^\p{L}[\p{L}\p{M}]*$/u.test(name) && !byName.has(name)) byName.set(name, month);
      }
    }
  return (months = byName);
}

/**
 * Milliseconds since 1970 of a date as Google Takeout writes it in HTML, in the language of the account: `Jul 25, 2026, 11:07:57 PM PDT`,
 * `10 de mai. de 2026, 03:46:09 BRT`. Null if the date cannot be read, undefined if the text is not a date. An unknown time zone counts as UTC.
 */
export function parseTakeoutDate(line: string): number | null | undefined {
  const text = toPlainDigits(line.normalize('NFKC').replaceAll(/[\u200e\u200f\u061c]/g, '')).trim();
  if (text.length > MAX_DATE_CHARS) return undefined;
  const time = /(?<![\d.:])(\d{1,2})[:.](\d\d)[:.](\d\d)(?![\d:])/.exec(text);
  if (!time) return undefined;
  const [match, hours, minutes, seconds] = time;
  const before = text.slice(0, time.index);
  const after = text.slice(time.index + match.length);
  if (/\d/.test(after.replace(OFFSET, '')) || (before.match(/[\p{L}\p{M}]+/gu) ?? []).length > MAX_WORDS) return undefined;
  const numbers = [...before.matchAll(/\d+/g)].map(([number]) => Number(number));
  const yearAt = numbers.findIndex((number) => number >= 2000 && number < 2700);
  const year = numbers[yearAt];
  // A date is a year, a day and perhaps the number of a month.
  if (year === undefined || numbers.length < 2 || numbers.length > 3) return undefined;
  const dayAndMonth = numbers.filter((_, at) => at !== yearAt);
  const namedMonth = [...before.matchAll(/[\p{L}\p{M}.]+/gu)]
    .map(([word]) => getMonths().get(toName(word)))
    .find((month) => month !== undefined);
  const [first = 0, second = 0] = dayAndMonth;
  const [day, month] =
    namedMonth !== undefined && dayAndMonth.length === 1
      ? [first, namedMonth]
      : dayAndMonth.length < 2
        ? [0, 0]
        : yearAt === 0 || second > 12
          ? [second, first - 1]
          : [first, second - 1];
  if (day < 1 || day > 31 || month < 0 || month > 11) return null;
  const hour = toHour(Number(hours), `${before} ${after}`);
  const utc = Date.UTC(year > 2400 ? year - BUDDHIST_OFFSET_YEARS : year, month, day, hour, Number(minutes), Number(seconds));
  return utc - toOffset(after, /[年/]/.test(before)) * 60_000;
}

const toPlainDigits = (text: string): string =>
  text.replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String((digit.codePointAt(0) ?? 0) & 0xf));

/** Arabic, Chinese, Greek, Japanese and Korean have their own words for AM and PM. */
function toHour(hour: number, context: string): number {
  if (/(?<!\p{L})p\.?\s?m(?!\p{L})|오후|下午|午後|晚上|(?<!\p{L})م(?!\p{L})|μ\.?μ/iu.test(context)) return (hour % 12) + 12;
  if (/(?<!\p{L})a\.?\s?m(?!\p{L})|오전|上午|午前|(?<!\p{L})ص(?!\p{L})|π\.?μ/iu.test(context)) return hour % 12;
  return hour;
}

function toOffset(after: string, isEastAsian: boolean): number {
  const [, sign, hours, minutes = '0'] = OFFSET.exec(after) ?? [];
  if (hours !== undefined) return (sign === '+' ? 1 : -1) * (Number(hours) * 60 + Number(minutes));
  const zone = /(?<!\p{L})([A-Z]{3,5})(?!\p{L})/u.exec(after)?.[1] ?? '';
  if (zone === 'CST' && isEastAsian) return CHINA_OFFSET_MINUTES;
  return Object.hasOwn(ZONES, zone) ? (ZONES[zone] ?? 0) : 0;
}
