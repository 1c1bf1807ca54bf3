import { getDocument } from 'unpdf/pdfjs';
import { RpcError } from '#shared/rpc/errors.ts';
import { breathe } from './breath.ts';
import { type DecodedRequest, type DocumentText, unreadable } from './documents.ts';
import { MAX_OCR_PAGES, type PageOcr } from './ocr.ts';
import { numbersIn, numbersText } from './numbers.ts';
import { PageParts } from './page-parts.ts';
import { annotationText } from './pdf-annotations.ts';
import { type PdfPiece, pageText, toPosition } from './pdf-text.ts';

/** Maximum number of text pieces per page: a few commands can draw without end. */
const MAX_PIECES = 50_000;

type Pdf = Awaited<ReturnType<typeof getDocument>['promise']>;
type TextContent = Awaited<ReturnType<Awaited<ReturnType<Pdf['getPage']>>['getTextContent']>>;

/**
 * Reads a PDF page by page, in reading order. Pages without text are pictures, such as scans: `ocr` recognizes them if available, and the
 * others are listed in a note.
 */
export async function readPdf(
  { name, bytes, limit, offset, ...request }: DecodedRequest,
  signal: AbortSignal,
  ocr?: PageOcr,
): Promise<DocumentText> {
  const task = getDocument({
    // pdf.js takes ownership of the buffer.
    data: bytes.slice(),
    disableFontFace: true,
    useSystemFonts: false,
    useWasm: false,
    verbosity: 0,
    stopAtErrors: false,
    ...ocr?.canvas,
  });
  try {
    const pdf = await opened(name, task.promise);
    const wanted = numbersIn(request.pages, pdf.numPages, 'page');
    const empty: number[] = [];
    const recognized: number[] = [];
    const parts = new PageParts(wanted, { offset, limit });
    /** Why recognition has stopped. */
    let problem: string | undefined;
    for (const number of wanted) {
      await breathe(signal);
      let page = await textOf(pdf, number, signal);
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
    const { text, next, shown } = parts;
    if (empty.length === shown.length)
      throw unreadable(
        name,
        `has no text on ${shown.length === pdf.numPages ? 'any page' : `page ${numbersText(shown)}`}, only images such as scans${problem === undefined ? '' : `. ${problem.replace(/\.$/, '')}`}`,
      );
    const notes = [
      ...(recognized.length > 0 ? [`Read from pictures by text recognition, which makes mistakes: pages ${numbersText(recognized)}`] : []),
      ...(empty.length > 0 ? [`Pages without text (images such as scans): ${numbersText(empty)}`] : []),
      ...(problem === undefined ? [] : [problem]),
    ];
    const title = await titleOf(pdf);
    return {
      ...(title === undefined ? {} : { title }),
      part: `pages ${numbersText(shown)} of ${pdf.numPages}`,
      text,
      ...(notes.length > 0 ? { notes } : {}),
      ...(next ? { next } : {}),
    };
  } finally {
    await task.destroy().catch(() => {});
  }
}

async function opened(name: string, promise: Promise<Pdf>): Promise<Pdf> {
  try {
    return await promise;
  } catch (error) {
    const what = error instanceof Error ? error.name : '';
    if (what === 'PasswordException') throw unreadable(name, 'is protected by a password. Remove the password and try again');
    throw unreadable(
      name,
      `can’t be read: it is not a PDF, damaged or incomplete (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}

async function textOf(pdf: Pdf, number: number, signal: AbortSignal): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const pieces: PdfPiece[] = [];
    const reader: ReadableStreamDefaultReader<TextContent> = page.streamTextContent().getReader();
    while (pieces.length < MAX_PIECES) {
      const { done, value } = await reader.read();
      if (done) break;
      signal.throwIfAborted();
      pieces.push(...value.items.flatMap((item) => ('str' in item ? [pieceOf(item)] : [])));
    }
    const whole = pieces.length < MAX_PIECES;
    // Not awaited: the cancellation takes effect when drawing would continue.
    if (!whole) void reader.cancel(new Error('it has enough')).catch(() => {});
    const added = annotationText(await page.getAnnotations().catch(() => []));
    if (whole) page.cleanup();
    const text = [pageText(pieces), added].filter((part) => part !== '').join('\n\n');
    return whole ? text : `${text}\n\n(the rest of this page is omitted: it is too complex)`;
  } catch (error) {
    signal.throwIfAborted();
    // A damaged page does not affect the others.
    if (error instanceof RpcError) throw error;
    return `(this page is damaged: ${error instanceof Error ? error.message : String(error)})`;
  }
}

function pieceOf({
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
  const [, , skew = 0, rise = 0] = transform;
  return { text: str, ...toPosition(transform), width, height: height || Math.hypot(skew, rise), endsLine: hasEOL };
}

async function titleOf(pdf: Pdf): Promise<string | undefined> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const title: unknown = 'Title' in info ? info.Title : undefined;
  return typeof title === 'string' && title.trim() !== '' ? title.trim().slice(0, 500) : undefined;
}
