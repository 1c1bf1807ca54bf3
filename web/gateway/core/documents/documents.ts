import { RpcError } from '#shared/rpc/errors.ts';
import type { DocumentKind } from './kinds.ts';
import type { OcrSettings } from './ocr.ts';

/** A file to read, and which part of it. It travels as a structured clone. */
export interface DocumentRequest {
  kind: DocumentKind;
  /** For sentences about it. */
  name: string;
  /** As a string: in base64, to be decoded where it is read. */
  bytes: Uint8Array<ArrayBuffer> | string;
  /** Most characters of text. */
  limit: number;
  /** HTML: what its links are relative to, and how it was said to be encoded. */
  base?: string | undefined;
  charset?: string | undefined;
  /** PDF: pages; PPTX: slides. Such as `1-5, 8`. */
  pages?: string | undefined;
  /** Characters to leave out at the start: of the first page, of a PDF; of all the text, of what has no pages. */
  offset?: number | undefined;
  /** PDF: how pages without text are read from their pictures, if they are. */
  ocr?: OcrSettings | undefined;
  /** XLSX: a sheet's name or number from 1. */
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
  /** Which part this is: `pages 1–40 of 300`. */
  part?: string;
  sheets?: string[];
  /** What the person or model should know: pages without text, say. */
  notes?: string[];
  /** What to ask with for what follows; absent at the end. */
  next?: { pages?: string; offset?: number; sheet?: string; range?: string };
}

/** Who reads documents: a worker that a page lends, or this one. */
export interface Documents {
  /** Rejects with `INVALID_PARAMS` and a sentence where the file cannot be read, and with the signal's reason. */
  read(request: DocumentRequest, signal: AbortSignal): Promise<DocumentText>;
}

/** What is wrong with a file. */
export const unreadable = (name: string, why: string): RpcError => new RpcError('INVALID_PARAMS', `${name} ${why}.`);
