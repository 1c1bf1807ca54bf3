import { type CellRange, toColumnNumber } from './cell-range.ts';
import { StopReading, type OfficePackage } from './office-package.ts';
import type { XlsxFormats } from './xlsx-formats.ts';

export interface SheetCells {
  rows: { row: number; cells: { column: number; text: string }[] }[];
  /** First row of the next part, if the limit was reached. */
  next?: number;
}

/** Maximum number of columns of a table: a hostile sheet may spread cells over thousands. */
const MAX_COLUMNS = 500;

/** Length of an empty cell in a table. */
const EMPTY_CELL_CHARS = 3;

/** The shared strings, to which cells refer by index. */
export async function readSharedStrings(parts: OfficePackage, path: string): Promise<string[]> {
  const strings: string[] = [];
  let text = '';
  let inText = false;
  let phonetic = 0;
  await parts.read(path, {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') phonetic++;
      inText = name === 't';
    },
    text(piece) {
      if (inText && phonetic === 0) text += piece;
    },
    close(name) {
      if (name === 'si') strings.push(text);
      else if (name === 'rPh') phonetic--;
      inText = false;
    },
  });
  return strings;
}

interface CellQuery {
  range: CellRange;
  strings: readonly string[];
  formats: XlsxFormats;
  /** Characters after which the remaining rows are left for later; at least one row is read. */
  limit: number;
}

/** The non-empty cells of a sheet, row by row, until the limit is reached. */
export async function readSheetCells(
  parts: OfficePackage,
  path: string,
  { range, strings, formats, limit }: CellQuery,
): Promise<SheetCells> {
  const found: SheetCells = { rows: [] };
  let size = 0;
  let row = 0;
  let column = 0;
  let cell: XlsxCell | undefined;
  let field: 'value' | 'formula' | 'inline' | undefined;
  const columns = new Set<number>();
  const addCell = (xlsxCell: XlsxCell): void => {
    const isInRange = row >= range.top && row <= range.bottom && column >= range.left && column <= range.right;
    const text = isInRange ? formatCell(xlsxCell, strings, formats) : '';
    if (text === '') return;
    if (columns.size >= MAX_COLUMNS && !columns.has(column)) return;
    columns.add(column);
    let last = found.rows.at(-1);
    const rows = found.rows.length + (last?.row === row ? 0 : 1);
    // Every row of a table has all of its columns: a cell further to the right makes all rows longer.
    if (rows > 1 && (rows * columns.size * EMPTY_CELL_CHARS > limit || (last?.row !== row && size >= limit))) {
      if (last?.row === row) found.rows.pop();
      found.next = row;
      throw new StopReading();
    }
    if (last?.row !== row) {
      found.rows.push((last = { row, cells: [] }));
      size += String(row).length + 5;
    }
    last.cells.push({ column, text });
    size += text.length + 3;
  };
  await parts.read(path, {
    open(name, attributes) {
      if (name === 'row') {
        row = Number(attributes['r'] ?? row + 1) || row + 1;
        column = 0;
        if (row > range.bottom) throw new StopReading();
      } else if (name === 'c') {
        column = toColumnNumber(/^[A-Z]+/i.exec(attributes['r'] ?? '')?.[0] ?? '') || column + 1;
        cell = { type: attributes['t'] ?? 'n', style: Number(attributes['s'] ?? 0), value: '', formula: '', inline: '' };
      } else if (name === 'v') field = 'value';
      else if (name === 'f') field = 'formula';
      else if (name === 't') field = 'inline';
    },
    text(piece) {
      if (cell && field) cell[field] += piece;
    },
    close(name) {
      if (name === 'c' && cell) {
        addCell(cell);
        cell = undefined;
      }
      field = undefined;
    },
  });
  return found;
}

interface XlsxCell {
  type: string;
  style: number;
  value: string;
  formula: string;
  inline: string;
}

function formatCell({ type, style, value, formula, inline }: XlsxCell, strings: readonly string[], formats: XlsxFormats): string {
  switch (type) {
    case 's':
      return strings[Number(value)] ?? '';
    case 'inlineStr':
      return inline;
    case 'b':
      return value === '1' ? 'TRUE' : value === '0' ? 'FALSE' : value;
    case 'str':
    case 'e':
    case 'd':
      return value;
    default: {
      // A formula that was never calculated has no value to show.
      if (value === '') return formula === '' ? '' : `=${formula}`;
      const number = Number(value);
      return Number.isFinite(number) ? formats.formatNumber(number, style) : value;
    }
  }
}
