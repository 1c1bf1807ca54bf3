import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createCompoundFile,
  createDocx,
  toPdfLines,
  toParagraphXml,
  createPdf,
  createPptx,
  toSheetXml,
  createXlsx,
  createZipListing,
  createZip,
} from '../../../tests/support/office-files.ts';
import { verifies } from '../../../tests/requirements.ts';
import type { DocumentRequest, DocumentText } from './document-reader.ts';
import { getDocumentKind } from './document-kinds.ts';
import { readDocument } from './read-document.ts';
import { formatXlsxNumber } from './xlsx-formats.ts';

const read = (
  kind: DocumentRequest['kind'],
  bytes: Uint8Array<ArrayBuffer>,
  part: Partial<DocumentRequest> = {},
  signal = new AbortController().signal,
): Promise<DocumentText> => readDocument({ kind, name: 'a file', bytes, limit: 50_000, ...part }, signal);
const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

describe('word-processor files', () => {
  verifies('office/docx', 'headings, lists, tables, links, notes, boxes; without what was deleted', async () => {
    const { text, title } = await read('docx', await createDocx());
    expect(title).toBe('The report');
    expect(text).toBe(
      [
        '# Annual report',
        '# Summary',
        'See [our site](https://example.com/a?b=1&c=2) for more[^2].',
        '1. First\n  1. Inner\n2. Second\n- Bullet',
        '| Both \\| columns |  |\n| --- | --- |\n| a<br>b | 2 |',
        'In a control',
        '[Picture: A chart]',
        'In a box',
        '[^2]: Said in May.',
      ].join('\n\n'),
    );
  });

  verifies('office/docx', 'equations as LaTeX, and symbols of forms', async () => {
    const run = (text: string): string => `<m:r><m:t>${text}</m:t></m:r>`;
    const of = (name: string, parts: Record<string, string>): string =>
      `<m:${name}>${Object.entries(parts)
        .map(([part, content]) => `<m:${part}>${content}</m:${part}>`)
        .join('')}</m:${name}>`;
    const half = of('f', { num: run('1'), den: run('2') });
    const sum = `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${run('i=1')}</m:sub><m:sup>${run('n')}</m:sup><m:e>${of('sSub', { e: run('a'), sub: run('i') })}</m:e></m:nary>`;
    const inline = `${of('sSup', { e: run('x'), sup: run('2') })}${run('+')}${half}${of('rad', { deg: '', e: run('z') })}`;
    const matrix = `<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e><m:m><m:mr><m:e>${run('1')}</m:e><m:e>${run('0')}</m:e></m:mr><m:mr><m:e>${run('0')}</m:e><m:e>${run('5%')}</m:e></m:mr></m:m></m:e></m:d>`;
    const { text } = await read(
      'docx',
      await createDocx(
        `<w:p><w:r><w:t>So </w:t></w:r><m:oMath>${inline}</m:oMath></w:p><w:p><m:oMathPara><m:oMath>${sum}${run('=')}${matrix}</m:oMath></m:oMathPara></w:p><w:p><w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r><w:r><w:t> agreed</w:t></w:r></w:p>`,
      ),
    );
    expect(text).toBe(
      [
        'So ${x}^{2}+\\frac{1}{2}\\sqrt{z}$',
        '$$∑_{i=1}^{n}{{a}_{i}}=\\left[\\begin{matrix}1 & 0 \\\\ 0 & 5\\%\\end{matrix}\\right]$$',
        '☑ agreed',
        '[^2]: Said in May.',
      ].join('\n\n'),
    );
  });

  verifies('office/docx', 'headers, footers and comments, with their links; each header once, and no page numbers alone', async () => {
    const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
    const part = (id: string, type: string, xml: string): { id: string; type: string; path: string; xml: string } => ({
      id,
      type,
      path: `word/${id}.xml`,
      xml,
    });
    const commented = '<w:p><w:r><w:t>Agreed</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>';
    const { text } = await read(
      'docx',
      await createDocx(commented, [
        part('h1', 'header', `<w:hdr ${W}>${toParagraphXml('Confidential')}</w:hdr>`),
        part('h2', 'header', `<w:hdr ${W}>${toParagraphXml('Confidential')}</w:hdr>`),
        part('f1', 'footer', `<w:ftr ${W}>${toParagraphXml('3')}</w:ftr>`),
        part('f2', 'footer', `<w:ftr ${W}>${toParagraphXml('Draft of May')}</w:ftr>`),
        part(
          'c1',
          'comments',
          `<w:comments ${W}><w:comment w:id="0" w:author="Ann">${toParagraphXml('By whom?')}</w:comment></w:comments>`,
        ),
      ]),
    );
    expect(text).toBe(
      ['Header: Confidential', 'Agreed[^c0]', 'Footer: Draft of May', '[^2]: Said in May.', '[^c0]: Comment by Ann: By whom?'].join('\n\n'),
    );
  });

  verifies('office/bounded', 'a long one goes on where it was cut', async () => {
    const file = await createDocx(Array.from({ length: 500 }, (_, index) => toParagraphXml(`Paragraph ${index}.`)).join(''));
    const first = await read('docx', file, { limit: 1000 });
    expect(first.text.length).toBeLessThanOrEqual(1000);
    const rest = await read('docx', file, { limit: 1_000_000, ...first.next });
    expect(`${first.text}${rest.text}`).toBe((await read('docx', file, { limit: 1_000_000 })).text);
    expect(rest.next).toBeUndefined();
  });
});

