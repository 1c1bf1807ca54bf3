import type { TextSpan } from './sentences.ts';

/** A number of a text. A number such as `1,234` has two readings. */
export interface TextNumber extends TextSpan {
  values: readonly number[];
  /** Unit after or before it, in a common spelling; empty if there is none or it is not known. */
  unit: string;
  /** Written in digits. */
  isDigits: boolean;
}

/** A date, or the parts of it that are given. */
export interface TextDate extends TextSpan {
  year?: number;
  month?: number;
  day?: number;
}

const toTable = (lines: string): ReadonlyMap<string, string> =>
  new Map(
    lines
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [name = '', ...words] = line.split(' ');
        return [name, ...words].map((word): [string, string] => [word, name]);
      }),
  );

/** Spellings of units in some languages; the first is the common one. */
const UNITS = toTable(`
% percent prozent pct
€ eur euro euros
$ usd dollar dollars
£ gbp pound pounds
°c degree degrees grad celsius
km kilometre kilometres kilometer kilometers kilomètres kilómetros
m metre metres meter meters mètres metros metern
cm centimetre centimetres centimeter centimeters zentimeter
mm millimetre millimetres millimeter millimeters
kg kilogram kilograms kilogramm kilo kilos
g gram grams gramm
mg milligram milligrams milligramm
t tonne tonnes ton tons tonnen
l litre litres liter liters litres
ml millilitre millilitres milliliter milliliters
hour hours h stunde stunden heure heures hora horas
minute minutes minuten min minutos
second seconds sekunde sekunden secondes segundos
day days tag tage tagen jour jours día días
week weeks woche wochen semaine semaines semana semanas
month months monat monate monaten mois mes meses
year years jahr jahre jahren an ans année années año años
w watt watts
kw kilowatt kilowatts
mw megawatt megawatts
kwh
mb megabyte megabytes
gb gigabyte gigabytes
tb terabyte terabytes
ms millisecond milliseconds millisekunden
`);

/** Words that multiply a number. */
const SCALES: Readonly<Record<string, number>> = {
  ...{ hundred: 1e2, hundert: 1e2, thousand: 1e3, tausend: 1e3, k: 1e3, mille: 1e3, mil: 1e3 },
  ...{ million: 1e6, millions: 1e6, millionen: 1e6, mio: 1e6, millones: 1e6, millón: 1e6 },
  ...{ billion: 1e9, billions: 1e9, bn: 1e9, milliarde: 1e9, milliarden: 1e9, mrd: 1e9, milliard: 1e9, milliards: 1e9 },
};

const WORD_NUMBERS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    2: 'two zwei deux dos both',
    3: 'three drei trois tres third dritte dritten',
    4: 'four vier quatre cuatro fourth vierte vierten',
    5: 'five fünf cinq cinco fifth fünfte',
    6: 'six sechs seis sixth',
    7: 'seven sieben sept siete seventh',
    8: 'eight acht huit ocho eighth',
    9: 'nine neun neuf nueve ninth',
    10: 'ten zehn dix diez tenth',
    11: 'eleven elf onze once-es',
    12: 'twelve zwölf douze doce dozen dutzend',
    13: 'thirteen dreizehn treize trece',
    14: 'fourteen vierzehn quatorze catorce',
    15: 'fifteen fünfzehn quinze quince',
    16: 'sixteen sechzehn',
    18: 'eighteen achtzehn',
    20: 'twenty zwanzig vingt veinte',
    24: 'twenty-four vierundzwanzig',
    25: 'twenty-five fünfundzwanzig',
    30: 'thirty dreißig trente treinta',
    40: 'forty vierzig quarante cuarenta',
    50: 'fifty fünfzig cinquante cincuenta',
    60: 'sixty sechzig soixante sesenta',
    70: 'seventy siebzig',
    80: 'eighty achtzig',
    90: 'ninety neunzig',
    100: 'hundred hundert cent cien',
  }).flatMap(([value, words]) => words.split(' ').map((word): [string, number] => [word, Number(value)])),
);

const MONTHS: ReadonlyMap<string, number> = new Map(
  [
    'january jan januar janvier enero gennaio janeiro',
    'february feb februar février febrero febbraio fevereiro',
    'march mar märz mars marzo março',
    'april apr avril abril aprile',
    'may mai mayo maggio maio',
    'june jun juni juin junio giugno junho',
    'july jul juli juillet julio luglio julho',
    'august aug août agosto',
    'september sep sept septembre septiembre settembre setembro',
    'october oct oktober okt octobre octubre ottobre outubro',
    'november nov novembre noviembre',
    'december dec dezember dez décembre diciembre dicembre dezembro',
  ].flatMap((names, index) => names.split(' ').map((name): [string, number] => [name, index + 1])),
);

export const isMonth = (word: string): boolean => MONTHS.has(word.toLowerCase());

