import { ENGLISH } from '../../search/text/languages.ts';
import { replaceMatches } from './replace-matches.ts';
import { toStem } from './contradiction-words.ts';

/** A number in a text, as the range of its possible values. */
export interface Amount {
  /** Unit: a dimension such as `length`, or the stem of the word next to the number. */
  unit: string;
  low: number;
  high: number;
  /** As written. */
  written: string;
}

const UNITS = new Map<string, [dimension: string, factor: number]>();
const addUnits = (dimension: string, table: Record<string, number>): void => {
  for (const [names, factor] of Object.entries(table)) for (const name of names.split(' ')) UNITS.set(name, [dimension, factor]);
};
addUnits('length', {
  'mm millimetre millimetres millimeter millimeters': 0.001,
  'cm centimetre centimetres centimeter centimeters': 0.01,
  'm metre metres meter meters': 1,
  'km kilometre kilometres kilometer kilometers': 1000,
  'mile miles': 1609.344,
  'ft foot feet': 0.3048,
  'inch inches': 0.0254,
});
addUnits('weight', {
  'mg milligram milligrams': 0.001,
  'g gram grams gramme grammes': 1,
  'kg kilo kilos kilogram kilograms': 1000,
  't ton tons tonne tonnes': 1e6,
  'lb lbs pound-weight': 453.592,
});
addUnits('duration', {
  'ms millisecond milliseconds': 0.001,
  's sec second seconds': 1,
  'min mins minute minutes': 60,
  'h hr hrs hour hours': 3600,
  'day days': 86_400,
  'week weeks': 604_800,
  'month months': 2_629_800,
  'year years': 31_557_600,
});
addUnits('bytes', { 'b byte bytes': 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 });
addUnits('percent', { '% percent': 1 });
addUnits('volume', { 'ml millilitre millilitres milliliter milliliters': 0.001, 'l litre litres liter liters': 1 });
addUnits('degrees Celsius', { '°c': 1 });
addUnits('degrees Fahrenheit', { '°f': 1 });
addUnits('US dollars', { '$ usd dollar dollars': 1 });
addUnits('euros', { '€ eur euro euros': 1 });
addUnits('pounds', { '£ gbp pound pounds': 1 });
addUnits('yen', { '¥ jpy yen': 1 });

