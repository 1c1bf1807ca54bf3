import type { PDFPageProxy } from 'unpdf/pdfjs';
import { getPassageKind } from '#shared/document-kinds.ts';
import type { DocumentReader } from './document-reader.ts';

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
  /** Recognizes the text of a picture file, likewise. Rejects with `INVALID_PARAMS` if the browser can’t show it. */
  readPicture(bytes: Uint8Array<ArrayBuffer>, settings: OcrSettings, signal: AbortSignal): Promise<string>;
}

/** Kinds of files in which text can be recognized: PDFs, pictures, and e-mails that have them attached. */
const hasPictures = (kind: string | undefined): boolean => kind === 'pdf' || kind === 'picture' || kind === 'email';

/** Adds text recognition to requests for PDFs and pictures, according to the settings. */
export const withOcr = (documents: DocumentReader, settings: () => OcrSettings | undefined): DocumentReader => ({
  read(request, signal) {
    const ocr = request.kind === 'pdf' ? settings() : undefined;
    return documents.read(ocr ? { ...request, ocr } : request, signal);
  },
  readPassages(request, signal, onProgress) {
    const ocr = hasPictures(request.kind ?? getPassageKind(request.name, request.mimeType)) ? settings() : undefined;
    return documents.readPassages(ocr ? { ...request, ocr } : request, signal, onProgress);
  },
});
