import { RpcError } from '#shared/rpc/errors.ts';

export const LAST_ROW = 1_048_576;
export const LAST_COLUMN = 16_384;

/** A part of a sheet; rows and columns from 1, both ends inclusive. */
export interface CellRange {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** Parses `B2:F40`, `B:F`, `2:40` or one cell; undefined means the whole sheet. Throws `INVALID_PARAMS`. */
export function cellRange(text: string | undefined): CellRange {
  const all = { top: 1, bottom: LAST_ROW, left: 1, right: LAST_COLUMN };
  if (text === undefined || text.trim() === '') return all;
  const ends = text.replaceAll('$', '').trim().split(':').map(parsedEnd);
  const [first, last = first] = ends;
  if (!first || !last || ends.length > 2)
    throw new RpcError('INVALID_PARAMS', `Invalid range "${text.slice(0, 100)}". Use a form such as B2:F40, B:F or 2:40.`);
  return { top: first.row ?? 1, bottom: last.row ?? LAST_ROW, left: first.column ?? 1, right: last.column ?? LAST_COLUMN };
}

function parsedEnd(text: string): { row?: number; column?: number } | undefined {
  const [, letters = '', digits = ''] = /^\s*([A-Za-z]{0,3})(\d{0,7})\s*$/.exec(text) ?? [];
  if (letters === '' && digits === '') return undefined;
  return { ...(letters === '' ? {} : { column: columnNumber(letters) }), ...(digits === '' ? {} : { row: Number(digits) }) };
}

/** Converts `AB` to 28. */
export const columnNumber = (letters: string): number =>
  [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);

/** Converts 28 to `AB`. */
export function columnName(column: number): string {
  let name = '';
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26)) name = String.fromCharCode(65 + ((left - 1) % 26)) + name;
  return name;
}
