/** Maximum ratio of a padded table's size to its contents; beyond it, rows are not padded. */
const MAX_FILL_RATIO = 4;
const MIN_TABLE_CELLS = 10_000;

/**
 * A Markdown table; the first row is its header. Rows may have different lengths, and stay so if one is far longer than the rest: Markdown
 * pads them.
 */
export function toMarkdownTable(rows: readonly (readonly string[])[]): string {
  const [head, ...body] = rows;
  let width = 0;
  let cells = 0;
  for (const row of rows) {
    width = Math.max(width, row.length);
    cells += row.length;
  }
  if (!head || width === 0) return '';
  const isPadded = width * rows.length <= Math.max(MIN_TABLE_CELLS, MAX_FILL_RATIO * cells);
  const formatRow = (row: readonly string[], length: number): string =>
    `| ${Array.from({ length }, (_, column) => formatCell(row[column] ?? '')).join(' | ')} |`;
  return [formatRow(head, width), `|${' --- |'.repeat(width)}`, ...body.map((row) => formatRow(row, isPadded ? width : row.length))].join(
    '\n',
  );
}

/**
 * Rows as plain lines: for a table within a cell, which Markdown does not support, and whose marks would be escaped again at each level.
 */
export const toPlainTable = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => cells.map((text) => text.trim()).join('\t')).join('\n');

const formatCell = (text: string): string => joinLines(text.trim().replaceAll('\\', '\\\\').replaceAll('|', '\\|'));

/** Without a regular expression: those for space around line breaks take time that grows with the square of the space. */
function joinLines(text: string): string {
  if (!text.includes('\n')) return text;
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('<br>');
}
