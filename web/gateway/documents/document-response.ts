import type { ErrorCode } from '#shared/rpc/rpc-error.ts';
import type { DocumentPassages, DocumentRequest, DocumentText, PassageRequest, ReadProgress } from './document-reader.ts';

/** A request to the document worker: for text, or for the passages of a whole file. */
export type DocumentWorkerRequest = DocumentRequest | { split: PassageRequest };

/** The end of a request: its result, the reason why the file cannot be read, or a failure of the worker. */
export type DocumentResponse =
  { text: DocumentText } | { passages: DocumentPassages } | { refused: { code: ErrorCode; message: string } } | { failed: string };

/** Messages from the document worker about a request: before the response, signs of life. */
export type DocumentWorkerMessage = DocumentResponse | 'working' | { progress: ReadProgress };
