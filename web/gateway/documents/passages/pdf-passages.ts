import { formatNumberRanges } from '../number-ranges.ts';
import { loadPdf, openPdf, readPageText, readTitle } from '../pdf.ts';
import { splitSentences } from './passage-builder.ts';
import { PdfOutline } from './pdf-outline.ts';
import type { DecodedPassageRequest, DocumentFacts, PassageContext } from './passage-context.ts';

/** Maximum number of pages whose pictures are recognized per document: each takes some seconds. */
const MAX_OCR_PAGES = 100;
/** Maximum length of the end of a sentence on the next page. */
const MAX_CONTINUATION_CHARS = 600;

/** Reads a whole PDF. A passage lies on one page; a sentence that a page break interrupts belongs to the page that it starts on. */
export async function readPdfPassages(
  { name, bytes, ocr: settings }: DecodedPassageRequest,
  context: PassageContext,
): Promise<DocumentFacts> {
  const { builder, slicer, signal, ocr, onProgress } = context;
  const task = loadPdf(bytes, ocr?.canvas);
  try {
    const pdf = await openPdf(name, task.promise);
    const outline = await PdfOutline.read(pdf, signal);
    const empty: number[] = [];
    const recognized: number[] = [];
    let problem: string | undefined;
    let before = '';
    for (let number = 1; number <= pdf.numPages; number++) {
      let text = await readPageText(pdf, number, signal);
      if (text === '' && ocr && settings && problem === undefined && recognized.length < MAX_OCR_PAGES) {
        try {
          text = await ocr.read(await pdf.getPage(number), settings, signal);
          if (text !== '') recognized.push(number);
        } catch (error) {
          signal.throwIfAborted();
          problem = error instanceof Error ? error.message : String(error);
        }
      }
      if (text === '') empty.push(number);
      const continuation = findContinuation(before, text);
      if (continuation !== '') builder.continue(`\n${continuation.trimEnd()}`);
      before = text;
      if (!addParagraphs(context, text.slice(continuation.length), { page: number, outline })) break;
      onProgress({ done: number, total: pdf.numPages });
      await slicer.after(text.length);
    }
    const title = await readTitle(pdf);
    return {
      ...(title === undefined ? {} : { title }),
      pageCount: pdf.numPages,
      notes: [
        ...(recognized.length > 0
          ? [`Read from pictures by text recognition, which makes mistakes: pages ${formatNumberRanges(recognized)}`]
          : []),
        ...(empty.length > 0 ? [`Pages without text (images such as scans): ${formatNumberRanges(empty)}`] : []),
        ...(problem === undefined ? [] : [problem]),
      ],
    };
  } finally {
    await task.destroy().catch(() => {});
  }
}

function addParagraphs({ builder }: PassageContext, text: string, { page, outline }: { page: number; outline: PdfOutline }): boolean {
  for (const block of text.split('\n\n')) {
    const isTable = block.startsWith('| ');
    const header = isTable ? block.split('\n', 2).join('\n') : undefined;
    const headings = outline.enter(block, page);
    const place = { page, ...(headings ? { headings } : {}) };
    if (!builder.add({ text: block, place, form: isTable ? 'lines' : 'prose', header })) return false;
  }
  return true;
}

/** End of the sentence that a page's last paragraph leaves open: the start of the next page's text, empty if there is none. */
function findContinuation(before: string, text: string): string {
  const isOpen = /[\p{Ll}\p{N},;–-]$/u.test(before.trimEnd()) && /^\p{Ll}/u.test(text);
  if (!isOpen) return '';
  const [paragraph = ''] = text.slice(0, MAX_CONTINUATION_CHARS).split('\n\n', 1);
  const [sentence = ''] = splitSentences(paragraph);
  return /[.!?…]["'”’)\]]*\s*$/.test(sentence) ? sentence : '';
}
