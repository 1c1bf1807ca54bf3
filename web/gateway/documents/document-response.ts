import type { ErrorCode } from '#shared/rpc/rpc-error.ts';
import type { DrawRequest, PageDrawing } from '#shared/ports/page-drawing.ts';
import type { DocumentPassages, DocumentRequest, DocumentText, PassageRequest, ReadProgress } from './document-reader.ts';

/** A request to the document worker: for text, for the passages of a whole file, or for a drawn page. */
export type DocumentWorkerRequest = DocumentRequest | { split: PassageRequest } | { draw: DrawRequest };

/** The end of a request: its result, the reason why the file cannot be read, or a failure of the worker. */
export type DocumentResponse =
  | { text: DocumentText }
  | { passages: DocumentPassages }
  | { drawing: PageDrawing }
  | { refused: { code: ErrorCode; message: string } }
  | { failed: string };

/** Messages from the document worker about a request: before the response, signs of life. */
export type DocumentWorkerMessage = DocumentResponse | 'working' | { progress: ReadProgress };
