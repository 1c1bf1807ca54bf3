import { RpcError } from '#shared/rpc/errors.ts';
import { cellRange, type CellRange, columnName } from './cell-range.ts';
import { type DecodedRequest, type DocumentText, unreadable } from './documents.ts';
import { OfficePackage } from './office-package.ts';
import { markdownTable } from './table.ts';
import { sharedStrings, type SheetCells, sheetCells } from './xlsx-cells.ts';
import { XlsxFormats } from './xlsx-formats.ts';
import { element, elements } from './xml-tree.ts';

interface Sheet {
  name: string;
  path: string;
  hidden: boolean;
}

/**
 * Reads a workbook's sheets as Markdown tables, with column letters and row numbers. Formulas show their stored values. Reads all visible
 * sheets, or the requested one.
 */
export async function readXlsx(request: DecodedRequest, signal: AbortSignal): Promise<DocumentText> {
  const { name, bytes, limit } = request;
  const range = cellRange(request.range);
  const parts = await OfficePackage.open(name, bytes, signal);
  const { path: main, root } = await parts.main('xl/workbook.xml', 'workbook');
  const relations = await parts.relations(main);
  const sheets = elements(element(root, 'sheets'), 'sheet').flatMap(({ attributes }): Sheet[] => {
    const target = relations.get(attributes['r:id'] ?? '');
    // Chart sheets have no cells.
    if (target?.type !== 'worksheet') return [];
    return [{ name: attributes['name'] ?? '', path: target.target, hidden: (attributes['state'] ?? 'visible') !== 'visible' }];
  });
  if (sheets.length === 0) throw unreadable(name, 'has no worksheets');
  const related = (type: string): string => [...relations.values()].find((relation) => relation.type === type)?.target ?? '';
  const date1904 = /^(1|true)$/.test(element(root, 'workbookPr')?.attributes['date1904'] ?? '');
  const formats = new XlsxFormats(await parts.tree(related('styles')), date1904);
  const strings = await sharedStrings(parts, related('sharedStrings'));

  const chosen = request.sheet === undefined ? sheets.filter(({ hidden }) => !hidden) : [named(sheets, request.sheet)];
  let text = '';
  const result: DocumentText = { text, sheets: sheets.map((sheet) => (sheet.hidden ? `${sheet.name} (hidden)` : sheet.name)) };
  for (const [index, sheet] of chosen.entries()) {
    const cells = await sheetCells(parts, sheet.path, { range, strings, formats, limit: limit - text.length });
    text += `${text === '' ? '' : '\n\n'}## ${sheet.name}\n\n${table(cells)}`;
    const [goOn, sheetAfter] = [cells.next, chosen[index + 1]];
    if (goOn !== undefined) result.next = { sheet: sheet.name, range: rangeFrom(goOn, range) };
    else if (text.length >= limit && sheetAfter) result.next = { sheet: sheetAfter.name };
    if (result.next) {
      result.part = goOn === undefined ? 'the first sheets' : `up to row ${goOn - 1} of sheet "${sheet.name}"`;
      break;
    }
  }
  return { ...result, text };
}

function named(sheets: readonly Sheet[], wanted: string): Sheet {
  const found =
    sheets.find(({ name }) => name === wanted) ??
    sheets.find(({ name }) => name.toLowerCase() === wanted.trim().toLowerCase()) ??
    sheets[Number(wanted) - 1];
  if (!found)
    throw new RpcError('INVALID_PARAMS', `No sheet "${wanted.slice(0, 100)}". Sheets: ${sheets.map(({ name }) => name).join(', ')}.`);
  return found;
}

function rangeFrom(row: number, { bottom, left, right }: CellRange): string {
  return `${columnName(left)}${row}:${columnName(right)}${bottom}`;
}

function table({ rows }: SheetCells): string {
  if (rows.length === 0) return '(empty)';
  const columns = [...new Set(rows.flatMap(({ cells }) => cells.map(({ column }) => column)))].sort((a, b) => a - b);
  const places = new Map(columns.map((column, place) => [column, place + 1]));
  const lines = rows.map(({ row, cells }) => {
    const line = [String(row), ...columns.map(() => '')];
    for (const { column, text } of cells) line[places.get(column) ?? 0] = text;
    return line;
  });
  return markdownTable([['', ...columns.map(columnName)], ...lines]);
}