const NUMBER = /\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*/g;
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th|\.|er|º)?`;
const DATE_PATTERNS: readonly { pattern: RegExp; read(match: RegExpExecArray): Omit<TextDate, 'start' | 'end'> | undefined }[] = [
  {
    pattern: /\b(\d{4})-(\d{2})(?:-(\d{2}))?\b/g,
    read: ([, year, month, day]) => toDate(year, Number(month), day),
  },
  { pattern: /\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b/g, read: ([, day, month, year]) => toDate(year, Number(month), day) },
  {
    pattern: new RegExp(String.raw`\b${DAY}\s+(?:de |of )?(\p{L}{3,10})\.?(?:,?\s+(?:de )?(\d{4}))?(?![\p{L}\d])`, 'gu'),
    read: ([, day, name = '', year]) => toDate(year, MONTHS.get(name.toLowerCase()), day),
  },
  {
    pattern: new RegExp(String.raw`(?<!\p{L})(\p{L}{3,10})\.?\s+${DAY}(?:,?\s+(\d{4}))?(?![\p{L}\d])`, 'gu'),
    read: ([, name = '', day, year]) => toDate(year, MONTHS.get(name.toLowerCase()), day),
  },
  {
    pattern: /(?<!\p{L})(\p{L}{3,10})\.?,?\s+(?:de )?(\d{4})(?!\d)/gu,
    read: ([, name = '', year]) => toDate(year, MONTHS.get(name.toLowerCase())),
  },
  {
    pattern: /(?<=(?:in|im|since|until|by|from|to|en|seit|bis|ab|of|and|or|between|through)\s)(\p{Lu}\p{L}{2,9})(?!\p{L})/gu,
    read: ([, name = '']) => toDate(undefined, MONTHS.get(name.toLowerCase())),
  },
];

function toDate(year: string | undefined, month: number | undefined, day?: string): Omit<TextDate, 'start' | 'end'> | undefined {
  if (month === undefined || month < 1 || month > 12 || Number(day ?? 1) > 31 || Number(day ?? 1) < 1) return undefined;
  return { month, ...(year === undefined ? {} : { year: Number(year) }), ...(day === undefined ? {} : { day: Number(day) }) };
}

/** The dates of a text that name a month. */
export function findDates(text: string): TextDate[] {
  const dates: TextDate[] = [];
  for (const { pattern, read } of DATE_PATTERNS) {
    for (const match of text.matchAll(pattern)) {
      const span = { start: match.index, end: match.index + match[0].replace(/[.,]$/, '').length };
      if (dates.some((date) => date.start < span.end && span.start < date.end)) continue;
      const date = read(match);
      if (date) dates.push({ ...date, ...span });
    }
  }
  return dates;
}

/** The numbers of a text outside its dates, in digits and in words. */
export function findNumbers(text: string, dates: readonly TextDate[]): TextNumber[] {
  const numbers: TextNumber[] = [];
  const isInDate = (start: number, end: number): boolean => dates.some((date) => date.start < end && start < date.end);
  for (const { 0: found, index } of text.matchAll(NUMBER)) {
    const end = index + found.length;
    // Part of a name such as "GPT4" or "A320".
    if (isInDate(index, end) || /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}_]/u.test(text.charAt(index - 1))) continue;
    const [, word = ''] = /^[\s\u00a0-]?(\p{L}+\.?|%|€|\$|£|°C?)/iu.exec(text.slice(end, end + 24)) ?? [];
    const first = word.toLowerCase().replace(/\.$/, '');
    const scale = Object.hasOwn(SCALES, first) ? (SCALES[first] ?? 1) : 1;
    const [, second = ''] =
      scale === 1 ? [] : (/^[\s\u00a0-]?\p{L}+\.?\s+(?:of\s+)?(\p{L}+|%|€|\$|£)/u.exec(text.slice(end, end + 40)) ?? []);
    const sign = /[€$£]\s?$/.exec(text.slice(Math.max(0, index - 2), index))?.[0].trim() ?? '';
    const unit = UNITS.get(scale === 1 ? (first === '°' ? '°c' : first) : second.toLowerCase()) ?? sign;
    numbers.push({ start: index, end, values: parseValues(found).map((value) => value * scale), unit, isDigits: true });
  }
  for (const { 0: word, index } of text.matchAll(/\p{L}+/gu)) {
    const value = WORD_NUMBERS.get(word.toLowerCase());
    if (value === undefined) continue;
    const end = index + word.length;
    const [, next = ''] = /^[\s-](\p{L}+)/u.exec(text.slice(end, end + 24)) ?? [];
    const scale = Object.hasOwn(SCALES, next.toLowerCase()) ? (SCALES[next.toLowerCase()] ?? 1) : 1;
    // "5 hundred" was read above.
    if (/\d\s*$/.test(text.slice(Math.max(0, index - 3), index))) continue;
    numbers.push({ start: index, end, values: [value * scale], unit: UNITS.get(next.toLowerCase()) ?? '', isDigits: false });
  }
  return numbers;
}

/** The readings of a number's digits and separators. */
function parseValues(digits: string): number[] {
  const plain = digits.replace(/[ \u00a0\u202f'’]/g, '');
  const separators = plain.match(/[.,]/g) ?? [];
  const last = separators.at(-1);
  if (last === undefined) return [Number(plain)];
  const asDecimal = Number(plain.replaceAll(last === '.' ? ',' : '.', '').replace(last, '.'));
  const asGroups = Number(plain.replace(/[.,]/g, ''));
  if (separators.length > 1 && new Set(separators).size === 1) return [asGroups];
  if (new Set(separators).size > 1) return [asDecimal];
  return /[.,]\d{3}$/.test(plain) ? [asGroups, asDecimal] : [asDecimal];
}

/** Whether two numbers can mean the same: a common reading, and no different units. */
export const isSameNumber = (a: TextNumber, b: TextNumber): boolean =>
  (a.unit === '' || b.unit === '' || a.unit === b.unit) && a.values.some((value) => b.values.includes(value));

/** Whether `date` contains everything that `claimed` says. `years`: other years of the text, which may complete it. */
export const isSameDate = (claimed: TextDate, date: TextDate, years: ReadonlySet<number>): boolean =>
  (claimed.month === undefined || claimed.month === date.month) &&
  (claimed.day === undefined || claimed.day === date.day) &&
  (claimed.year === undefined || claimed.year === date.year || (date.year === undefined && years.has(claimed.year)));
