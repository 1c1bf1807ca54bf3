import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import { Uint8ArrayWriter, ZipWriter } from '@zip.js/zip.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Creates a zip with these parts; texts are written as UTF-8. */
export async function createZip(parts: Record<string, string | Uint8Array>, options: { password?: string } = {}): Promise<Bytes> {
  const zip = new ZipWriter(new Uint8ArrayWriter(), { useWebWorkers: false, ...options });
  for (const [name, content] of Object.entries(parts)) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    await zip.add(name, new Blob([new Uint8Array(bytes)]).stream());
  }
  return zip.close();
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const W = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${R}" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`;
const P = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="${R}"`;
const S = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${R}"`;

export const toRelationshipsXml = (entries: readonly [id: string, type: string, target: string, mode?: 'External'][]): string =>
  `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${entries
    .map(
      ([id, type, target, mode]) =>
        `<Relationship Id="${id}" Type="${R}/${type}" Target="${target}"${mode ? ` TargetMode="${mode}"` : ''}/>`,
    )
    .join('')}</Relationships>`;

const root = (target: string): Record<string, string> => ({ '_rels/.rels': toRelationshipsXml([['rId1', 'officeDocument', target]]) });

const toRunXml = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
/** A paragraph, with an optional `style` and `list` (numbering, level). */
export const toParagraphXml = (inner: string, { style, list }: { style?: string; list?: [number, number] } = {}): string =>
  `<w:p><w:pPr>${style ? `<w:pStyle w:val="${style}"/>` : ''}${list ? `<w:numPr><w:ilvl w:val="${list[1]}"/><w:numId w:val="${list[0]}"/></w:numPr>` : ''}</w:pPr>${inner.startsWith('<') ? inner : toRunXml(inner)}</w:p>`;

const DOCX_BODY = [
  toParagraphXml('Annual report', { style: 'Title' }),
  toParagraphXml('Summary', { style: 'Kop1' }),
  toParagraphXml(
    `${toRunXml('See ')}<w:hyperlink r:id="rId9">${toRunXml('our site')}</w:hyperlink>${toRunXml(' for more')}<w:r><w:footnoteReference w:id="2"/></w:r><w:del>${toRunXml('gone')}</w:del><w:ins>${toRunXml('.')}</w:ins>`,
  ),
  toParagraphXml('First', { list: [1, 0] }),
  toParagraphXml('Inner', { list: [1, 1] }),
  toParagraphXml('Second', { list: [1, 0] }),
  toParagraphXml('Bullet', { list: [2, 0] }),
  `<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>${toParagraphXml('Both | columns')}</w:tc></w:tr><w:tr><w:tc>${toParagraphXml('a')}${toParagraphXml('b')}</w:tc><w:tc>${toParagraphXml('2')}</w:tc></w:tr></w:tbl>`,
  `<w:sdt><w:sdtContent>${toParagraphXml('In a control')}</w:sdtContent></w:sdt>`,
  `<w:p><mc:AlternateContent><mc:Choice><w:drawing><wp:docPr descr="A chart"/><w:txbxContent>${toParagraphXml('In a box')}</w:txbxContent></w:drawing></mc:Choice><mc:Fallback>${toRunXml('twice')}</mc:Fallback></mc:AlternateContent></w:p>`,
].join('');

/** A word-processor file. `body` replaces the default body; `extraParts` are further parts that it refers to. */
export const createDocx = (
  body = DOCX_BODY,
  extraParts: readonly { id: string; type: string; path: string; xml: string }[] = [],
): Promise<Bytes> =>
  createZip({
    ...root('word/document.xml'),
    'word/document.xml': `${XML}<w:document ${W}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': toRelationshipsXml([
      ['rId1', 'styles', 'styles.xml'],
      ['rId2', 'numbering', 'numbering.xml'],
      ['rId3', 'footnotes', 'footnotes.xml'],
      ['rId9', 'hyperlink', 'https://example.com/a?b=1&amp;c=2', 'External'],
      ...extraParts.map(({ id, type, path }): [string, string, string] => [id, type, `/${path}`]),
    ]),
    ...Object.fromEntries(extraParts.map(({ path, xml }) => [path, `${XML}${xml}`])),
    'word/styles.xml': `${XML}<w:styles ${W}><w:style w:styleId="Title"><w:name w:val="Title"/></w:style><w:style w:styleId="Kop1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    'word/numbering.xml': `${XML}<w:numbering ${W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
    'word/footnotes.xml': `${XML}<w:footnotes ${W}><w:footnote w:id="0" w:type="separator">${toParagraphXml('line')}</w:footnote><w:footnote w:id="2">${toParagraphXml('Said in May.')}</w:footnote></w:footnotes>`,
    'docProps/core.xml': `${XML}<cp:coreProperties xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The report</dc:title></cp:coreProperties>`,
  });

