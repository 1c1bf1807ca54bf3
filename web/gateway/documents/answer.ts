import type { ErrorCode } from '#shared/rpc/errors.ts';
import type { DocumentText } from '../core/documents/documents.ts';

/**
 * Messages from the document worker about a request: the text, the reason why the file cannot be read, or a failure of the worker; before
 * that, signs of life.
 */
export type DocumentAnswer = { text: DocumentText } | { refused: { code: ErrorCode; message: string } } | { failed: string } | 'working';
