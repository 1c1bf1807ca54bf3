import { styleText } from 'node:util';
import { escapeInvisible, toPrintable } from '#shared/printable.ts';

type OutputStream = NodeJS.WriteStream;
export type TextStyle = Parameters<typeof styleText>[0];

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);
/** Prints to standard error, since standard output is for results. */
export const printNote = (line: string): void => void process.stderr.write(`${line}\n`);
/** Escapes control and bidi characters in JSON text without changing its value. */
export const escapeJson = (json: string): string =>
  escapeInvisible(json, (char) =>
    char
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
export const toPrintableJson = (value: unknown, indent?: number): string => escapeJson(JSON.stringify(value, null, indent));
/** Prints a value as JSON on one line. */
export const printJson = (value: unknown): void => printLine(toPrintableJson(value));

/** Colours a text if the stream is a terminal with colours and NO_COLOR is not set. */
export const colorize = (style: TextStyle, text: string, stream: OutputStream = process.stdout): string =>
  styleText(style, text, { stream });

/** Escapes control characters in untrusted text: they could move the cursor or set the clipboard, even in a terminal behind a pipe. */
export const escapeControls = (text: string): string => text.replaceAll('\r\n', '\n').split('\t').map(toPrintable).join('\t');
/** The same, on one line. */
export const escapeToOneLine = (text: string): string => escapeControls(text.replace(/\s+/g, ' ').trim());

/** Width of the terminal in columns; Infinity if the stream is not a terminal. */
export const getTerminalWidth = (stream: OutputStream = process.stdout): number => (stream.isTTY ? stream.columns || 80 : Infinity);

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Characters that are two columns wide: East Asian wide characters, and those displayed as emoji. */
const WIDE_CHARACTERS =
  /\p{Emoji_Presentation}|\p{Emoji}\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

const countColumns = (grapheme: string): number => (WIDE_CHARACTERS.test(grapheme) ? 2 : 1);

/** Width of a text without colours, in columns. */
export function computeWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += countColumns(segment);
  return width;
}

/** Truncates a text without colours to `width` columns; ends with `…` if truncated. */
export function truncate(text: string, width: number): string {
  if (computeWidth(text) <= width) return text;
  let truncated = '';
  let left = width - 1;
  for (const { segment } of graphemes.segment(text)) {
    left -= countColumns(segment);
    if (left < 0) break;
    truncated += segment;
  }
  return width < 1 ? '' : `${truncated}…`;
}

interface Column {
  title: string;
  align?: 'left' | 'right';
  /** Whether the column shrinks on narrow terminals, down to eight columns. */
  isFlexible?: boolean;
  style?: (cell: string) => TextStyle | undefined;
}

const COLUMN_GAP = 2;
const MIN_COLUMN_WIDTH = 8;

/** Formats rows under column titles, truncated to `width` columns. Returns lines. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[], width = getTerminalWidth()): string[] {
  const texts = rows.map((row) => row.map((cell) => escapeToOneLine(cell)));
  const widths = columns.map(({ title }, at) => Math.max(computeWidth(title), ...texts.map((row) => computeWidth(row[at] ?? ''))));
  // The widest column shrinks first.
  let excess = widths.reduce((sum, each) => sum + each, 0) + COLUMN_GAP * (columns.length - 1) - width;
  for (; excess > 0 && Number.isFinite(excess); excess--) {
    const widest = Math.max(...columns.map(({ isFlexible }, at) => (isFlexible ? (widths[at] ?? 0) : 0)));
    if (widest <= MIN_COLUMN_WIDTH) break;
    widths[columns.findIndex(({ isFlexible }, at) => isFlexible && widths[at] === widest)] = widest - 1;
  }
  const line = (cells: readonly string[], styleOf: (column: Column, cell: string) => TextStyle | undefined): string => {
    let left = width;
    const parts: string[] = [];
    columns.forEach((column, at) => {
      if (left <= 0) return;
      const cell = truncate(cells[at] ?? '', Math.min(widths[at] ?? 0, left));
      const pad = ' '.repeat(Math.max(0, Math.min(widths[at] ?? 0, left) - computeWidth(cell)));
      const style = styleOf(column, cell);
      const painted = style === undefined ? cell : colorize(style, cell);
      const isLast = at === columns.length - 1;
      parts.push(column.align === 'right' ? `${pad}${painted}` : isLast ? painted : `${painted}${pad}`);
      left -= (widths[at] ?? 0) + COLUMN_GAP;
    });
    return parts.join(' '.repeat(COLUMN_GAP)).trimEnd();
  };
  return [
    line(
      columns.map(({ title }) => title),
      () => 'bold',
    ),
    ...texts.map((row) => line(row, (column, cell) => column.style?.(cell))),
  ];
}
