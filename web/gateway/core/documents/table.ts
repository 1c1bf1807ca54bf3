/** Maximum ratio of a padded table's size to its contents; beyond it, rows are not padded. */
const MOST_FILLING = 4;
const SMALL = 10_000;

/**
 * A Markdown table; the first row is its header. Rows may have different lengths, and stay so if one is far longer than the rest: Markdown
 * pads them.
 */
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

/**
 * Rows as plain lines: for a table within a cell, which Markdown does not support, and whose marks would be escaped again at each level.
 */
export const plainTable = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => cells.map((text) => text.trim()).join('\t')).join('\n');

const cellText = (text: string): string => inOneLine(text.trim().replaceAll('\\', '\\\\').replaceAll('|', '\\|'));

/** Without a regular expression: those for space around line breaks take time that grows with the square of the space. */
function inOneLine(text: string): string {
  if (!text.includes('\n')) return text;
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('<br>');
}