describe('spreadsheets', () => {
  verifies('office/xlsx', 'sheets as tables, dates and formats as shown, the values of formulas', async () => {
    const { text, sheets } = await read('xlsx', await createXlsx());
    expect(sheets).toEqual(['Sales & co', 'Empty', 'Secret (hidden)']);
    expect(text).toBe(
      [
        '## Sales & co',
        [
          '|  | A | B | C | E |',
          '| --- | --- | --- | --- | --- |',
          '| 1 | Date | Amount | Paid |  |',
          '| 2 | 2023-03-15 | 1,234.50 EUR | TRUE |  |',
          '| 3 | 2023-03-15 18:00 | 2469 | #DIV/0! |  |',
          '| 4 | 25.60% | =NOW() |  | Datex |',
        ].join('\n'),
        '## Empty',
        '(empty)',
      ].join('\n\n'),
    );
    expect((await read('xlsx', await createXlsx(), { sheet: 'secret' })).text).toContain('| 1 | 7 |');
    expect((await read('xlsx', await createXlsx(), { sheet: '1', range: 'B2:B3' })).text).toBe(
      '## Sales & co\n\n|  | B |\n| --- | --- |\n| 2 | 1,234.50 EUR |\n| 3 | 2469 |',
    );
    await expect(read('xlsx', await createXlsx(), { sheet: 'None' })).rejects.toThrow('Sheets: Sales & co, Empty, Secret');
    await expect(read('xlsx', await createXlsx(), { range: 'what' })).rejects.toThrow('Invalid range');
  });

  verifies('office/bounded', 'a long sheet goes on at the next row, then with the next sheet', async () => {
    const rows = Array.from({ length: 300 }, (_, index) => `<c r="A${index + 1}"><v>${index + 1}</v></c>`);
    const file = await createXlsx({ Long: { xml: toSheetXml(rows) }, After: { xml: toSheetXml(['<c r="A1"><v>5</v></c>']) } });
    const seen: string[] = [];
    let part: Partial<DocumentRequest> = {};
    for (let calls = 0; calls < 100; calls++) {
      const { text, next } = await read('xlsx', file, { limit: 400, ...part });
      seen.push(...[...text.matchAll(/^\| \d+ \| (\d+) \|$/gm)].map(([, value]) => value ?? ''));
      if (!next) break;
      part = next;
    }
    expect(seen).toEqual(rows.map((_, index) => String(index + 1)));
    expect((await read('xlsx', file, { limit: 50_000 })).text).toContain('## After');
  });

  verifies('office/xlsx', 'spans of hours do not depend on the first day of the calendar', async () => {
    expect(formatXlsxNumber(1.5, '[h]:mm:ss', true)).toBe('36:00:00');
    expect(formatXlsxNumber(1.5, '[h]:mm:ss', false)).toBe('36:00:00');
    const sheets = { Times: { xml: toSheetXml(['<c r="A1" s="5"><v>1.5</v></c><c r="B1" s="1"><v>1</v></c>']) } };
    expect((await read('xlsx', await createXlsx(sheets, { date1904: true }))).text).toContain('| 1 | 36:00:00 | 1904-01-02 |');
    expect(formatXlsxNumber(45678.75, 'm/d/yy h:mm', true)).toBe('2029-01-22 18:00');
    const example = new Uint8Array(readFileSync(join(import.meta.dirname, 'examples/date1904.xlsx')));
    expect((await read('xlsx', example)).text).toContain('36:00:00');
  });
});