/** A sheet's XML from its rows, each a list of `<c …>` elements. */
export const toSheetXml = (rows: readonly string[]): string =>
  `${XML}<worksheet ${S}><sheetData>${rows.map((cells, index) => `<row r="${index + 1}">${cells}</row>`).join('')}</sheetData></worksheet>`;

/** Creates a workbook; `sheets` replaces the three default sheets. `date1904`: its days count from 1904. */
export const createXlsx = (
  sheets: Record<string, { xml: string; hidden?: boolean }> = {
    'Sales & co': {
      xml: toSheetXml([
        '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Paid</t></is></c>',
        '<c r="A2" s="1"><v>45000</v></c><c r="B2" s="2"><v>1234.5</v></c><c r="C2" t="b"><v>1</v></c>',
        '<c r="A3" s="4"><v>45000.75</v></c><c r="B3"><f>SUM(B2:B2)*2</f><v>2469</v></c><c r="C3" t="e"><v>#DIV/0!</v></c>',
        '<c r="A4" s="3"><v>0.256</v></c><c r="B4"><f>NOW()</f></c><c r="E4" t="str"><f>A1&amp;"x"</f><v>Datex</v></c>',
      ]),
    },
    Empty: { xml: toSheetXml([]) },
    Secret: { xml: toSheetXml(['<c r="A1"><v>7</v></c>']), hidden: true },
  },
  { date1904 = false }: { date1904?: boolean } = {},
): Promise<Bytes> => {
  const entries = Object.entries(sheets);
  return createZip({
    ...root('xl/workbook.xml'),
    'xl/workbook.xml': `${XML}<workbook ${S}>${date1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${entries.map(([name, { hidden }], index) => `<sheet name="${name.replaceAll('&', '&amp;')}" sheetId="${index + 1}" r:id="rId${index + 1}"${hidden ? ' state="hidden"' : ''}/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': toRelationshipsXml([
      ...entries.map((_, index): [string, string, string] => [`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`]),
      ['rIdA', 'styles', 'styles.xml'],
      ['rIdB', 'sharedStrings', '/xl/sharedStrings.xml'],
    ]),
    'xl/styles.xml': `${XML}<styleSheet ${S}><numFmts><numFmt numFmtId="170" formatCode="#,##0.00&quot; EUR&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="10"/><xf numFmtId="22"/><xf numFmtId="46"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `${XML}<sst ${S}><si><t>Date</t></si><si><r><t>Am</t></r><r><t>ount</t></r><rPh><t>phonetic</t></rPh></si></sst>`,
    ...Object.fromEntries(entries.map(([, { xml }], index) => [`xl/worksheets/sheet${index + 1}.xml`, xml])),
  });
};

const toShapeXml = (type: string, text: string): string =>
  `<p:sp><p:nvSpPr><p:nvPr><p:ph${type ? ` type="${type}"` : ''}/></p:nvPr></p:nvSpPr><p:txBody>${text}</p:txBody></p:sp>`;
const toLineXml = (text: string, level = 0): string => `<a:p><a:pPr lvl="${level}"/><a:r><a:t>${text}</a:t></a:r></a:p>`;
const toSlideXml = (shapes: string, attributes = ''): string =>
  `${XML}<p:sld ${P}${attributes}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;

/** Creates a presentation of two slides, the first with a table and notes. The order of the files differs from that of the slides. */
export const createPptx = (): Promise<Bytes> =>
  createZip({
    ...root('ppt/presentation.xml'),
    'ppt/presentation.xml': `${XML}<p:presentation ${P}><p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': toRelationshipsXml([
      ['rId1', 'slide', 'slides/slide1.xml'],
      ['rId2', 'slide', 'slides/slide2.xml'],
    ]),
    'ppt/slides/slide1.xml': toSlideXml(toShapeXml('title', toLineXml('The end')), ' show="0"'),
    'ppt/slides/slide2.xml': toSlideXml(
      `${toShapeXml('', toLineXml('Points') + toLineXml('deeper', 1))}${toShapeXml('title', toLineXml('Plan'))}${toShapeXml('sldNum', toLineXml('1'))}<p:grpSp><p:sp><p:txBody>${toLineXml('Grouped')}</p:txBody></p:sp></p:grpSp><p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody>${toLineXml('Q1')}</a:txBody></a:tc><a:tc><a:txBody>${toLineXml('Q2')}</a:txBody></a:tc></a:tr><a:tr><a:tc><a:txBody>${toLineXml('1')}</a:txBody></a:tc><a:tc><a:txBody>${toLineXml('2')}</a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame><p:pic><p:nvPicPr><p:cNvPr descr="A map"/></p:nvPicPr></p:pic>`,
    ),
    'ppt/slides/_rels/slide2.xml.rels': toRelationshipsXml([['rId1', 'notesSlide', '../notesSlides/notesSlide1.xml']]),
    'ppt/notesSlides/notesSlide1.xml': `${XML}<p:notes ${P}><p:cSld><p:spTree>${toShapeXml('sldNum', toLineXml('1'))}${toShapeXml('body', toLineXml('Say hello'))}</p:spTree></p:cSld></p:notes>`,
  });

/** Creates a presentation of one slide with these shapes and parts. */
export const createSlide = (shapes: string, parts: readonly { id: string; type: string; path: string; xml: string }[]): Promise<Bytes> =>
  createZip({
    ...root('ppt/presentation.xml'),
    'ppt/presentation.xml': `${XML}<p:presentation ${P}><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': toRelationshipsXml([['rId1', 'slide', 'slides/slide1.xml']]),
    'ppt/slides/slide1.xml': toSlideXml(shapes),
    'ppt/slides/_rels/slide1.xml.rels': toRelationshipsXml(parts.map(({ id, type, path }) => [id, type, `/${path}`])),
    ...Object.fromEntries(parts.map(({ path, xml }) => [path, `${XML}${xml}`])),
  });

/** A PDF with a page for each list; entries are drawn in this order at their positions, in points from the bottom left. */
export async function createPdf(
  pages: readonly (readonly { text: string; x: number; y: number }[])[],
  { title, password }: { title?: string; password?: string } = {},
): Promise<Bytes> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  if (title !== undefined) document.setTitle(title);
  for (const pieces of pages) {
    const page = document.addPage([595, 842]);
    for (const { text, x, y } of pieces) page.drawText(text, { x, y, size: 10, font });
  }
  if (password !== undefined) document.encrypt({ userPassword: password, ownerPassword: `${password}!` });
  return new Uint8Array(await document.save());
}

