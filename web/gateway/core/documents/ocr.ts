import type { PDFPageProxy } from 'unpdf/pdfjs';
import type { DocumentRequest, Documents } from './documents.ts';

/** How text is read from pictures of pages. */
export interface OcrSettings {
  /** Tesseract's names, such as `eng` or `chi_sim`; those of the app's language and English by default. */
  languages?: string[] | undefined;
  /** Address of the language data, with `{language}` in it, or of a folder of `.traineddata` files. */
  dataUrl: string;
}

/** Language data as tesseract.js publishes it: 1 to 10 MB for each language. */
export const DEFAULT_DATA_URL = 'https://cdn.jsdelivr.net/npm/@tesseract.js-data/{language}/4.0.0_best_int/{language}.traineddata.gz';

/** Pages of one result that are read so: each takes some seconds. */
export const MAX_OCR_PAGES = 20;

/** Reads the text of pictures of pages, in a worker that has a canvas. */
export interface PageOcr {
  /** For pdf.js, which draws the pages. */
  canvas: { CanvasFactory: object; FilterFactory: object };
  /** Empty if the page has no text. Rejects with a sentence for the person if the language data cannot be had. */
  read(page: PDFPageProxy, settings: OcrSettings, signal: AbortSignal): Promise<string>;
}

/** Asks for text recognition with each PDF, as the settings say. */
export const withOcr = (documents: Documents, settings: () => OcrSettings | undefined): Documents => ({
  read(request: DocumentRequest, signal) {
    const ocr = request.kind === 'pdf' ? settings() : undefined;
    return documents.read(ocr ? { ...request, ocr } : request, signal);
  },
});
