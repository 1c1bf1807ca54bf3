import { toMarkdownTable } from './markdown-table.ts';

/** Text that stands together in a line; lengths in points. */
interface PdfCell {
  text: string;
  left: number;
  right: number;
}

interface PdfRow {
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

const countWords = (table: readonly (readonly string[])[], column: number): number =>
  table.reduce((sum, row) => sum + (row[column]?.split(/\s+/).length ?? 0), 0);

/** A piece of text as the page draws it; lengths in points, `x` along the letters and `y` upwards from them. */
export interface PdfPiece {
  text: string;
  /** Rotation of the letters: pieces with the same direction form lines. */
  direction: number;
  x: number;
  y: number;
  width: number;
  height: number;
  endsLine: boolean;
}

interface TextLine {
  pieces: PdfPiece[];
  left: number;
  right: number;
  y: number;
  height: number;
}

/** Maximum difference of rotation within a line, in degrees. */
const ROTATION_STEP_DEGREES = 5;
/** Maximum ratio of the heights of letters whose baselines may differ by more than the smaller ones' height. */
const MAX_HEIGHT_RATIO = 3;
/** Maximum distance of a piece drawn again, as a part of its height. */
const MAX_REPEAT_OFFSET = 0.1;
/** Maximum number of equal pieces that a piece is compared with. */
const MAX_COMPARED_PIECES = 100;

/**
 * Position of a piece relative to its letters' direction: upside-down, vertical or mirrored text still runs from left to right. `transform`
 * is the text matrix (ISO 32000-2, 9.4.4).
 */
export function toPosition([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: readonly number[]): Pick<PdfPiece, 'x' | 'y' | 'direction'> {
  const turn = Math.round((Math.atan2(b, a) * 180) / Math.PI / ROTATION_STEP_DEGREES) * ROTATION_STEP_DEGREES;
  const angle = (turn * Math.PI) / 180;
  const up = a * d - b * c < 0 ? -1 : 1;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return { x: e * cos + f * sin, y: up * (f * cos - e * sin), direction: up * (((turn + 360) % 360) + 1) };
}

/** The text of a page: one direction after another, starting with that of the first piece. */
export function formatPage(pieces: readonly PdfPiece[]): string {
  const texts = [...Map.groupBy(withoutRepeats(pieces), ({ direction }) => direction).values()].map(formatDirection);
  return texts.filter((text) => text !== '').join('\n\n');
}

/** Without pieces drawn again at the same place, as programs do for bold letters and shadows. */
function withoutRepeats(pieces: readonly PdfPiece[]): PdfPiece[] {
  const drawn = new Map<string, PdfPiece[]>();
  return pieces.filter((piece) => {
    if (piece.text.trim() === '') return true;
    const key = `${piece.direction} ${piece.text}`;
    const same = drawn.get(key) ?? [];
    drawn.set(key, same);
    const distance = MAX_REPEAT_OFFSET * piece.height;
    // The latest first: repeats are near, and a dot may occur thousands of times.
    for (const other of same.slice(-MAX_COMPARED_PIECES).reverse())
      if (Math.abs(other.x - piece.x) <= distance && Math.abs(other.y - piece.y) <= distance) return false;
    same.push(piece);
    return true;
  });
}

/**
 * The text of one direction. Pages usually draw text in reading order, also column by column; if the lines jump up again and again, they
 * are sorted from the top.
 */
function formatDirection(pieces: readonly PdfPiece[]): string {
  let lines = groupLines(pieces);
  if (isDisordered(lines)) lines = groupLines(sortFromTop(lines));
  const rows = lines.map((line) => ({ ...line, cells: splitCells(line) })).filter(({ cells }) => cells.length > 0);
  let text = '';
  let last: { y: number; height: number } | undefined;
  for (let index = 0; index < rows.length;) {
    const [row, block] = [rows[index], findBlock(rows, index)];
    if (!row) break;
    const hasGap = block || (last && Math.abs(last.y - row.y) > 1.9 * Math.max(last.height, row.height, 1));
    text += text === '' ? '' : hasGap ? '\n\n' : '\n';
    text += block ? block.text : row.cells.map((cell) => cell.text).join('\t');
    index += block?.rows ?? 1;
    // The line after a table is not part of its last row.
    last = block ? { y: Infinity, height: 0 } : row;
  }
  return text;
}

function groupLines(pieces: readonly PdfPiece[]): TextLine[] {
  const lines: TextLine[] = [];
  let line: TextLine | undefined;
  for (const piece of pieces) {
    if (piece.text.trim() === '' && !piece.endsLine) {
      if (line && piece.text !== '') line.pieces.push(piece);
      continue;
    }
    const same = line && Math.abs(piece.y - line.y) <= 0.5 * getLineTolerance(line.height, piece.height);
    if (!line || !same) lines.push((line = { pieces: [], left: piece.x, right: piece.x, y: piece.y, height: piece.height }));
    if (piece.text !== '') line.pieces.push(piece);
    line.left = Math.min(line.left, piece.x);
    line.right = Math.max(line.right, piece.x + piece.width);
    line.height = Math.max(line.height, piece.height);
  }
  return lines.filter(({ pieces: [first] }) => first);
}

/** Height that decides whether two pieces are on one line: the larger, but a watermark does not take the lines that it covers. */
function getLineTolerance(a: number, b: number): number {
  const [small, large] = [Math.min(a, b), Math.max(a, b)];
  return Math.max(small > 0 && large > MAX_HEIGHT_RATIO * small ? small : large, 1);
}

/** Whether more than a fifth of the lines are above the previous one, in the same column. */
function isDisordered(lines: readonly TextLine[]): boolean {
  let jumps = 0;
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    if (before && line.y > before.y + line.height && line.left < before.right && before.left < line.right) jumps++;
  }
  return jumps > 0 && jumps * 5 > lines.length - 1;
}

function sortFromTop(lines: readonly TextLine[]): PdfPiece[] {
  const pieces = lines.flatMap((line) => line.pieces).filter(({ text }) => text.trim() !== '');
  return groupLines(pieces.sort((a, b) => b.y - a.y)).flatMap((line) => line.pieces.sort((a, b) => a.x - b.x));
}

/** Splits a line's words into cells at wide gaps. Joined from parts, as a line may have very many pieces. */
function splitCells({ pieces: linePieces, height }: TextLine): PdfCell[] {
  const rightToLeft = isRightToLeft(linePieces);
  const pieces = rightToLeft ? toReadingOrder(linePieces) : linePieces;
  const cells: PdfCell[] = [];
  let parts: string[] = [];
  let [left, end]: [number, number | undefined] = [0, undefined];
  const close = (): void => {
    const text = parts.join('').trim();
    if (text !== '') cells.push({ text, left, right: end ?? left });
    parts = [];
  };
  for (const { text, x, width } of pieces) {
    const gap = end === undefined ? 0 : rightToLeft ? Math.max(x - end, left - (x + width)) : x - end;
    if (gap > 2 * height) close();
    else if (gap > 0.15 * height && !/\s$/.test(parts.at(-1) ?? '') && !/^\s/.test(text)) parts.push(' ');
    if (text.trim() !== '') {
      if (rightToLeft || parts.every((part) => part.trim() === '')) left = x;
      end = x + width;
    }
    if (text !== '') parts.push(text);
  }
  close();
  return cells;
}

const RIGHT_TO_LEFT_SCRIPTS = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;

/** Whether more than half of the letters belong to right-to-left scripts. */
function isRightToLeft(pieces: readonly PdfPiece[]): boolean {
  const text = pieces.map((piece) => piece.text).join('');
  const count = text.match(RIGHT_TO_LEFT_SCRIPTS)?.length ?? 0;
  return count > 0 && count * 2 > (text.match(/\p{L}/gu)?.length ?? 0);
}

/** A line's pieces from the right, with runs of numbers and other words from the left. */
function toReadingOrder(pieces: readonly PdfPiece[]): PdfPiece[] {
  const ordered: PdfPiece[] = [];
  let run: PdfPiece[] = [];
  for (const piece of pieces.filter(({ text }) => text.trim() !== '').sort((a, b) => b.x + b.width - (a.x + a.width))) {
    if (piece.text.search(RIGHT_TO_LEFT_SCRIPTS) === -1) run.unshift(piece);
    else {
      ordered.push(...run, piece);
      run = [];
    }
  }
  return [...ordered, ...run];
}

/**
 * The text in columns that starts at a line, and the number of its lines: a table as Markdown, or columns of text one after another.
 * Columns are inferred from cells below each other, since a PDF does not mark them.
 */
function findBlock(rows: readonly PdfRow[], rowIndex: number): { text: string; rows: number } | undefined {
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
