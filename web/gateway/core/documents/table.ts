/** A table with holes may be so many times as large as what is in it; beyond, its rows are not filled up. */
const MOST_FILLING = 4;
const SMALL = 10_000;

/** A Markdown table; the first row is its head. Rows may be of different lengths, and where one is far longer than the rest they stay so: Markdown fills them up. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head, ...body] = rows;
  let width = 0;
  let cells = 0;
  for (const row of rows) {
    width = Math.max(width, row.length);
    cells += row.length;
  }
  if (!head || width === 0) return '';
  const filled = width * rows.length <= Math.max(SMALL, MOST_FILLING * cells);
  const line = (row: readonly string[], length: number): string =>
    `| ${Array.from({ length }, (_, column) => cellText(row[column] ?? '')).join(' | ')} |`;
  return [line(head, width), `|${' --- |'.repeat(width)}`, ...body.map((row) => line(row, filled ? width : row.length))].join('\n');
}

/** Rows as plain lines: for a table within a cell, which Markdown does not have, and whose marks would be escaped anew at each level. */
export const plainTable = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => cells.map((text) => text.trim()).join('\t')).join('\n');

const cellText = (text: string): string => inOneLine(text.trim().replaceAll('\\', '\\\\').replaceAll('|', '\\|'));

/** Without a pattern: those for space around a line's end take time that grows with the square of the space. */
function inOneLine(text: string): string {
  if (!text.includes('\n')) return text;
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('<br>');
}
