import { markdownTable } from './table.ts';

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
const MOST_COLUMNS = 50;
/** Maximum distance of the next row of a table, and of the next line in a cell, as multiples of the line height. */
const ROW_GAP = 3.5;
const LINE_GAP = 1.6;
/** Cells with this many words are lines of text in columns. */
const PROSE_WORDS = 5;
const PROSE_ROWS = 4;

/**
 * The text in columns that starts at a line, and the number of its lines: a table as Markdown, or columns of text one after another.
 * Columns are inferred from cells below each other, since a PDF does not mark them.
 */
export function blockAt(rows: readonly PdfRow[], at: number): { text: string; rows: number } | undefined {
  const first = rows[at];
  if (!first || first.cells.length < 2 || first.cells.length > MOST_COLUMNS) return undefined;
  const columns = first.cells.map(({ left, right }) => ({ left, right }));
  const table: string[][] = [first.cells.map(({ text }) => text)];
  let [before, taken] = [first, 1];
  for (let row = rows[at + taken]; row; row = rows[at + taken]) {
    const below = (before.y - row.y) / Math.max(before.height, row.height, 1);
    const places = below > 0 && below <= ROW_GAP ? placesOf(row.cells, columns) : undefined;
    if (!places) break;
    const goesOn = row.cells.length < columns.length;
    // A row starts in the first column: a line without it belongs to the row above.
    if (goesOn && (places[0] === 0 || below > LINE_GAP)) break;
    const into = goesOn ? (table.at(-1) ?? []) : columns.map(() => '');
    if (!goesOn) table.push(into);
    for (const [nth, cell] of row.cells.entries()) {
      const place = places[nth] ?? 0;
      const column = columns[place];
      into[place] = into[place] ? `${into[place]} ${cell.text}` : cell.text;
      if (column) Object.assign(column, { left: Math.min(column.left, cell.left), right: Math.max(column.right, cell.right) });
    }
    before = row;
    taken++;
  }
  if (table.length < (columns.length > 2 ? 2 : 3)) return undefined;
  const prose = table.length >= PROSE_ROWS && columns.every((_, column) => wordsIn(table, column) >= PROSE_WORDS * table.length);
  const text = prose ? columns.map((_, column) => table.map((row) => row[column]).join('\n')).join('\n\n') : markdownTable(table);
  return { text, rows: taken };
}

/** Column indexes of cells, all different; undefined if a cell lies in none, or in two. */
function placesOf(cells: readonly PdfCell[], columns: readonly { left: number; right: number }[]): number[] | undefined {
  const places: number[] = [];
  for (const { left, right } of cells) {
    const met = columns.flatMap((column, nth) => (left <= column.right && column.left <= right ? [nth] : []));
    const [place] = met;
    if (place === undefined || met.length > 1 || place <= (places.at(-1) ?? -1)) return undefined;
    places.push(place);
  }
  return places;
}

const wordsIn = (table: readonly (readonly string[])[], column: number): number =>
  table.reduce((sum, row) => sum + (row[column]?.split(/\s+/).length ?? 0), 0);
