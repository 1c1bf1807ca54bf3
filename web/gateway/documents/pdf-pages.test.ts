import { degrees, PDFDocument, PDFName, PDFString, type PDFPage, StandardFonts } from '@cantoo/pdf-lib';
import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { NoFilterFactory, WorkerCanvasFactory } from './ocr/worker-canvas.ts';
import type { DocumentRequest, DocumentText } from './document-reader.ts';
import type { PageOcr } from './ocr.ts';
import { formatAnnotations } from './pdf-annotations.ts';
import { type PdfPiece, formatPage, toPosition } from './pdf-text.ts';
import { readDocument } from './read-document.ts';

const neverAborted = new AbortController().signal;

async function createPdf(make: (document: PDFDocument) => void | Promise<void>): Promise<Uint8Array<ArrayBuffer>> {
  const document = await PDFDocument.create();
  await make(document);
  return new Uint8Array(await document.save());
}

const read = (bytes: Uint8Array<ArrayBuffer>, part: Partial<DocumentRequest> = {}, ocr?: PageOcr): Promise<DocumentText> =>
  readDocument({ kind: 'pdf', name: 'a.pdf', bytes, limit: 50_000, ...part }, neverAborted, ocr);

function addNote(page: PDFPage, entries: Record<string, string>): void {
  const { context } = page.doc;
  const about = Object.fromEntries(
    Object.entries(entries).map(([name, value]) => [name, name === 'Subtype' ? PDFName.of(value) : PDFString.of(value)]),
  );
  page.node.addAnnot(context.register(context.obj({ Type: 'Annot', Rect: [10, 10, 100, 40], DA: PDFString.of('/Helv 9 Tf'), ...about })));
}

verifies('office/annotations', 'filled fields and notes of a page without any other text', async () => {
  const bytes = await createPdf((document) => {
    const page = document.addPage([400, 400]);
    const form = document.getForm();
    const name = form.createTextField('person.name');
    name.setText('Ada Lovelace');
    name.addToPage(page, { x: 10, y: 300 });
    form.createTextField('empty').addToPage(page, { x: 10, y: 270 });
    const agreed = form.createCheckBox('agreed');
    agreed.addToPage(page, { x: 10, y: 240 });
    agreed.check();
    form.createCheckBox('refused').addToPage(page, { x: 60, y: 240 });
    const color = form.createDropdown('color');
    color.addOptions(['Red', 'Blue']);
    color.select('Blue');
    color.addToPage(page, { x: 10, y: 200 });
    addNote(page, { Subtype: 'FreeText', Contents: 'Typed onto the page' });
    addNote(page, { Subtype: 'Text', T: 'Bob', Contents: 'Check this\nagain' });
  });
  expect((await read(bytes)).text).toBe(
    [
      '## Page 1',
      'Form fields:\n- person.name: Ada Lovelace\n- agreed: ☑\n- color: Blue',
      'Notes:\n- Typed onto the page\n- Bob: Check this / again',
    ].join('\n\n'),
  );
});

verifies('office/annotations', 'nothing of passwords, hidden notes, and what is no text', () => {
  expect(
    formatAnnotations([
      { subtype: 'Widget', fieldType: 'Tx', fieldName: 'pin', fieldValue: '1234', password: true },
      { subtype: 'Text', contentsObj: { str: 'hidden' }, annotationFlags: 2 },
      { subtype: 'Link', contentsObj: { str: 'a link' } },
      { subtype: 'Widget', fieldType: 'Btn', radioButton: true, fieldName: 'size', fieldValue: 'L', buttonValue: 'M' },
      { subtype: 'Widget', fieldType: 'Btn', radioButton: true, fieldName: 'size', fieldValue: 'L', buttonValue: 'L' },
      'broken',
    ]),
  ).toBe('Form fields:\n- size: L');
});