const NUMBER_NAMES = 'two three four five six seven eight nine ten eleven twelve'.split(' ');
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const NUMBERS = new Map<string, number>([
  ...NUMBER_NAMES.map((name, i): [string, number] => [name, i + 2]),
  ...TENS.map((name, i): [string, number] => [name, (i + 2) * 10]),
  ['dozen', 12],
  ['hundred', 100],
]);
const SCALES = new Map([
  ['hundred', 100],
  ['thousand', 1e3],
  ['k', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
]);

const NUMBER = `\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?|\\d+(?:\\.\\d+)?|(?:${[...NUMBERS.keys()].join('|')})(?![a-z])`;
const SCALE = '(?:hundred|thousand|k|million|billion)(?![a-z])';
const VERSION = /\b(?:version |v)(\d+(?:\.\d+)*)\b|\b(\d+(?:\.\d+){2,})\b/gi;
const CLOCK = /\b(?:(\d{1,2}):(\d\d)(?::\d\d)?(?: ?([ap])\.?m\b\.?)?|(\d{1,2}) ?([ap])\.?m\b\.?|(noon|midnight))/gi;
const AMOUNT = new RegExp(
  `(?<bound>at least|no less than|no fewer than|at most|no more than|up to|more than|over|above|less than|fewer than|under|below|about|around|approximately|roughly|nearly|almost|some|~|minimum of|maximum of)? ?` +
    `(?:(?:between|from) )?(?<money>[$€£¥])?(?<![\\w.])(?<from>${NUMBER}) ?(?<scale>${SCALE})?(?: ?(?:-|–|to|and)(?= ?[$€£¥]?\\d) ?[$€£¥]?(?<to>${NUMBER}) ?(?<scale2>${SCALE})?)? ?(?<unit>%|°[cf]|[a-z]+)?`,
  'giu',
);

const parseNumber = (text: string, scale: string | undefined): number =>
  (NUMBERS.get(text.toLowerCase()) ?? Number(text.replaceAll(',', ''))) * (SCALES.get((scale ?? '').toLowerCase()) ?? 1);

/** Placeholder of an amount: `xxamount3`, a word that occurs in no text. */
export const AMOUNT_MARK = /^xxamount(\d+)$/;

/** Extracts the numbers of a text that are not dates. `rest` is the text with a placeholder for each; words other than units stay. */
export function extractAmounts(text: string): { amounts: Amount[]; rest: string } {
  const amounts: Amount[] = [];
  const add = (unit: string, low: number, high: number, written: string): string =>
    ` xxamount${amounts.push({ unit, low, high, written: written.trim() }) - 1} `;
  const versions = replaceMatches(text, VERSION, ([written, named, dotted]) => {
    // 3.10 differs from 3.1: compared part by part.
    const value = (named ?? dotted ?? '').split('.').reduce((sum, part, index) => sum + Number(part) / 1000 ** index, 0);
    return add('version', value, value, written);
  });
  const clocks = replaceMatches(versions, CLOCK, ([written, h, m, half, h2, half2, word]) => {
    const hours = word === undefined ? Number(h ?? h2) : word.toLowerCase() === 'noon' ? 12 : 0;
    const afternoon = (half ?? half2)?.toLowerCase();
    const minutes = (afternoon === undefined ? hours : (hours % 12) + (afternoon === 'p' ? 12 : 0)) * 60 + Number(m ?? 0);
    return add('time of day', minutes, minutes, written);
  });
  const rest = replaceMatches(clocks, AMOUNT, ({ 0: written, index, input }, groups) => {
    const before = /([\p{L}]+)[^\p{L}]*$/u.exec(input.slice(Math.max(0, index - 60), index))?.[1] ?? '';
    return recordAmount(written, groups, before, add);
  });
  return { amounts, rest };
}

/** Records an amount and returns its replacement in the text. */
function recordAmount(
  written: string,
  { bound = '', money, from = '', scale, to, scale2, unit: named }: Record<string, string | undefined>,
  before: string,
  add: (unit: string, low: number, high: number, written: string) => string,
): string {
  const [dimension, factor] = UNITS.get(money ?? '') ?? UNITS.get((named ?? '').toLowerCase()) ?? [undefined, 1];
  const low = parseNumber(from, scale ?? (to === undefined ? undefined : scale2)) * factor;
  const high = to === undefined ? low : parseNumber(to, scale2 ?? scale) * factor;
  const [min, max] = applyBound(bound.toLowerCase(), Math.min(low, high), Math.max(low, high));
  const small = named === undefined || ENGLISH.stopWords.has(named.toLowerCase());
  const mark = add(dimension ?? toStem((small ? before : named).toLowerCase()), min, max, written);
  // A unit carries no further meaning, but a counted noun does.
  return money === undefined && dimension !== undefined ? mark : `${mark}${named ?? ''}`;
}

function applyBound(bound: string, low: number, high: number): [number, number] {
  if (/least|no less|no fewer|minimum/.test(bound)) return [low, Infinity];
  if (/most|no more|up to|maximum/.test(bound) && bound !== 'almost') return [-Infinity, high];
  if (/more|over|above/.test(bound)) return [low + Math.abs(low) * 1e-9, Infinity];
  if (/less|fewer|under|below/.test(bound)) return [-Infinity, high - Math.abs(high) * 1e-9];
  if (bound !== '') return [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1];
  return [low, high];
}

/** Whether two amounts of the same unit exclude each other. Converted units tolerate rounding. */
export function areExclusive(a: Amount, b: Amount): boolean {
  const slack = Math.max(Math.abs(a.low), Math.abs(b.low)) * 1e-6;
  const gap = Math.max(a.low, b.low) - Math.min(a.high, b.high);
  return gap > (Number.isFinite(slack) && a.unit !== 'version' ? slack : 0);
}
