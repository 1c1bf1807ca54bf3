import { fromBase64, toBase64 } from '#shared/base64.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { FileRecord } from '#shared/rpc/workspace-file.ts';

/** Content of a file as it is stored. */
type FileContent = Pick<FileRecord, 'content' | 'encoding' | 'size'>;

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const encoder = new TextEncoder();

/**
 * Validates content to be written. Text passed as base64 is stored as text. Throws `INVALID_PARAMS` if the content does not match
 * `encoding`.
 */
export function normalizeContent(content: string, encoding: FileRecord['encoding']): FileContent {
  if (encoding === 'utf8') {
    if (!content.isWellFormed()) throw new RpcError('INVALID_PARAMS', '`content` is not valid text. Send it as base64.');
    return { content, encoding, size: encoder.encode(content).byteLength };
  }
  const data = content.replace(/\s+/g, '');
  if (!BASE64.test(data) || data.replace(/=+$/, '').length % 4 === 1)
    throw new RpcError('INVALID_PARAMS', '`content` is not valid base64.');
  const bytes = fromBase64(data);
  const text = decodeText(bytes);
  return text === undefined
    ? { content: toBase64(bytes), encoding, size: bytes.length }
    : { content: text, encoding: 'utf8', size: bytes.length };
}

/** Decodes bytes as text; undefined if they are not text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Content as bytes. */
export const toBytes = ({ content, encoding }: Pick<FileContent, 'content' | 'encoding'>): Uint8Array<ArrayBuffer> =>
  encoding === 'base64' ? fromBase64(content) : encoder.encode(content);

/** Content as base64, however it is stored. */
export const toBase64Content = ({ content, encoding }: Pick<FileContent, 'content' | 'encoding'>): string =>
  encoding === 'base64' ? content : toBase64(encoder.encode(content));