verifies('office/turned', 'upside down, from bottom to top, and beside each other', async () => {
  const bytes = await createPdf(async (document) => {
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.addPage([400, 400]);
    const words = ['This', 'agreement', 'states'];
    const style = { font, size: 12 };
    for (const [index, word] of words.entries()) page.drawText(word, { ...style, x: 350 - index * 80, y: 100, rotate: degrees(180) });
    for (const [index, word] of words.entries()) page.drawText(word, { ...style, x: 350 - index * 80, y: 116, rotate: degrees(180) });
    page.drawText('Level line', { ...style, x: 50, y: 300 });
    page.drawText('Upwards one', { ...style, x: 30, y: 50, rotate: degrees(90) });
    page.drawText('Upwards two', { ...style, x: 46, y: 50, rotate: degrees(90) });
  });
  expect((await read(bytes)).text.replaceAll('\t', ' ')).toBe(
    ['## Page 1', 'This agreement states\nThis agreement states', 'Level line', 'Upwards one\nUpwards two'].join('\n\n'),
  );
});

verifies('office/turned', 'lines that run from right to left, with numbers among them', () => {
  const piece = (text: string, x: number, width: number): PdfPiece => ({
    text,
    ...toPosition([10, 0, 0, 10, x, 700]),
    width,
    height: 10,
    endsLine: false,
  });
  const line = [piece('שלום', 160, 40), piece('2026', 130, 26), piece('עולם', 80, 46)];
  for (const drawn of [line, line.toReversed()]) expect(formatPage(drawn)).toBe('שלום 2026 עולם');
  const mirrored = ['Mirrored', 'words'].map((text, index) => ({
    text,
    ...toPosition([-10, 0, 0, 10, 300 - index * 60, 700]),
    width: 55,
    height: 10,
    endsLine: false,
  }));
  expect(formatPage(mirrored)).toBe('Mirrored words');
});

verifies('office/ocr', 'pages without text alone, a bounded number at a time; what hinders it is said', async () => {
  const scans = await createPdf(async (document) => {
    const font = await document.embedFont(StandardFonts.Helvetica);
    document.addPage([100, 100]).drawText('Typed', { x: 10, y: 50, font, size: 10 });
    for (let page = 0; page < 22; page++) document.addPage([100, 100]);
  });
  const ocr = { dataUrl: 'https://data.test' };
  const asked: number[] = [];
  const recognizer = (answer: (page: number) => string): PageOcr => ({
    canvas: { CanvasFactory: WorkerCanvasFactory, FilterFactory: NoFilterFactory },
    read: async ({ pageNumber }) => (asked.push(pageNumber), answer(pageNumber)),
    readPicture: async () => '',
  });
  const first = await read(
    scans,
    { ocr },
    recognizer((page) => `words ${page}`),
  );
  expect(first.text).toContain('## Page 1\n\nTyped\n\n## Page 2\n\n[Text read from the picture of page 2]\n\nwords 2');
  expect(asked).toEqual(Array.from({ length: 20 }, (_, index) => index + 2));
  expect(first).toMatchObject({
    next: { pages: '22-23' },
    notes: ['Read from pictures by text recognition, which makes mistakes: pages 2-21'],
  });
  const failing = recognizer(() => {
    throw new Error('No language data.');
  });
  asked.length = 0;
  expect((await read(scans, { ocr, pages: '1-4' }, failing)).notes).toEqual([
    'Pages without text (images such as scans): 2-4',
    'No language data.',
  ]);
  expect(asked).toEqual([2]);
  await expect(read(scans, { ocr, pages: '2-4' }, failing)).rejects.toThrow('only images such as scans. No language data.');
  await expect(
    read(
      scans,
      { pages: '2-4' },
      recognizer(() => 'never'),
    ),
  ).rejects.toThrow('only images such as scans');
});

verifies('office/pdf', 'a word over the page keeps the lines under it apart, and text drawn twice comes once', async () => {
  const bytes = await createPdf(async (document) => {
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.addPage([400, 400]);
    page.drawText('DRAFT', { x: 20, y: 180, size: 120, font });
    for (const [index, line] of ['First line', 'Second line', 'Third line'].entries())
      for (const shift of [0, 0.3]) page.drawText(line, { x: 30 + shift, y: 220 - 14 * index, size: 10, font });
  });
  expect((await read(bytes)).text).toBe('## Page 1\n\nFirst line\nSecond line\nThird line\nDRAFT');
});
