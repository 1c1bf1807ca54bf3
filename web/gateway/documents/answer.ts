import type { ErrorCode } from '#shared/rpc/errors.ts';
import type { DocumentText } from '../core/documents/documents.ts';

/**
 * What the worker that reads documents says to a request: the text, why the file cannot be read, or what went wrong with the worker itself;
 * before it, that it is still working.
 */
export type DocumentAnswer = { text: DocumentText } | { refused: { code: ErrorCode; message: string } } | { failed: string } | 'working';