/** Pages with a heading and lines of text. */
export const toPdfLines = (page: number, count: number): { text: string; x: number; y: number }[] =>
  Array.from({ length: count }, (_, index) => ({
    text: `Page ${page}, line ${index + 1}: the quick brown fox jumps over the lazy dog.`,
    x: 50,
    y: 800 - index * 14,
  }));

/** Creates the start of a compound file, like Office's for an encrypted document, or with `text` in its directory. */
export function createCompoundFile(text = 'EncryptedPackage'): Bytes {
  const bytes = new Uint8Array(2048);
  bytes.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
  for (const [index, char] of [...text].entries()) bytes[1024 + index * 2] = char.charCodeAt(0);
  return bytes;
}

/** Creates a zip whose directory lists `count` empty files, all at the same offset. */
export function createZipListing(count: number): Bytes {
  const [local, entry, end] = [Buffer.alloc(30), Buffer.alloc(46), Buffer.alloc(22)];
  local.writeUInt32LE(0x04034b50);
  entry.writeUInt32LE(0x02014b50);
  const listed = Array.from({ length: count }, (_, index) => {
    const name = Buffer.from(String(index));
    entry.writeUInt16LE(name.length, 28);
    return Buffer.concat([entry, name]);
  });
  const directory = Buffer.concat(listed);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(local.length, 16);
  return new Uint8Array(Buffer.concat([local, directory, end]));
}
