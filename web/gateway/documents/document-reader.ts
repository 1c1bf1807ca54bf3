import type { PassageKind } from '#shared/document-kinds.ts';
import type { PassageLocator } from '#shared/rpc/passage.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { DocumentKind } from './document-kinds.ts';
import type { OcrSettings } from './ocr.ts';

/** A file to read, and the part of it. Can be cloned structurally. */
export interface DocumentRequest {
  kind: DocumentKind;
  /** Name for messages about the file. */
  name: string;
  /** A string is base64, to be decoded by the reader's thread. */
  bytes: Uint8Array<ArrayBuffer> | string;
  /** Maximum number of characters of text. */
  limit: number;
  /** HTML: the base URL for links, and the declared encoding. */
  base?: string | undefined;
  charset?: string | undefined;
  /** PDF: pages; PPTX: slides. For example `1-5, 8`. */
  pages?: string | undefined;
  /** Characters to skip at the start: of the first page of a PDF, or of the whole text if there are no pages. */
  offset?: number | undefined;
  /** PDF: settings for text recognition of pages without text; undefined for none. */
  ocr?: OcrSettings | undefined;
  /** XLSX: name of a sheet, or its number from 1. */
  sheet?: string | undefined;
  /** XLSX: `B2:F40`, `B:F` or `2:40`. */
  range?: string | undefined;
}

/** The same with its bytes decoded, as readers get it. */
export type DecodedRequest = DocumentRequest & { bytes: Uint8Array<ArrayBuffer> };

/** Text of a file, in reading order; tables as Markdown. */
export interface DocumentText {
  text: string;
  title?: string;
  /** Description of the part: `pages 1–40 of 300`. */
  part?: string;
  sheets?: string[];
  /** Notes for the person or model, such as pages without text. */
  notes?: string[];
  /** Options for requesting the next part; undefined at the end. */
  next?: { pages?: string; offset?: number; sheet?: string; range?: string };
}

/** A whole file to split into passages. Can be cloned structurally. */
export interface PassageRequest {
  /** Name of the file; also decides its kind if `kind` is missing. */
  name: string;
  mimeType?: string | undefined;
  kind?: PassageKind | undefined;
  /** A string is base64, to be decoded by the reader's thread. */
  bytes: Uint8Array<ArrayBuffer> | string;
  /** HTML: the base URL for links, and the declared encoding. */
  base?: string | undefined;
  charset?: string | undefined;
  /** PDF and pictures: settings for text recognition; undefined for none. */
  ocr?: OcrSettings | undefined;
}

/** A citable part of a document. Its text is that at its place; a later part of a table has the table's header in front. */
export interface Passage {
  text: string;
  locator: PassageLocator;
}

/** A document as text, and its passages in order. */
export interface DocumentPassages {
  kind: PassageKind;
  title?: string;
  /** Pages of a PDF, slides of a presentation. */
  pageCount?: number;
  /** Notes for people, such as pages without text. */
  notes?: string[];
  text: string;
  passages: Passage[];
}

/** Progress of a reading, in units of the document: pages, slides, or bytes. */
export interface ReadProgress {
  done: number;
  total: number;
}

/** Reads documents: in a worker started by a page, or in this one. */
export interface DocumentReader {
  /** Rejects with `INVALID_PARAMS` and a message for people if the file cannot be read, and with the signal's reason. */
  read(request: DocumentRequest, signal: AbortSignal): Promise<DocumentText>;
  /** Splits a whole document into passages. Rejects as `read` does. */
  readPassages(request: PassageRequest, signal: AbortSignal, onProgress?: (progress: ReadProgress) => void): Promise<DocumentPassages>;
}

/** The error for an unreadable file. */
export const createUnreadableError = (name: string, problem: string): RpcError => new RpcError('INVALID_PARAMS', `${name} ${problem}.`);
