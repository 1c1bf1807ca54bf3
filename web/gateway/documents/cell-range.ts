import { RpcError } from '#shared/rpc/rpc-error.ts';

const MAX_ROW = 1_048_576;
const MAX_COLUMN = 16_384;

/** A part of a sheet; rows and columns from 1, both ends inclusive. */
export interface CellRange {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

/** Parses `B2:F40`, `B:F`, `2:40` or one cell; undefined means the whole sheet. Throws `INVALID_PARAMS`. */
export function parseCellRange(text: string | undefined): CellRange {
  const all = { top: 1, bottom: MAX_ROW, left: 1, right: MAX_COLUMN };
  if (text === undefined || text.trim() === '') return all;
  const ends = text.replaceAll('$', '').trim().split(':').map(parseCellReference);
  const [first, last = first] = ends;
  if (!first || !last || ends.length > 2)
    throw new RpcError('INVALID_PARAMS', `Invalid range "${text.slice(0, 100)}". Use a form such as B2:F40, B:F or 2:40.`);
  return { top: first.row ?? 1, bottom: last.row ?? MAX_ROW, left: first.column ?? 1, right: last.column ?? MAX_COLUMN };
}

function parseCellReference(text: string): { row?: number; column?: number } | undefined {
  const [, letters = '', digits = ''] = /^\s*([A-Za-z]{0,3})(\d{0,7})\s*$/.exec(text) ?? [];
  if (letters === '' && digits === '') return undefined;
  return { ...(letters === '' ? {} : { column: toColumnNumber(letters) }), ...(digits === '' ? {} : { row: Number(digits) }) };
}

/** Converts `AB` to 28. */
export const toColumnNumber = (letters: string): number =>
  [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);

/** Converts 28 to `AB`. */
export function toColumnName(column: number): string {
  let name = '';
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26)) name = String.fromCharCode(65 + ((left - 1) % 26)) + name;
  return name;
}
