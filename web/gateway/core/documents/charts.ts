import { lineOf } from './drawing-text.ts';
import type { markdownTable } from './table.ts';
import { shownNumber } from './xlsx-formats.ts';
import { type Element, element, elements, textIn } from './xml-tree.ts';

/** Maximum ratio of a table's size to its number of points: each point may otherwise create a row in all series. */
const MOST_FILLING = 10;
const SMALL = 10_000;

/** Values by the index of their point. */
type Points = ReadonlyMap<number, string>;

interface Series {
  order: number;
  /** Labels of the points: categories, or the x values; undefined if the series has none. */
  labels: Points | undefined;
  columns: { name: string; values: Points }[];
}

/**
 * A chart (`c:chartSpace`; ECMA-376 part 1, section 21.2) as its title and a table: a row for each category, a column for each series, with
 * the stored values. Series with other categories have a separate table. Empty if there is neither.
 */
export function chartText(chart: Element | undefined, table: typeof markdownTable): string {
  const drawn = element(chart, 'c:chart');
  const date1904 = on(element(chart, 'c:date1904'));
  const series = elements(element(drawn, 'c:plotArea'))
    .flatMap((kind) => elements(kind, 'c:ser'))
    .map((each, at) => seriesOf(each, at, date1904))
    .sort((a, b) => a.order - b.order);
  const title = titleOf(element(drawn, 'c:title', 'c:tx'));
  const tables = alike(series).map((group) => tableOf(group, table));
  if (title === '' && tables.length === 0) return '';
  return [title === '' ? 'Chart:' : `Chart: ${title}`, ...tables].join('\n\n');
}

function seriesOf(series: Element, at: number, date1904: boolean): Series {
  const points = (name: string): Points | undefined => pointsOf(element(series, name), date1904);
  const name = titleOf(element(series, 'c:tx')) || `Series ${at + 1}`;
  const sizes = points('c:bubbleSize');
  return {
    order: Number(element(series, 'c:order')?.attributes['val'] ?? at) || 0,
    labels: points('c:cat') ?? points('c:xVal'),
    columns: [
      { name, values: points('c:val') ?? points('c:yVal') ?? new Map() },
      ...(sizes ? [{ name: `${name} (size)`, values: sizes }] : []),
    ],
  };
}

/** Groups series with the same categories; those without any join the first group. */
function alike(series: readonly Series[]): Series[][] {
  const groups = new Map<string, Series[]>();
  const first = series.find(({ labels }) => labels)?.labels;
  for (const each of series) {
    const labels = each.labels ?? first;
    const key = JSON.stringify(labels ? [...labels] : []);
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [{ ...each, labels }]);
  }
  return [...groups.values()];
}

function tableOf(group: readonly Series[], table: typeof markdownTable): string {
  const labels = group[0]?.labels;
  const columns = group.flatMap((series) => series.columns);
  const places = new Set([...(labels?.keys() ?? []), ...columns.flatMap(({ values }) => [...values.keys()])]);
  const points = columns.reduce((sum, { values }) => sum + values.size, places.size);
  const most = Math.max(1, Math.floor(Math.max(SMALL, MOST_FILLING * points) / (columns.length + 1)));
  const shown = [...places].sort((a, b) => a - b).slice(0, most);
  const rows = shown.map((place) => [
    labels ? (labels.get(place) ?? '') : String(place + 1),
    ...columns.map(({ values }) => values.get(place) ?? ''),
  ]);
  const text = table([['', ...columns.map(({ name }) => name)], ...rows]);
  return shown.length < places.size ? `${text}\n\n(${places.size - shown.length} more rows omitted)` : text;
}

/** Cached values of a reference to cells, or literal values. */
function pointsOf(source: Element | undefined, date1904: boolean): Points | undefined {
  const [reference] = elements(source);
  if (!reference) return undefined;
  const stored = /^c:(str|num)Lit$/.test(reference.name)
    ? reference
    : elements(reference).find(({ name }) => /^c:(str|num|multiLvlStr)Cache$/.test(name));
  if (!stored) return undefined;
  if (stored.name === 'c:multiLvlStrCache') return nested(elements(stored, 'c:lvl').map((level) => textsIn(level)));
  if (stored.name.startsWith('c:str')) return textsIn(stored);
  const code = element(stored, 'c:formatCode');
  return new Map(
    pointsIn(stored).map(({ place, value, code: own }) => [place, numberText(value, own ?? (code && textIn(code)), date1904)]),
  );
}

const textsIn = (stored: Element): Map<number, string> => new Map(pointsIn(stored).map(({ place, value }) => [place, value]));

function pointsIn(stored: Element): { place: number; value: string; code: string | undefined }[] {
  return elements(stored, 'c:pt').flatMap(({ attributes, children }) => {
    const place = Number(attributes['idx']);
    const value = children.find((child): child is Element => typeof child !== 'string' && child.name === 'c:v');
    return Number.isSafeInteger(place) && value ? [{ place, value: textIn(value), code: attributes['formatCode'] }] : [];
  });
}

function numberText(value: string, code: string | undefined, date1904: boolean): string {
  const number = Number(value);
  return value.trim() !== '' && Number.isFinite(number) ? shownNumber(number, code, date1904) : value;
}

/** Joins nested categories, innermost level first: a label of an outer level applies to the points up to its next label. */
function nested([inner = new Map(), ...outer]: Map<number, string>[]): Points {
  const last = outer.map(() => '');
  return new Map(
    [...inner]
      .sort(([a], [b]) => a - b)
      .map(([place, text]) => {
        for (const [level, names] of outer.entries()) last[level] = names.get(place) ?? last[level] ?? '';
        return [place, [...last.toReversed(), text].filter((name) => name !== '').join(' / ')];
      }),
  );
}

/** Literal text (`c:rich`, `c:v`), or text cached from cells (`c:strRef`). */
function titleOf(words: Element | undefined): string {
  const written = element(words, 'c:v');
  const text = written ? textIn(written) : lineOf(element(words, 'c:rich')) || [...(pointsOf(words, false)?.values() ?? [])].join(' ');
  return text.replace(/\s+/g, ' ').trim();
}

const on = (flag: Element | undefined): boolean => flag !== undefined && /^(1|true)$/.test(flag.attributes['val'] ?? '1');
