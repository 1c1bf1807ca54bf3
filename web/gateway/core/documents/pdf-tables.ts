import { markdownTable } from './table.ts';

/** What stands together in a line; lengths in points. */
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

/** Lines with more cells than these are in no table. */
const MOST_COLUMNS = 50;
/** By so many heights of a line the next row of a table may lie below it, and by so many what goes on in a cell. */
const ROW_GAP = 3.5;
const LINE_GAP = 1.6;
/** Cells of so many words are lines of text in columns. */
const PROSE_WORDS = 5;
const PROSE_ROWS = 4;

/**
 * What is drawn in columns from a line on, line by line, and how many lines of it there are: a table as Markdown, or columns of text one after the other.
 * Columns are where cells lie below each other: a PDF does not say.
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
    // The first column begins a row: what is in the others alone belongs to the row above.
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

/** In which column each cell lies, each in another; undefined where one lies in none, or in two. */
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
