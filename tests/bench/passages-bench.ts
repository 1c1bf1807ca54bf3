import { PDFArray, PDFDocument, PDFNumber, PDFOperator, PDFOperatorNames, PDFString, StandardFonts } from '@cantoo/pdf-lib';
import { inlineDocumentReader } from '../../web/gateway/documents/inline-document-reader.ts';
import { type Figure, toMinBar } from './figures.ts';
import { computeMedian } from './stats.ts';

const PAGE_COUNT = 200;
const LINES_PER_PAGE = 46;
const WORDS =
  'the survey of nesting birds found that every second box was used by great tits while others stayed empty until late spring when flycatchers arrived from the south and took over what remained of them'.split(
    ' ',
  );

/**
 * Pages of a PDF that are split into passages, a second of processor time: other programs on the machine don’t count. Its pages are set as
 * word processors and TeX set them: justified lines, each word with its own gap, in paragraphs below headings.
 */
export async function benchPassages({ quick }: { quick: boolean }): Promise<Figure[]> {
  const bytes = await createReport();
  const signal = new AbortController().signal;
  const rates: number[] = [];
  let passageCount = 0;
  // The first round also compiles the reader.
  for (let round = 0; round <= (quick ? 1 : 5); round++) {
    const before = process.cpuUsage();
    const { passages } = await inlineDocumentReader.readPassages({ name: 'report.pdf', bytes }, signal);
    const { user, system } = process.cpuUsage(before);
    if (round > 0) rates.push(PAGE_COUNT / ((user + system) / 1e6));
    passageCount = passages.length;
  }
  const rate = computeMedian(rates);
  return [
    {
      what: `pages of a ${PAGE_COUNT}-page PDF split into passages, a second of one core`,
      unit: '/s',
      ours: rate,
      bar: toMinBar(rate, 100, '/s'),
    },
    { what: '  passages found', unit: '', ours: passageCount },
  ];
}

async function createReport(): Promise<Uint8Array<ArrayBuffer>> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.TimesRoman);
  for (let number = 0; number < PAGE_COUNT; number++) {
    const page = document.addPage([595, 842]);
    const name = page.node.newFontDictionary('F', font.ref);
    const add = (operator: PDFOperatorNames, ...args: Parameters<typeof PDFOperator.of>[1] & object): void =>
      page.pushOperators(PDFOperator.of(operator, args));
    add(PDFOperatorNames.BeginText);
    add(PDFOperatorNames.SetFontAndSize, name, PDFNumber.of(11));
    add(PDFOperatorNames.MoveText, PDFNumber.of(60), PDFNumber.of(790));
    for (let line = 0; line < LINES_PER_PAGE; line++) {
      const words = PDFArray.withContext(document.context);
      for (let index = 0; index < 14; index++) {
        const word = WORDS[(number * 31 + line * 14 + index) % WORDS.length] ?? '';
        const end = line % 6 === 5 && index === 13 ? '.' : ' ';
        words.push(PDFString.of(word + end));
        words.push(PDFNumber.of(-(40 + ((line * 7 + index * 13) % 60))));
      }
      add(PDFOperatorNames.ShowTextAdjusted, words);
      add(PDFOperatorNames.MoveText, PDFNumber.of(0), PDFNumber.of(line % 6 === 5 ? -24 : -14));
    }
    add(PDFOperatorNames.EndText);
  }
  return new Uint8Array(await document.save());
}
