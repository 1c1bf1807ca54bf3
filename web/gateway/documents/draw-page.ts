import type { PDFPageProxy } from 'unpdf/pdfjs';
import type { DrawRequest, PageArea, PageDrawing } from '#shared/ports/page-drawing.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { NoFilterFactory, WorkerCanvasFactory } from './ocr/worker-canvas.ts';
import { loadPdf, openPdf } from './pdf.ts';

/** Maximum size of a drawing in pixels. */
const MAX_PIXELS = 8_000_000;

type TextItem = Extract<Awaited<ReturnType<PDFPageProxy['getTextContent']>>['items'][number], { str: string }>;
type Viewport = ReturnType<PDFPageProxy['getViewport']>;

/** Draws a page of a PDF in a worker. Throws `INVALID_PARAMS` with a message for people if the file or its page cannot be shown. */
export async function drawPage({ name, bytes, page: number, quote, width }: DrawRequest): Promise<PageDrawing> {
  // Fonts are loaded into the worker: pdf.js asks only for the document's set of them.
  const fonts = {
    ownerDocument: { fonts: (globalThis as unknown as { fonts: unknown }).fonts },
    disableFontFace: false,
    useSystemFonts: true,
  };
  const task = loadPdf(bytes, { CanvasFactory: WorkerCanvasFactory, FilterFactory: NoFilterFactory, ...fonts });
  try {
    const pdf = await openPdf(name, task.promise);
    if (number > pdf.numPages) throw new RpcError('INVALID_PARAMS', `“${name}” has ${pdf.numPages} pages only.`);
    const page = await pdf.getPage(number);
    const size = page.getViewport({ scale: 1 });
    const viewport = page.getViewport({ scale: Math.min(width / size.width, Math.sqrt(MAX_PIXELS / (size.width * size.height))) });
    const canvas = new OffscreenCanvas(Math.ceil(viewport.width), Math.ceil(viewport.height));
    // pdf.js draws on either kind of canvas; its types know only that of pages.
    const canvasContext = canvas.getContext('2d') as unknown as Parameters<PDFPageProxy['render']>[0]['canvasContext'];
    await page.render({ canvas: null, canvasContext, viewport, background: 'white' }).promise;
    const { items } = await page.getTextContent();
    const marks = findQuote(
      items.filter((item) => 'str' in item),
      quote,
    ).map(({ item, start, end }) => toArea(item, start, end, size));
    return { picture: canvas.transferToImageBitmap(), pageCount: pdf.numPages, marks };
  } finally {
    await task.destroy().catch(() => {});
  }
}

/** Letters and digits of a text with their positions: spaces, hyphens and the marks of Markdown differ between a page and its text. */
const toLetters = (text: string): { letter: string; index: number }[] =>
  Array.from(text.matchAll(/[\p{L}\p{N}]/gu), ({ 0: letter, index }) =>
    Array.from(letter.normalize('NFKC').toLowerCase(), (each) => ({ letter: each, index })),
  ).flat();

/** The pieces of text that a quote covers, with the range of characters within each; empty if the page does not have it. */
export function findQuote<Item extends { str: string }>(
  items: readonly Item[],
  quote: string,
): { item: Item; start: number; end: number }[] {
  const letters = items.flatMap((item) => toLetters(item.str).map((each) => ({ ...each, item })));
  const sought = toLetters(quote)
    .map(({ letter }) => letter)
    .join('');
  // Each entry is one UTF-16 unit or more: positions are counted in the joined text.
  const starts: number[] = [];
  let joined = '';
  for (const { letter } of letters) {
    starts.push(joined.length);
    joined += letter;
  }
  const from = sought === '' ? -1 : joined.indexOf(sought);
  if (from === -1) return [];
  const found = new Map<Item, { item: Item; start: number; end: number }>();
  letters.forEach(({ item, index }, position) => {
    const at = starts[position] ?? 0;
    if (at < from || at >= from + sought.length) return;
    const before = found.get(item);
    const next = index + String.fromCodePoint(item.str.codePointAt(index) ?? 0).length;
    found.set(item, { item, start: Math.min(before?.start ?? index, index), end: Math.max(before?.end ?? next, next) });
  });
  return [...found.values()];
}

/** The area of some characters of a piece of text, as if all had the same width. */
function toArea({ str, transform, width, height }: TextItem, start: number, end: number, viewport: Viewport): PageArea {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = transform as number[];
  const along = Math.hypot(a, b) || 1;
  const across = Math.hypot(c, d) || 1;
  const toPoint = (x: number, y: number): number[] =>
    viewport.convertToViewportPoint(e + (a / along) * x + (c / across) * y, f + (b / along) * x + (d / across) * y) as number[];
  const [from, to] = [(width * start) / str.length, (width * end) / str.length];
  const corners = [toPoint(from, -0.25 * height), toPoint(to, -0.25 * height), toPoint(from, height), toPoint(to, height)];
  const [xs, ys] = [corners.map(([x = 0]) => x), corners.map(([, y = 0]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return {
    left: left / viewport.width,
    top: top / viewport.height,
    width: (Math.max(...xs) - left) / viewport.width,
    height: (Math.max(...ys) - top) / viewport.height,
  };
}
