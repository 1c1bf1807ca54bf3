import type { PDFPageProxy } from 'unpdf/pdfjs';
import type { DocumentRequest, DocumentReader } from './document-reader.ts';

/** Settings for text recognition. */
export interface OcrSettings {
  /** Tesseract's language codes, such as `eng` or `chi_sim`; those of the app's language and English by default. */
  languages?: string[] | undefined;
  /** Address of the language data, with `{language}` in it, or of a folder of `.traineddata` files. */
  dataUrl: string;
}

/** Language data as tesseract.js publishes it: 1 to 10 MB for each language. */
export const DEFAULT_DATA_URL = 'https://cdn.jsdelivr.net/npm/@tesseract.js-data/{language}/4.0.0_best_int/{language}.traineddata.gz';

/** Maximum number of recognized pages per result: each takes some seconds. */
export const MAX_OCR_PAGES = 20;

/** Recognizes text in pictures of pages, in a worker with a canvas. */
export interface PageOcr {
  /** Options for pdf.js, which draws the pages. */
  canvas: { CanvasFactory: object; FilterFactory: object };
  /** Recognizes a page; empty if it has no text. Rejects with a message for the person if the language data is unavailable. */
  read(page: PDFPageProxy, settings: OcrSettings, signal: AbortSignal): Promise<string>;
}

/** Adds text recognition to PDF requests, according to the settings. */
export const withOcr = (documents: DocumentReader, settings: () => OcrSettings | undefined): DocumentReader => ({
  read(request: DocumentRequest, signal) {
    const ocr = request.kind === 'pdf' ? settings() : undefined;
    return documents.read(ocr ? { ...request, ocr } : request, signal);
  },
});
