import { expect } from 'vitest';
import { toRelationshipsXml, createZip } from '../../../tests/support/office-files.ts';
import { verifies } from '../../../tests/requirements.ts';
import type { DocumentRequest } from './document-reader.ts';
import { readDocument } from './read-document.ts';

const OFFICE = 'http://schemas.openxmlformats.org';
const STRICT = 'http://purl.oclc.org/ooxml';

const read = async (kind: DocumentRequest['kind'], main: string, parts: Record<string, string>): Promise<string> => {
  const bytes = await createZip({ '_rels/.rels': toRelationshipsXml([['a', 'officeDocument', main]]), ...parts });
  return (await readDocument({ kind, name: 'a file', bytes, limit: 50_000 }, new AbortController().signal)).text;
};

verifies('office/xlsx', 'a workbook with custom namespace prefixes', async () => {
  const text = await read('xlsx', '/xl/workbook.xml', {
    'xl/workbook.xml': `<x:workbook xmlns:x="${OFFICE}/spreadsheetml/2006/main" xmlns:rel="${OFFICE}/officeDocument/2006/relationships"><x:sheets><x:sheet name="Data" sheetId="1" rel:id="R1"/></x:sheets></x:workbook>`,
    'xl/_rels/workbook.xml.rels': `<p:Relationships xmlns:p="${OFFICE}/package/2006/relationships"><p:Relationship Id="R1" Type="${OFFICE}/officeDocument/2006/relationships/worksheet" Target="/xl/a.xml"/></p:Relationships>`,
    'xl/a.xml': `<x:worksheet xmlns:x="${OFFICE}/spreadsheetml/2006/main"><x:sheetData><x:row r="1"><x:c r="A1" t="inlineStr"><x:is><x:t>prefixed</x:t></x:is></x:c><x:c r="B1"><x:v>42</x:v></x:c></x:row></x:sheetData></x:worksheet>`,
  });
  expect(text).toContain('| 1 | prefixed | 42 |');
});

verifies('office/docx', 'a document of the strict edition, without prefixes, and with one inside', async () => {
  const text = await read('docx', 'word/document.xml', {
    'word/document.xml': `<document xmlns="${STRICT}/wordprocessingml/main"><body><p><r><t>plain</t></r></p><n:p xmlns:n="${OFFICE}/wordprocessingml/2006/main" xmlns=""><n:pPr><n:outlineLvl n:val="0"/></n:pPr><n:r><n:t>head</n:t></n:r></n:p><p><r><t>after</t></r></p></body></document>`,
  });
  expect(text).toBe('plain\n\n# head\n\nafter');
});
