import { RpcError } from '#shared/rpc/rpc-error.ts';
import { parseCellRange, type CellRange, toColumnName } from './cell-range.ts';
import { type DecodedRequest, type DocumentText, createUnreadableError } from './document-reader.ts';
import { OfficePackage } from './office-package.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { readSharedStrings, type SheetCells, readSheetCells } from './xlsx-cells.ts';
import { XlsxFormats } from './xlsx-formats.ts';
import { findElement, getChildren } from './xml-tree.ts';

interface WorkbookSheet {
  name: string;
  path: string;
  hidden: boolean;
}

/**
 * Reads a workbook's sheets as Markdown tables, with column letters and row numbers. Formulas show their stored values. Reads all visible
 * sheets, or the requested one.
 */
export async function readXlsx(request: DecodedRequest, signal: AbortSignal): Promise<DocumentText> {
  const { limit } = request;
  const range = parseCellRange(request.range);
  const { sheets, readTable } = await openWorkbook(request, signal);
  const selected = request.sheet === undefined ? sheets.filter(({ hidden }) => !hidden) : [findSheet(sheets, request.sheet)];
  let text = '';
  const result: DocumentText = { text, sheets: sheets.map((sheet) => (sheet.hidden ? `${sheet.name} (hidden)` : sheet.name)) };
  for (const [index, sheet] of selected.entries()) {
    const { table, next: nextRow } = await readTable(sheet, range, limit - text.length);
    text += `${text === '' ? '' : '\n\n'}## ${sheet.name}\n\n${table}`;
    const nextSheet = selected[index + 1];
    if (nextRow !== undefined) result.next = { sheet: sheet.name, range: formatRangeFrom(nextRow, range) };
    else if (text.length >= limit && nextSheet) result.next = { sheet: nextSheet.name };
    if (result.next) {
      result.part = nextRow === undefined ? 'the first sheets' : `up to row ${nextRow - 1} of sheet "${sheet.name}"`;
      break;
    }
  }
  return { ...result, text };
}

interface Workbook {
  sheets: WorkbookSheet[];
  /** A sheet's cells as a Markdown table of at most `limit` characters, and the row that comes next if there are more. */
  readTable(sheet: WorkbookSheet, range: CellRange, limit: number): Promise<{ table: string; next?: number }>;
}

export async function openWorkbook({ name, bytes }: Pick<DecodedRequest, 'name' | 'bytes'>, signal: AbortSignal): Promise<Workbook> {
  const parts = await OfficePackage.open(name, bytes, signal);
  const { path: main, root } = await parts.readMain('xl/workbook.xml', 'workbook');
  const relations = await parts.readRelations(main);
  const sheets = getChildren(findElement(root, 'sheets'), 'sheet').flatMap(({ attributes }): WorkbookSheet[] => {
    const target = relations.get(attributes['r:id'] ?? '');
    // Chart sheets have no cells.
    if (target?.type !== 'worksheet') return [];
    return [{ name: attributes['name'] ?? '', path: target.target, hidden: (attributes['state'] ?? 'visible') !== 'visible' }];
  });
  if (sheets.length === 0) throw createUnreadableError(name, 'has no worksheets');
  const findRelated = (type: string): string => [...relations.values()].find((relation) => relation.type === type)?.target ?? '';
  const date1904 = /^(1|true)$/.test(findElement(root, 'workbookPr')?.attributes['date1904'] ?? '');
  const formats = new XlsxFormats(await parts.readTree(findRelated('styles')), date1904);
  const strings = await readSharedStrings(parts, findRelated('sharedStrings'));
  return {
    sheets,
    async readTable(sheet, range, limit) {
      const cells = await readSheetCells(parts, sheet.path, { range, strings, formats, limit });
      return { table: formatTable(cells), ...(cells.next === undefined ? {} : { next: cells.next }) };
    },
  };
}

function findSheet(sheets: readonly WorkbookSheet[], sheetName: string): WorkbookSheet {
  const found =
    sheets.find(({ name }) => name === sheetName) ??
    sheets.find(({ name }) => name.toLowerCase() === sheetName.trim().toLowerCase()) ??
    sheets[Number(sheetName) - 1];
  if (!found)
    throw new RpcError('INVALID_PARAMS', `No sheet "${sheetName.slice(0, 100)}". Sheets: ${sheets.map(({ name }) => name).join(', ')}.`);
  return found;
}

function formatRangeFrom(row: number, { bottom, left, right }: CellRange): string {
  return `${toColumnName(left)}${row}:${toColumnName(right)}${bottom}`;
}

function formatTable({ rows }: SheetCells): string {
  if (rows.length === 0) return '(empty)';
  const columns = [...new Set(rows.flatMap(({ cells }) => cells.map(({ column }) => column)))].sort((a, b) => a - b);
  const columnPositions = new Map(columns.map((column, position) => [column, position + 1]));
  const lines = rows.map(({ row, cells }) => {
    const line = [String(row), ...columns.map(() => '')];
    for (const { column, text } of cells) line[columnPositions.get(column) ?? 0] = text;
    return line;
  });
  return toMarkdownTable([['', ...columns.map(toColumnName)], ...lines]);
}