describe('presentations', () => {
  verifies('office/pptx', 'slides in their order, with tables, notes and what is hidden', async () => {
    const { text, part } = await read('pptx', await createPptx());
    expect(part).toBe('slides 1-2 of 2');
    expect(text).toBe(
      [
        '## Slide 1: Plan',
        'Points\n- deeper',
        'Grouped',
        '| Q1 | Q2 |\n| --- | --- |\n| 1 | 2 |',
        '[Picture: A map]',
        'Notes: Say hello',
        '## Slide 2 (hidden): The end',
      ].join('\n\n'),
    );
    expect((await read('pptx', await createPptx(), { pages: '2' })).text).toBe('## Slide 2 (hidden): The end');
    await expect(read('pptx', await createPptx(), { pages: '9' })).rejects.toThrow('The last slide is 2');
  });

  verifies('office/bounded', 'a slide that is too long by itself goes on where it was cut', async () => {
    const file = await createPptx();
    const parts: string[] = [];
    let part: Partial<DocumentRequest> | undefined = {};
    while (part && parts.length < 20) {
      const { text, next }: DocumentText = await read('pptx', file, { limit: 50, ...part });
      expect(text.length).toBeLessThanOrEqual(50);
      parts.push(text);
      part = next;
    }
    const words = (text: string): string => text.replace(/\s/g, '');
    expect(words(parts.join(''))).toBe(words((await read('pptx', file)).text));
  });
});

