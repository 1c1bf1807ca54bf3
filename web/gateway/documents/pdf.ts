import { getDocument } from 'unpdf/pdfjs';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { yieldToEventLoop } from '#shared/async/time-slicer.ts';
import { type DecodedRequest, type DocumentText, createUnreadableError } from './document-reader.ts';
import { MAX_OCR_PAGES, type PageOcr } from './ocr.ts';
import { parseNumberRanges, formatNumberRanges } from './number-ranges.ts';
import { PageCollector } from './page-collector.ts';
import { formatAnnotations } from './pdf-annotations.ts';
import { type PdfPiece, formatPage, toPosition } from './pdf-text.ts';

/** Maximum number of text pieces per page: a few commands can draw without end. */
const MAX_PIECES = 50_000;

export type PdfFile = Awaited<ReturnType<typeof getDocument>['promise']>;
type TextContent = Awaited<ReturnType<Awaited<ReturnType<PdfFile['getPage']>>['getTextContent']>>;

/**
 * Reads a PDF page by page, in reading order. Pages without text are pictures, such as scans: `ocr` recognizes them if available, and the
 * others are listed in a note.
 */
export async function readPdf(
  { name, bytes, limit, offset, ...request }: DecodedRequest,
  signal: AbortSignal,
  ocr?: PageOcr,
): Promise<DocumentText> {
  const task = loadPdf(bytes, ocr?.canvas);
  try {
    const pdf = await openPdf(name, task.promise);
    const pageNumbers = parseNumberRanges(request.pages, pdf.numPages, 'page');
    const empty: number[] = [];
    const recognized: number[] = [];
    const parts = new PageCollector(pageNumbers, { offset, limit });
    /** Why recognition has stopped. */
    let problem: string | undefined;
    for (const number of pageNumbers) {
      await yieldToEventLoop(signal);
      let page = await readPageText(pdf, number, signal);
      if (page === '' && ocr && request.ocr && problem === undefined) {
        if (recognized.length >= MAX_OCR_PAGES) {
          parts.stop();
          break;
        }
        try {
          const read = await ocr.read(await pdf.getPage(number), request.ocr, signal);
          if (read !== '') page = `[Text read from the picture of page ${number}]\n\n${read}`;
        } catch (error) {
          signal.throwIfAborted();
          problem = error instanceof Error ? error.message : String(error);
        }
      }
      const isRecognized = page.startsWith('[Text read from the picture');
      if (!parts.add(`## Page ${number}\n\n${page === '' ? '(no text)' : page}`)) break;
      if (page === '') empty.push(number);
      else if (isRecognized) recognized.push(number);
    }
    const { text, next, included } = parts;
    if (empty.length === included.length)
      throw createUnreadableError(
        name,
        `has no text on ${included.length === pdf.numPages ? 'any page' : `page ${formatNumberRanges(included)}`}, only images such as scans${problem === undefined ? '' : `. ${problem.replace(/\.$/, '')}`}`,
      );
    const notes = [
      ...(recognized.length > 0
        ? [`Read from pictures by text recognition, which makes mistakes: pages ${formatNumberRanges(recognized)}`]
        : []),
      ...(empty.length > 0 ? [`Pages without text (images such as scans): ${formatNumberRanges(empty)}`] : []),
      ...(problem === undefined ? [] : [problem]),
    ];
    const title = await readTitle(pdf);
    return {
      ...(title === undefined ? {} : { title }),
      part: `pages ${formatNumberRanges(included)} of ${pdf.numPages}`,
      text,
      ...(notes.length > 0 ? { notes } : {}),
      ...(next ? { next } : {}),
    };
  } finally {
    await task.destroy().catch(() => {});
  }
}

type PdfOptions = Partial<Extract<Parameters<typeof getDocument>[0], { data?: unknown; password?: unknown }>>;

/** Begins to load a PDF; `options` of pdf.js replace those for reading text. */
export const loadPdf = (bytes: Uint8Array<ArrayBuffer>, options: PdfOptions = {}): ReturnType<typeof getDocument> =>
  getDocument({
    // pdf.js takes ownership of the buffer.
    data: bytes.slice(),
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    verbosity: 0,
    stopAtErrors: false,
    ...options,
  });

/** Waits for a PDF to be opened. Throws an error with a message for people if it is protected or damaged. */
export async function openPdf(name: string, promise: Promise<PdfFile>): Promise<PdfFile> {
  try {
    return await promise;
  } catch (error) {
    const errorName = error instanceof Error ? error.name : '';
    if (errorName === 'PasswordException')
      throw createUnreadableError(name, 'is protected by a password. Remove the password and try again');
    throw createUnreadableError(
      name,
      `can’t be read: it is not a PDF, damaged or incomplete (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}

/** Text of a page in reading order, with form fields and notes; empty if it has none. */
export async function readPageText(pdf: PdfFile, number: number, signal: AbortSignal): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const pieces: PdfPiece[] = [];
    const reader: ReadableStreamDefaultReader<TextContent> = page.streamTextContent().getReader();
    while (pieces.length < MAX_PIECES) {
      const { done, value } = await reader.read();
      if (done) break;
      signal.throwIfAborted();
      pieces.push(...value.items.flatMap((item) => ('str' in item ? [toPdfPiece(item)] : [])));
    }
    const isComplete = pieces.length < MAX_PIECES;
    // Not awaited: the cancellation takes effect when drawing would continue.
    if (!isComplete) void reader.cancel(new Error('it has enough')).catch(() => {});
    const annotations = formatAnnotations(await page.getAnnotations().catch(() => []));
    if (isComplete) page.cleanup();
    const text = [formatPage(pieces), annotations].filter((part) => part !== '').join('\n\n');
    return isComplete ? text : `${text}\n\n(the rest of this page is omitted: it is too complex)`;
  } catch (error) {
    signal.throwIfAborted();
    // A damaged page does not affect the others.
    if (error instanceof RpcError) throw error;
    return `(this page is damaged: ${error instanceof Error ? error.message : String(error)})`;
  }
}

function toPdfPiece({
  str,
  transform,
  width,
  height,
  hasEOL,
}: {
  str: string;
  transform: readonly number[];
  width: number;
  height: number;
  hasEOL: boolean;
}): PdfPiece {
  const [, , skew = 0, slope = 0] = transform;
  return { text: str, ...toPosition(transform), width, height: height || Math.hypot(skew, slope), endsLine: hasEOL };
}

export async function readTitle(pdf: PdfFile): Promise<string | undefined> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const title: unknown = 'Title' in info ? info.Title : undefined;
  return typeof title === 'string' && title.trim() !== '' ? title.trim().slice(0, 500) : undefined;
}
