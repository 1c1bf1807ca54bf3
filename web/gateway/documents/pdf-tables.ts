import { toMarkdownTable } from './markdown-table.ts';

/** Text that stands together in a line; lengths in points. */
export interface PdfCell {
  text: string;
  left: number;
  right: number;
}

export interface PdfRow {
  cells: readonly PdfCell[];
  y: number;
  height: number;
}

/** Lines with more cells are not part of a table. */
const MAX_COLUMNS = 50;
/** Maximum distance of the next row of a table, and of the next line in a cell, as multiples of the line height. */
const MAX_ROW_GAP = 3.5;
const MAX_LINE_GAP = 1.6;
/** Cells with this many words are lines of text in columns. */
const MIN_PROSE_WORDS = 5;
const MIN_PROSE_ROWS = 4;

/**
 * The text in columns that starts at a line, and the number of its lines: a table as Markdown, or columns of text one after another.
 * Columns are inferred from cells below each other, since a PDF does not mark them.
 */
export function findBlock(rows: readonly PdfRow[], rowIndex: number): { text: string; rows: number } | undefined {
  const first = rows[rowIndex];
  if (!first || first.cells.length < 2 || first.cells.length > MAX_COLUMNS) return undefined;
  const columns = first.cells.map(({ left, right }) => ({ left, right }));
  const table: string[][] = [first.cells.map(({ text }) => text)];
  let [before, rowCount] = [first, 1];
  for (let row = rows[rowIndex + rowCount]; row; row = rows[rowIndex + rowCount]) {
    const gap = (before.y - row.y) / Math.max(before.height, row.height, 1);
    const columnIndexes = gap > 0 && gap <= MAX_ROW_GAP ? findColumns(row.cells, columns) : undefined;
    if (!columnIndexes) break;
    const isContinuation = row.cells.length < columns.length;
    // A row starts in the first column: a line without it belongs to the row above.
    if (isContinuation && (columnIndexes[0] === 0 || gap > MAX_LINE_GAP)) break;
    const targetRow = isContinuation ? (table.at(-1) ?? []) : columns.map(() => '');
    if (!isContinuation) table.push(targetRow);
    for (const [index, cell] of row.cells.entries()) {
      const columnIndex = columnIndexes[index] ?? 0;
      const column = columns[columnIndex];
      targetRow[columnIndex] = targetRow[columnIndex] ? `${targetRow[columnIndex]} ${cell.text}` : cell.text;
      if (column) Object.assign(column, { left: Math.min(column.left, cell.left), right: Math.max(column.right, cell.right) });
    }
    before = row;
    rowCount++;
  }
  if (table.length < (columns.length > 2 ? 2 : 3)) return undefined;
  const prose = table.length >= MIN_PROSE_ROWS && columns.every((_, column) => countWords(table, column) >= MIN_PROSE_WORDS * table.length);
  const text = prose ? columns.map((_, column) => table.map((row) => row[column]).join('\n')).join('\n\n') : toMarkdownTable(table);
  return { text, rows: rowCount };
}

/** Column indexes of cells, all different; undefined if a cell lies in none, or in two. */
function findColumns(cells: readonly PdfCell[], columns: readonly { left: number; right: number }[]): number[] | undefined {
  const columnIndexes: number[] = [];
  for (const { left, right } of cells) {
    const overlapping = columns.flatMap((column, index) => (left <= column.right && column.left <= right ? [index] : []));
    const [columnIndex] = overlapping;
    if (columnIndex === undefined || overlapping.length > 1 || columnIndex <= (columnIndexes.at(-1) ?? -1)) return undefined;
    columnIndexes.push(columnIndex);
  }
  return columnIndexes;
}

const countWords = (table: readonly (readonly string[])[], column: number): number =>
  table.reduce((sum, row) => sum + (row[column]?.split(/\s+/).length ?? 0), 0);