describe('PDF', () => {
  verifies('office/pdf', 'page by page, columns one after the other, lines that are drawn anyhow from the top', async () => {
    const columns = [
      { text: 'Left one', x: 50, y: 700 },
      { text: 'left two', x: 50, y: 688 },
      { text: 'Right one', x: 300, y: 700 },
      { text: 'right two', x: 300, y: 688 },
    ];
    const anyhow = [
      { text: 'third', x: 50, y: 660 },
      { text: 'first', x: 50, y: 700 },
      { text: 'fourth', x: 50, y: 640 },
      { text: 'second', x: 50, y: 680 },
    ];
    const { text, title, part, notes } = await read('pdf', await createPdf([columns, anyhow, []], { title: 'Notes' }));
    expect({ title, part, notes }).toEqual({
      title: 'Notes',
      part: 'pages 1-3 of 3',
      notes: ['Pages without text (images such as scans): 3'],
    });
    expect(text.replace(/\n+/g, '\n')).toBe(
      '## Page 1\nLeft one\nleft two\nRight one\nright two\n## Page 2\nfirst\nsecond\nthird\nfourth\n## Page 3\n(no text)',
    );
  });

  verifies(
    'office/pdf',
    'tables as Markdown, with cells that go on below; columns of text that are drawn line by line one after the other',
    async () => {
      const row = (y: number, ...cells: [x: number, text: string][]) => cells.map(([x, text]) => ({ text, x, y }));
      const table = [
        ...row(740, [50, 'Sales of the year']),
        ...row(710, [50, 'Item'], [200, 'Where'], [400, 'EUR']),
        ...row(690, [50, 'Apples'], [200, 'All of the'], [404, '7.5']),
        ...row(677, [200, 'northern | shops']),
        ...row(655, [50, 'Pears'], [200, 'South'], [390, '1,204.0']),
        ...row(620, [50, 'Said in May.']),
      ];
      const said = (what: string): string => `${what} is said here in many words`;
      const prose = ['one', 'two', 'three', 'four'].flatMap((nth, at) =>
        row(700 - 14 * at, [40, said(`Left ${nth}`)], [320, said(`Right ${nth}`)]),
      );
      const pairs = [...row(700, [50, 'Name'], [200, 'Ann']), ...row(686, [50, 'Born'], [200, '1970'])];
      const { text } = await read('pdf', await createPdf([table, prose, pairs]));
      expect(text).toBe(
        [
          '## Page 1',
          'Sales of the year',
          '| Item | Where | EUR |\n| --- | --- | --- |\n| Apples | All of the northern \\| shops | 7.5 |\n| Pears | South | 1,204.0 |',
          'Said in May.',
          '## Page 2',
          ['one', 'two', 'three', 'four'].map((nth) => said(`Left ${nth}`)).join('\n'),
          ['one', 'two', 'three', 'four'].map((nth) => said(`Right ${nth}`)).join('\n'),
          '## Page 3',
          'Name\tAnn\nBorn\t1970',
        ].join('\n\n'),
      );
    },
  );

  verifies('office/bounded', 'the pages that are asked for, as many as there is room for', async () => {
    const file = await createPdf(Array.from({ length: 6 }, (_, index) => toPdfLines(index + 1, 20)));
    const first = await read('pdf', file, { pages: '2-', limit: 3000 });
    expect(first).toMatchObject({ part: 'pages 2-3 of 6', next: { pages: '4-6' } });
    expect((await read('pdf', file, { pages: '5', limit: 500 })).next).toEqual({ pages: '5', offset: 500 });
    expect((await read('pdf', file, { pages: '6, 1' })).text).toMatch(/^## Page 6[^]*## Page 1\n/);
    await expect(read('pdf', file, { pages: '7-9' })).rejects.toThrow('The last page is 6');
    await expect(read('pdf', file, { pages: 'all' })).rejects.toThrow('Use a form such as');
  });

  it('stops when it is told to', async () => {
    const file = await createPdf(Array.from({ length: 3 }, (_, index) => toPdfLines(index + 1, 5)));
    await expect(read('pdf', file, {}, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});

describe('unreadable files', () => {
  verifies('office/refuses', 'encrypted, of the old format, cut off, empty, or something else: a sentence each', async () => {
    const whole = await createDocx();
    const scan = await createPdf([[], []]);
    const cases: [DocumentRequest['kind'], Uint8Array<ArrayBuffer>, RegExp][] = [
      ['pdf', await createPdf([toPdfLines(1, 3)], { password: 'secret' }), /protected by a password/],
      ['pdf', utf8('no PDF at all'), /not a PDF, damaged or incomplete/],
      ['pdf', new Uint8Array(0), /not a PDF, damaged or incomplete/],
      ['pdf', scan, /no text on any page.*scan/],
      ['docx', createCompoundFile(), /protected by a password/],
      ['xlsx', createCompoundFile(), /protected by a password/],
      ['docx', createCompoundFile('WordDocument'), /old Office format/],
      ['docx', whole.slice(0, whole.length - 300), /damaged or incomplete/],
      ['docx', new Uint8Array(0), /damaged or incomplete/],
      ['pptx', whole, /not a file of this type/],
      ['xlsx', await createZip({ 'a.txt': 'x' }), /not a file of this type/],
      [
        'xlsx',
        await createZip({ 'xl/workbook.xml': '<workbook/>' }, { password: 'x' }),
        /protected by a password|no file of this kind|damaged/,
      ],
      ['text', new Uint8Array([1, 0, 2, 0]), /is not a text file/],
    ];
    for (const [kind, bytes, sentence] of cases) {
      await expect(read(kind, bytes), `${kind} ${String(sentence)}`).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringMatching(sentence),
      });
    }
  });

  verifies('office/bombs', 'what unpacks to far more, has entities of its own, or is nested absurdly', async () => {
    const zeros = '\0'.repeat(140 * 1024 * 1024);
    await expect(read('xlsx', await createXlsx({ A: { xml: zeros } }))).rejects.toThrow('far more data than expected');
    await expect(read('docx', await createDocx(zeros.slice(0, 33 * 1024 * 1024)))).rejects.toThrow('far more data than expected');
    const laughs = `<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><w:document><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>`;
    await expect(read('docx', await createZip({ 'word/document.xml': laughs }))).rejects.toThrow('document type definition');
    await expect(read('docx', await createDocx('<w:p>'.repeat(5000)))).rejects.toThrow('nested too deeply');
    await expect(read('html', utf8('<div>'.repeat(5000)))).rejects.toThrow('nested too deeply');
    const many = createZipListing(10_001);
    await expect(read('pptx', many)).rejects.toThrow('more than 10000 parts');
  });
});

describe('text and pages', () => {
  verifies('office/text', 'in the usual encodings, in parts', async () => {
    expect((await read('text', utf8('\ufeffa\r\nb'))).text).toBe('a\nb');
    expect((await read('text', new Uint8Array([0xff, 0xfe, 0x61, 0, 0xe9, 0]))).text).toBe('aé');
    expect((await read('text', new Uint8Array([0x63, 0x61, 0x66, 0xe9]))).text).toBe('café');
    const first = await read('text', utf8('one\ntwo\nthree\n'), { limit: 9 });
    expect(first).toEqual({ text: 'one\ntwo\n', part: 'characters 1–8 of 14', next: { offset: 8 } });
    expect((await read('text', utf8('one\ntwo\nthree\n'), { limit: 9, ...first.next })).text).toBe('three\n');
  });

  verifies('web/readable', 'a page as Markdown, without menus, scripts and what is hidden', async () => {
    const filler = 'Long enough to be the main part. '.repeat(10);
    const page = `<!doctype html><html><head><title> A &amp; B </title><script>var x = "<p>no</p>"</script></head><body><nav><a href="/">Home</a></nav><main>
      <h1>Title <em>here</em></h1><p>${filler}</p><p>With a <a href="../b?x=1">link</a>, a <a href="javascript:alert(1)">bad one</a> and <code>code</code>.<br>Next</p>
      <ul><li>One<ul><li>Sub</li></ul></li><li>Two</li></ul><ol start="3"><li>Three</li><li>Four</li></ol>
      <pre><code>  a = 1\n  b = 2</code></pre><blockquote><p>Said</p></blockquote>
      <table><tr><th>Name</th><th>N|um</th></tr><tr><td>a<br>b</td><td>1</td></tr></table>
      <p hidden>secret</p><div style="display:none">gone</div><img alt="A cat" src="x"></main><footer>foot</footer></body></html>`;
    const { text, title } = await read('html', utf8(page), { base: 'https://x.test/a/' });
    expect(title).toBe('A & B');
    expect(text).toBe(
      [
        '# Title here',
        filler.trim(),
        'With a [link](https://x.test/b?x=1), a bad one and `code`.\nNext',
        '- One\n  - Sub\n- Two',
        '3. Three\n4. Four',
        '```\n  a = 1\n  b = 2\n```',
        '> Said',
        '| Name | N\\|um |\n| --- | --- |\n| a<br>b | 1 |',
        '[Picture: A cat]',
      ].join('\n\n'),
    );
  });
});

it.each([
  ['a.PDF', 'application/octet-stream', 'pdf'],
  ['a', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['a.docx', '', 'docx'],
  ['a.csv', 'application/vnd.ms-excel', 'text'],
  ['a.bin', 'text/html; charset=utf-8', 'html'],
  ['a.bin', 'application/octet-stream', undefined],
])('%s of type %s is %s', (name, type, kind) => expect(getDocumentKind(name, type)).toBe(kind));
