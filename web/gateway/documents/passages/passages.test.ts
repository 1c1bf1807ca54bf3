import { PDFDocument, PDFHexString, PDFName } from '@cantoo/pdf-lib';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createDocx, createPdf, createPptx, createXlsx, createZip, toSheetXml } from '../../../../tests/support/office-files.ts';
import type { DocumentPassages, PassageRequest } from '../document-reader.ts';
import { inlineDocumentReader } from '../inline-document-reader.ts';
import type { OcrSettings, PageOcr } from '../ocr.ts';
import { readPassages } from './read-passages.ts';
import { PASSAGE_CHARS } from './passage-builder.ts';

const open = new AbortController().signal;
const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const split = (name: string, content: string | Uint8Array<ArrayBuffer>, more: Partial<PassageRequest> = {}): Promise<DocumentPassages> =>
  inlineDocumentReader.readPassages({ name, bytes: typeof content === 'string' ? encode(content) : content, ...more }, open);

/** Sentences of a paragraph with about `chars` characters. */
const writeParagraph = (topic: string, chars: number): string => {
  let text = '';
  for (let number = 1; text.length < chars; number++)
    text += `${text === '' ? '' : ' '}Sentence ${number} is about the ${topic}, as Dr. Ada said.`;
  return text;
};

/** Checks what holds for all documents: texts are at their places, in order, without overlap, of the right length, and complete. */
function expectConsistent({ text, passages }: DocumentPassages): void {
  let last = 0;
  for (const { text: passage, locator } of passages) {
    expect(passage.endsWith(text.slice(locator.start, locator.end))).toBe(true);
    expect(locator.start).toBeGreaterThanOrEqual(last);
    expect(locator.end - locator.start).toBeLessThanOrEqual(PASSAGE_CHARS.max + 200);
    expect(text.slice(last, locator.start).trim()).toBe('');
    last = locator.end;
  }
  expect(text.slice(last).trim()).toBe('');
}

