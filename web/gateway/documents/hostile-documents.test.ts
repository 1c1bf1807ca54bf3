import { describe, expect } from 'vitest';
import { createDocx, toParagraphXml, createXlsx } from '../../../tests/support/office-files.ts';
import { verifies } from '../../../tests/requirements.ts';
import { toColumnName } from './cell-range.ts';
import type { DocumentRequest, DocumentText } from './document-reader.ts';
import { formatPage } from './pdf-text.ts';
import { readDocument } from './read-document.ts';

const LIMIT = 50_000;
const read = (kind: DocumentRequest['kind'], bytes: Uint8Array<ArrayBuffer>): Promise<DocumentText> =>
  readDocument({ kind, name: 'a file', bytes, limit: LIMIT }, new AbortController().signal);
const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const cell = (inner: string): string => `<w:tc>${inner}</w:tc>`;
const row = (...cells: string[]): string => `<w:tr>${cells.join('')}</w:tr>`;

describe('files crafted to use up time or memory', () => {
  verifies('office/bombs', 'tables within tables take no more text than they have', async () => {
    let word = toParagraphXml('a|b');
    // Each level would escape the marks of the one inside it, doubling them.
    for (let level = 0; level < 30; level++) word = `<w:tbl>${row(cell(word), cell(toParagraphXml('x')))}</w:tbl>`;
    expect((await read('docx', await createDocx(word))).text.length).toBeLessThan(1000);
    let page = 'a|b';
    for (let level = 0; level < 18; level++) page = `<table><tr><td>${page}<td>x<tr><td>1<td>2</table>`;
    expect((await read('html', utf8(page))).text.length).toBeLessThan(1000);
  });

  verifies('office/bombs', 'a table whose one row is far longer than the others is not filled up', async () => {
    const page = `<table>${'<tr><td>a'.repeat(20_000)}<tr>${'<td>a'.repeat(20_000)}</table>`;
    const { text } = await read('html', utf8(page));
    expect(text.startsWith('| a |')).toBe(true);
    const word = `<w:tbl>${row(cell(toParagraphXml('a'))).repeat(3000)}${row(cell('').repeat(3000))}</w:tbl>`;
    expect((await read('docx', await createDocx(word))).text.startsWith('| a |')).toBe(true);
  });

  verifies('office/bombs', 'long runs of spaces are read in a time that grows with their length', async () => {
    const spaces = ' '.repeat(100_000);
    expect((await read('html', utf8(`<pre>a${spaces}b</pre>`))).text.startsWith('```\na  ')).toBe(true);
    expect((await read('html', utf8(`<table><tr><td><pre>a${spaces}b</pre><td>x<tr><td>1<td>2</table>`))).text).toContain('| ```<br>a  ');
    const word = `<w:tbl>${row(cell(toParagraphXml(`a${spaces}b`)))}</w:tbl>`;
    expect((await read('docx', await createDocx(word))).text.startsWith('| a  ')).toBe(true);
  });

  verifies('office/bombs', 'a part of more elements than memory holds is refused', async () => {
    await expect(read('docx', await createDocx('<a/>'.repeat(3_000_000)))).rejects.toThrow('far more data than expected');
  });

  verifies('office/bombs', 'a page that draws without end is read so far', async () => {
    const drawn = `BT /F 10 Tf 10 10 Td ${'(a)Tj 5 50 Td (b)Tj -5 -50 Td '.repeat(40_000)}ET`;
    const objects = [
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Kids[3 0 R]/Count 1>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<</Font<</F 5 0 R>>>>/Contents 4 0 R>>',
      `<</Length ${drawn.length}>>stream\n${drawn}\nendstream`,
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
    const file = utf8(`%PDF-1.5\n${objects.join('')}trailer<</Root 1 0 R>>\n%%EOF`);
    const { text } = await readDocument({ kind: 'pdf', name: 'a file', bytes: file, limit: 1_000_000 }, new AbortController().signal);
    expect(text).toContain('the rest of this page is omitted');
    expect(text.length).toBeLessThan(60_000);
    // A line of this many pieces must be joined in linear time.
    const pieces = Array.from({ length: 200_000 }, (_, at) => ({
      text: 'a',
      x: at * 100,
      y: 0,
      width: 5,
      height: 10,
      direction: 1,
      endsLine: false,
    }));
    expect(formatPage(pieces)).toHaveLength(399_999);
  });

  verifies('office/bounded', 'cells that lie far apart make no table beyond the limit, and none is lost', async () => {
    const rows = Array.from(
      { length: 2000 },
      (_, at) => `<row r="${at + 1}"><c r="${toColumnName(1 + (at % 400))}${at + 1}"><v>${at}</v></c></row>`,
    );
    const file = await createXlsx({ A: { xml: `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>` } });
    const found: number[] = [];
    let next: DocumentText['next'] = { sheet: 'A' };
    while (next) {
      const part: DocumentText = await readDocument(
        { kind: 'xlsx', name: 'a file', bytes: file, limit: LIMIT, ...next },
        new AbortController().signal,
      );
      expect(part.text.length).toBeLessThan(LIMIT * 1.2);
      for (const line of part.text.split('\n')) {
        const [number, ...cells] = line
          .split('|')
          .map((text) => text.trim())
          .slice(1, -1);
        if (/^\d+$/.test(number ?? '')) found.push(...cells.filter((text) => text !== '').map(Number));
      }
      next = part.next;
    }
    expect(found).toEqual(rows.map((_, at) => at));
  });
});
