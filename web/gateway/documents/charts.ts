import { formatLine } from './drawing-text.ts';
import type { toMarkdownTable } from './markdown-table.ts';
import { formatXlsxNumber } from './xlsx-formats.ts';
import { type XmlElement, findElement, getChildren, getText } from './xml-tree.ts';

/** Maximum ratio of a table's size to its number of points: each point may otherwise create a row in all series. */
const MAX_FILL_RATIO = 10;
const MIN_TABLE_CELLS = 10_000;

/** Values by the index of their point. */
type ChartPoints = ReadonlyMap<number, string>;

interface ChartSeries {
  order: number;
  /** Labels of the points: categories, or the x values; undefined if the series has none. */
  labels: ChartPoints | undefined;
  columns: { name: string; values: ChartPoints }[];
}

/**
 * A chart (`c:chartSpace`; ECMA-376 part 1, section 21.2) as its title and a table: a row for each category, a column for each series, with
 * the stored values. Series with other categories have a separate table. Empty if there is neither.
 */
export function formatChart(chart: XmlElement | undefined, table: typeof toMarkdownTable): string {
  const chartElement = findElement(chart, 'c:chart');
  const date1904 = isEnabled(findElement(chart, 'c:date1904'));
  const series = getChildren(findElement(chartElement, 'c:plotArea'))
    .flatMap((kind) => getChildren(kind, 'c:ser'))
    .map((each, index) => parseSeries(each, index, date1904))
    .sort((a, b) => a.order - b.order);
  const title = readTitle(findElement(chartElement, 'c:title', 'c:tx'));
  const tables = groupByLabels(series).map((group) => formatTable(group, table));
  if (title === '' && tables.length === 0) return '';
  return [title === '' ? 'Chart:' : `Chart: ${title}`, ...tables].join('\n\n');
}

function parseSeries(series: XmlElement, at: number, date1904: boolean): ChartSeries {
  const points = (name: string): ChartPoints | undefined => readPoints(findElement(series, name), date1904);
  const name = readTitle(findElement(series, 'c:tx')) || `Series ${at + 1}`;
  const sizes = points('c:bubbleSize');
  return {
    order: Number(findElement(series, 'c:order')?.attributes['val'] ?? at) || 0,
    labels: points('c:cat') ?? points('c:xVal'),
    columns: [
      { name, values: points('c:val') ?? points('c:yVal') ?? new Map() },
      ...(sizes ? [{ name: `${name} (size)`, values: sizes }] : []),
    ],
  };
}

/** Groups series with the same categories; those without any join the first group. */
function groupByLabels(series: readonly ChartSeries[]): ChartSeries[][] {
  const groups = new Map<string, ChartSeries[]>();
  const first = series.find(({ labels }) => labels)?.labels;
  for (const item of series) {
    const labels = item.labels ?? first;
    const key = JSON.stringify(labels ? [...labels] : []);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [{ ...item, labels }]);
  }
  return [...groups.values()];
}

function formatTable(group: readonly ChartSeries[], table: typeof toMarkdownTable): string {
  const labels = group[0]?.labels;
  const columns = group.flatMap((series) => series.columns);
  const indexes = new Set([...(labels?.keys() ?? []), ...columns.flatMap(({ values }) => [...values.keys()])]);
  const points = columns.reduce((sum, { values }) => sum + values.size, indexes.size);
  const maxRows = Math.max(1, Math.floor(Math.max(MIN_TABLE_CELLS, MAX_FILL_RATIO * points) / (columns.length + 1)));
  const shownIndexes = [...indexes].sort((a, b) => a - b).slice(0, maxRows);
  const rows = shownIndexes.map((pointIndex) => [
    labels ? (labels.get(pointIndex) ?? '') : String(pointIndex + 1),
    ...columns.map(({ values }) => values.get(pointIndex) ?? ''),
  ]);
  const text = table([['', ...columns.map(({ name }) => name)], ...rows]);
  return shownIndexes.length < indexes.size ? `${text}\n\n(${indexes.size - shownIndexes.length} more rows omitted)` : text;
}

/** Cached values of a reference to cells, or literal values. */
function readPoints(source: XmlElement | undefined, date1904: boolean): ChartPoints | undefined {
  const [reference] = getChildren(source);
  if (!reference) return undefined;
  const cache = /^c:(str|num)Lit$/.test(reference.name)
    ? reference
    : getChildren(reference).find(({ name }) => /^c:(str|num|multiLvlStr)Cache$/.test(name));
  if (!cache) return undefined;
  if (cache.name === 'c:multiLvlStrCache') return joinLevels(getChildren(cache, 'c:lvl').map((level) => readTexts(level)));
  if (cache.name.startsWith('c:str')) return readTexts(cache);
  const code = findElement(cache, 'c:formatCode');
  return new Map(
    readRawPoints(cache).map(({ place: pointIndex, value, code: own }) => [
      pointIndex,
      formatPoint(value, own ?? (code && getText(code)), date1904),
    ]),
  );
}

const readTexts = (cache: XmlElement): Map<number, string> =>
  new Map(readRawPoints(cache).map(({ place: pointIndex, value }) => [pointIndex, value]));

function readRawPoints(cache: XmlElement): { place: number; value: string; code: string | undefined }[] {
  return getChildren(cache, 'c:pt').flatMap(({ attributes, children }) => {
    const pointIndex = Number(attributes['idx']);
    const value = children.find((child): child is XmlElement => typeof child !== 'string' && child.name === 'c:v');
    return Number.isSafeInteger(pointIndex) && value ? [{ place: pointIndex, value: getText(value), code: attributes['formatCode'] }] : [];
  });
}

function formatPoint(value: string, code: string | undefined, date1904: boolean): string {
  const number = Number(value);
  return value.trim() !== '' && Number.isFinite(number) ? formatXlsxNumber(number, code, date1904) : value;
}

/** Joins nested categories, innermost level first: a label of an outer level applies to the points up to its next label. */
function joinLevels([inner = new Map(), ...outer]: Map<number, string>[]): ChartPoints {
  const last = outer.map(() => '');
  return new Map(
    [...inner]
      .sort(([a], [b]) => a - b)
      .map(([pointIndex, text]) => {
        for (const [level, names] of outer.entries()) last[level] = names.get(pointIndex) ?? last[level] ?? '';
        return [pointIndex, [...last.toReversed(), text].filter((name) => name !== '').join(' / ')];
      }),
  );
}

/** Literal text (`c:rich`, `c:v`), or text cached from cells (`c:strRef`). */
function readTitle(titleElement: XmlElement | undefined): string {
  const literal = findElement(titleElement, 'c:v');
  const text = literal
    ? getText(literal)
    : formatLine(findElement(titleElement, 'c:rich')) || [...(readPoints(titleElement, false)?.values() ?? [])].join(' ');
  return text.replace(/\s+/g, ' ').trim();
}

const isEnabled = (flag: XmlElement | undefined): boolean => flag !== undefined && /^(1|true)$/.test(flag.attributes['val'] ?? '1');