describe('passages of a document', () => {
  verifies('sources/passages', 'follow the headings of Markdown, with lines', async () => {
    const markdown = [
      '---',
      'title: "The manual"',
      '---',
      '',
      '# Setup',
      '',
      'Short.',
      '',
      '## Linux *only*',
      '',
      writeParagraph('kernel', 700),
      '',
      'Windows',
      '-------',
      '',
      writeParagraph('registry', 2500),
      '',
      '```sh',
      '# not a heading',
      '```',
    ].join('\n');
    const result = await split('manual.md', markdown);
    expectConsistent(result);
    expect(result).toMatchObject({ kind: 'markdown', title: 'The manual', text: markdown });
    const places = result.passages.map(({ locator: { headings, line } }) => ({ headings, line }));
    expect(places[0]).toEqual({ headings: undefined, line: 1 });
    expect(places[1]).toEqual({ headings: ['Setup'], line: 5 });
    expect(places.at(-1)?.headings).toEqual(['Setup', 'Windows']);
    // A short section continues in its subsection, and no sentence is cut.
    expect(result.passages[1]?.text).toContain('Short.\n\n## Linux');
    for (const { text } of result.passages.slice(2, -1)) expect(text).toMatch(/said\.$/);
    const lines = markdown.split('\n');
    for (const { text, locator } of result.passages) expect(lines[(locator.line ?? 0) - 1]).toContain(text.split('\n', 1)[0]?.slice(0, 20));
  });

  verifies('sources/passages', 'repeat the header of a long table', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => `| item ${index} | ${index * 7} |`);
    const result = await split('prices.md', ['# Prices', '', '| Name | Price |', '| --- | --- |', ...rows].join('\n'));
    expectConsistent(result);
    expect(result.passages.length).toBeGreaterThan(1);
    for (const { text } of result.passages) expect(text).toContain('| Name | Price |\n| --- | --- |\n| item');
  });

  verifies('sources/passages', 'lie on the pages of a PDF', async () => {
    const toLines = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ text: `Line ${from + index} of the report ends here.`, x: 50, y: 780 - index * 14 }));
    const pdf = await createPdf([
      [...toLines(1, 40), { text: 'The last sentence begins on this page and', x: 50, y: 200 }],
      [
        { text: 'continues on the next one. Another follows.', x: 50, y: 780 },
        ...toLines(100, 3).map((line) => ({ ...line, y: line.y - 100 })),
      ],
    ]);
    const seen: number[] = [];
    const result = await inlineDocumentReader.readPassages({ name: 'a.pdf', bytes: pdf }, open, ({ done }) => seen.push(done));
    expectConsistent(result);
    expect(seen).toEqual([1, 2]);
    expect(result.pageCount).toBe(2);
    const pages = result.passages.map(({ locator }) => locator.page);
    expect(pages).toEqual([...pages].sort());
    const first = result.passages.findLast(({ locator }) => locator.page === 1);
    expect(first?.text).toMatch(/begins on this page and\ncontinues on the next one\.$/);
    expect(result.passages.find(({ locator }) => locator.page === 2)?.text).toMatch(/^Another follows/);
  });

  verifies('sources/passages', 'are below the headings of a PDF’s outline', async () => {
    const document = await PDFDocument.load(
      await createPdf([
        [
          { text: 'A preface without a heading.', x: 50, y: 780 },
          { text: '1. Eggs', x: 50, y: 700 },
          { text: 'Eggs have shells.', x: 50, y: 680 },
        ],
        [
          ...Array.from({ length: 8 }, (_, line) => ({ text: `They hatch in spring, in week ${line}.`, x: 50, y: 800 - 12 * line })),
          { text: '1.1 Colours', x: 50, y: 650 },
          { text: 'Some are blue.', x: 50, y: 600 },
        ],
        [{ text: 'Some are of grass.', x: 50, y: 780 }],
        [{ text: 'Others are of mud.', x: 50, y: 780 }],
      ]),
    );
    const { context } = document;
    const [rootRef, eggs, colours, nests, lost] = Array.from({ length: 5 }, () => context.nextRef());
    if (!rootRef || !eggs || !colours || !nests || !lost) throw new Error('no references');
    const toDest = (page: number): unknown[] => [document.getPage(page).ref, 'Fit'];
    const text = (title: string) => PDFHexString.fromText(title);
    context.assign(rootRef, context.obj({ Type: 'Outlines', First: eggs, Last: lost }));
    context.assign(
      eggs,
      context.obj({ Title: text('Eggs'), Parent: rootRef, Next: nests, First: colours, Last: colours, Dest: toDest(0) as never }),
    );
    context.assign(colours, context.obj({ Title: text('1.1  Colours'), Parent: eggs, Dest: toDest(1) as never }));
    context.assign(nests, context.obj({ Title: text('Nests'), Parent: rootRef, Next: lost, Dest: toDest(2) as never }));
    context.assign(lost, context.obj({ Title: text('Lost'), Parent: rootRef, Dest: text('nowhere') }));
    document.catalog.set(PDFName.of('Outlines'), rootRef);
    const result = await split('a.pdf', new Uint8Array(await document.save()));
    expectConsistent(result);
    expect(result.passages.map(({ locator: { page, headings } }) => [page, headings])).toEqual([
      [1, undefined],
      [1, ['Eggs']],
      [2, ['Eggs']],
      [2, ['Eggs', '1.1 Colours']],
      // The title is not on the page: the section counts from the next one.
      [3, ['Eggs', '1.1 Colours']],
      [4, ['Nests']],
    ]);
  });

  verifies('sources/passages', 'know headings of DOCX and HTML, slides and sheets', async () => {
    const docx = await split('a.docx', await createDocx());
    expectConsistent(docx);
    expect(docx.title).toBe('The report');
    expect(docx.passages.at(-1)?.locator.headings).toContain('Summary');
    const html = await split(
      'a.html',
      `<title>Page</title><h1>One</h1><p>${writeParagraph('page', 300)}<h2>Two</h2><p>${writeParagraph('rest', 300)}`,
    );
    expectConsistent(html);
    expect(html.passages.map(({ locator }) => locator.headings)).toEqual([['One'], ['One', 'Two']]);
    const pptx = await split('a.pptx', await createPptx());
    expectConsistent(pptx);
    expect(pptx.passages.map(({ locator }) => locator.page)).toEqual([...Array(pptx.pageCount).keys()].map((index) => index + 1));
    const cells = Array.from({ length: 200 }, (_, row) => `<c t="inlineStr"><is><t>${row === 0 ? 'Name' : `bird ${row}`}</t></is></c>`);
    const xlsx = await split('a.xlsx', await createXlsx({ Birds: { xml: toSheetXml(cells) } }));
    expectConsistent(xlsx);
    expect(xlsx.passages.length).toBeGreaterThan(1);
    for (const { text, locator } of xlsx.passages) {
      expect(locator.sheet).toBe('Birds');
      expect(text).toContain('| 1 | Name |');
    }
  });

  verifies('sources/passages', 'keep declarations of code together, with lines', async () => {
    const functions = Array.from({ length: 12 }, (_, index) => [
      `/** Number ${index}. */`,
      `export function f${index}() {`,
      ...Array.from({ length: 8 }, (_, line) => `  console.log('line ${line} of function ${index}');`),
      '',
      `  return ${index};`,
      '}',
      '',
    ]).flat();
    const result = await split('code.ts', functions.join('\n'));
    expectConsistent(result);
    expect(result.passages.length).toBeGreaterThan(3);
    for (const { text, locator } of result.passages) {
      expect(text).toMatch(/^\/\*\* Number/);
      expect(text).toMatch(/\}$/);
      expect(functions[(locator.line ?? 0) - 1]).toBe(text.split('\n', 1)[0]);
    }
  });

  verifies('sources/passages', 'know the time of subtitles', async () => {
    const cue = (number: number, text: string): string =>
      `${number}\n00:${String(number).padStart(2, '0')}:00,500 --> 00:${String(number).padStart(2, '0')}:05,000\n${text}\n`;
    const srt = await split('talk.srt', [cue(1, '<i>Welcome.</i>'), cue(2, 'Birds fly.'), cue(3, 'Birds fly.\nThey sing.')].join('\n'));
    expect(srt.passages.map(({ text, locator }) => [text, locator.time])).toEqual([['Welcome.\nBirds fly.\nThey sing.', 60.5]]);
    const long = await split(
      'long.srt',
      Array.from({ length: 59 }, (_, minute) => cue(minute, writeParagraph(`bird ${minute}`, 200))).join('\n'),
    );
    expectConsistent(long);
    for (const { locator } of long.passages) expect(((locator.time ?? 0) - 0.5) % 60).toBe(0);
    expect(long.passages.length).toBeGreaterThan(9);
    const vtt = await split(
      'talk.vtt',
      'WEBVTT\n\nNOTE by us\n\nintro\n00:01.000 --> 00:04.000 align:start\n<v Ada>Hello &amp; welcome\n\n00:05.000 --> 00:06.000\nBye\n',
    );
    expect(vtt.passages.map(({ text, locator }) => [text, locator.time])).toEqual([['Ada: Hello & welcome\nBye', 1]]);
  });

  verifies('sources/passages', 'are the records of CSV and the lines of JSON', async () => {
    const csv = await split(
      'a.csv',
      `name,note\n${Array.from({ length: 100 }, (_, row) => `bird ${row},"first\nsecond ${row}"`).join('\n')}\n`,
    );
    expectConsistent(csv);
    expect(csv.passages.length).toBeGreaterThan(1);
    for (const { text } of csv.passages) expect(text).toMatch(/^name,note\nbird [\s\S]*"$/);
    expect(csv.passages[1]?.locator.line).toBeGreaterThan(20);
    const json = await split('a.json', JSON.stringify(Array.from({ length: 300 }, (_, id) => ({ id, bird: `species ${id}` }))));
    expectConsistent(json);
    expect(json.passages[0]?.text).toContain('"bird": "species 0"');
    expect(json.passages[0]?.locator.line).toBeUndefined();
  });

  verifies('sources/passages', 'are those of an e-mail and its attachments', async () => {
    const mail = [
      'From ada@example.com Mon Jan  5 10:00:00 2026',
      'From: =?utf-8?B?w4Rkw6Q=?= <ada@example.com>',
      'To: bob@example.com, "Carl, C." <carl@example.com>',
      'Subject: Nest boxes',
      'Date: Mon, 5 Jan 2026 10:00:00 +0000',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=x',
      '',
      '--x',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'The boxes are up.',
      '>From here we watch.',
      '',
      '--x',
      'Content-Type: text/markdown',
      'Content-Disposition: attachment; filename=plan.md',
      '',
      '# Plan',
      '',
      'Clean them in March.',
      '--x',
      'Content-Type: application/zip',
      'Content-Disposition: attachment; filename=all.zip',
      'Content-Transfer-Encoding: base64',
      '',
      'UEsDBA==',
      '--x--',
      '',
    ].join('\r\n');
    const result = await split('1.eml', mail);
    expectConsistent(result);
    expect(result.title).toBe('Nest boxes');
    expect(result.text).toContain('From: Ädä <ada@example.com>\nTo: bob@example.com, Carl, C. <carl@example.com>');
    expect(result.text).toContain('The boxes are up.\nFrom here we watch.');
    expect(result.passages.at(-1)).toMatchObject({ text: '# Plan\n\nClean them in March.', locator: { headings: ['plan.md', 'Plan'] } });
    expect(result.notes).toEqual(['Attachment not read: all.zip']);
    // Messages of maildirs and mbox files have no names that say what they are.
    expect(await split('cur/1.host:2,S', mail)).toEqual(result);
    expect((await split('Inbox', 'Received: by x\r\nSubject: Eggs\r\n\r\nThree.')).title).toBe('Eggs');
  });

  verifies('sources/passages', 'of a picture are its recognized paragraphs; without text it is no failure', async () => {
    const read = (found: string) => {
      const ocr = { readPicture: async () => found } as unknown as PageOcr;
      return readPassages({ name: 'a.png', bytes: new Uint8Array([1]), ocr: { languages: ['eng'] } as unknown as OcrSettings }, open, {
        ocr,
      });
    };
    expect((await read('Herons\n\nStorks')).passages.map(({ text }) => text.trim())).toEqual(['Herons\n\nStorks']);
    expect(await read('')).toMatchObject({ passages: [], notes: ['No text was found in this picture'] });
    await expect(split('a.png', new Uint8Array([1]))).rejects.toThrow('turn on text recognition');
  });

  verifies('sources/passages', 'are those of an EPUB, chapter by chapter', async () => {
    const book = await createZip({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml':
        '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
      'OEBPS/book.opf':
        '<?xml version="1.0"?><opf:package xmlns:opf="http://www.idpf.org/2007/opf"><opf:metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Birds</dc:title></opf:metadata><opf:manifest><opf:item id="b" href="two.xhtml"/><opf:item id="a" href="text/one%201.xhtml"/></opf:manifest><opf:spine><opf:itemref idref="a"/><opf:itemref idref="b"/><opf:itemref idref="missing"/></opf:spine></opf:package>',
      'OEBPS/text/one 1.xhtml': `<html><body><h1>Eggs</h1><p>${writeParagraph('egg', 300)}</p></body></html>`,
      'OEBPS/two.xhtml': `<html><body><h1>Nests</h1><p>${writeParagraph('nest', 300)}</p></body></html>`,
    });
    const result = await split('birds.epub', book);
    expectConsistent(result);
    expect(result.title).toBe('Birds');
    expect(result.passages.map(({ locator }) => locator.headings)).toEqual([['Eggs'], ['Nests']]);
  });

  verifies('sources/hostile', 'are bounded for texts without structure', async () => {
    const result = await split('a.txt', `${'x'.repeat(5000)} ${'word '.repeat(2000)}\n\n${writeParagraph('end', 4000)}`);
    expectConsistent(result);
    expect(result.passages.length).toBeGreaterThan(12);
  });

  verifies('sources/hostile', 'are found in linear time in hostile texts', async () => {
    const since = performance.now();
    for (const text of [
      `# ${'\t'.repeat(300_000)}x`,
      `${'-'.repeat(300_000)}x\n|`,
      `a |\n${'|-'.repeat(200_000)}x`,
      `${'['.repeat(300_000)}`,
      '\n \n'.repeat(200_000),
      '#\n'.repeat(100_000),
    ])
      await split('a.md', `start\n\n${text}`);
    await split('a.vtt', `00:01.000 --> 00:02.000\n${'<v '.repeat(100_000)}\n\n${'<'.repeat(100_000)}`);
    expect(performance.now() - since).toBeLessThan(10_000);
  });

  verifies('sources/hostile', 'fail with the reason', async () => {
    await expect(split('a.bin', 'x')).rejects.toThrow('a.bin is of a type that Perch can’t read.');
    await expect(split('a.txt', '')).rejects.toThrow('a.txt is empty.');
    await expect(split('a.txt', ' \n\n ')).rejects.toThrow('a.txt has no text.');
    await expect(split('a.ts', 'x\0y')).rejects.toThrow('a.ts is not a text file.');
    await expect(split('a.pdf', '%PDF-1.7 broken')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(split('a.epub', 'x')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(split('a.eml', 'no mail')).rejects.toThrow('a.eml is not an e-mail.');
    await expect(split('a.png', 'x')).rejects.toThrow('turn on text recognition');
    await expect(split('a.pdf', await createPdf([[]]))).rejects.toThrow('Pages without text');
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    await expect(inlineDocumentReader.readPassages({ name: 'a.txt', bytes: encode('x') }, stop.signal)).rejects.toThrow('enough');
  });
});
