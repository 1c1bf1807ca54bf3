import { paginateText } from './paginate-text.ts';
import { type DecodedRequest, type DocumentText, createUnreadableError } from './document-reader.ts';

/** Decodes text: UTF-8, UTF-16 with a byte order mark, else Windows-1252, which accepts every byte. */
export function decodeText(bytes: Uint8Array, label?: string): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (label !== undefined) {
    try {
      return new TextDecoder(label).decode(bytes);
    } catch {
      // Unknown label: ignored.
    }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** The text of a file, with line breaks unified. Throws an error with a message for people if it is not a text file. */
export function toText({ name, bytes, charset }: Pick<DecodedRequest, 'name' | 'bytes' | 'charset'>): string {
  const utf16 = bytes[0] === 0xff || bytes[0] === 0xfe;
  if (!utf16 && bytes.subarray(0, 8192).includes(0)) throw createUnreadableError(name, 'is not a text file');
  return decodeText(bytes, charset).replaceAll('\r\n', '\n');
}

/** Reads a text file unchanged. */
export function readPlainText({ name, bytes, offset = 0, limit }: DecodedRequest): DocumentText {
  return paginateText(toText({ name, bytes }), offset, limit);
}
