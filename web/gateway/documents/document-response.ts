import type { ErrorCode } from '#shared/rpc/rpc-error.ts';
import type { DocumentText } from './document-reader.ts';

/**
 * Messages from the document worker about a request: the text, the reason why the file cannot be read, or a failure of the worker; before
 * that, signs of life.
 */
export type DocumentResponse = { text: DocumentText } | { refused: { code: ErrorCode; message: string } } | { failed: string } | 'working';
