import { decodeText } from './file-content.ts';

/** Types of text files by extension: the content only shows that a file is text. */
const TEXT_TYPES = new Map(
  Object.entries({
    md: 'text/markdown',
    markdown: 'text/markdown',
    txt: 'text/plain',
    csv: 'text/csv',
    tsv: 'text/tab-separated-values',
    html: 'text/html',
    htm: 'text/html',
    css: 'text/css',
    js: 'text/javascript',
    mjs: 'text/javascript',
    json: 'application/json',
    jsonl: 'application/jsonl',
    yaml: 'application/yaml',
    yml: 'application/yaml',
    xml: 'application/xml',
    xhtml: 'application/xhtml+xml',
    ics: 'text/calendar',
    vcf: 'text/vcard',
    vtt: 'text/vtt',
    rtf: 'application/rtf',
  }),
);

/** Container formats, whose actual type only the extension shows. */
const CONTAINER_TYPES: Record<string, Record<string, string>> = {
  'application/x-cfb': {
    doc: 'application/msword',
    xls: 'application/vnd.ms-excel',
    ppt: 'application/vnd.ms-powerpoint',
    msg: 'application/vnd.ms-outlook',
    msi: 'application/x-msi',
  },
  'application/zip': {
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  },
};

/** Part that every Office package contains. In a streamed ZIP its name may only be found in the central directory at the end. */
const OFFICE_PART = '[Content_Types].xml';
const MAX_TAIL_BYTES = 64 * 1024;

const SVG = /^\uFEFF?\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]*?-->\s*)*(<!DOCTYPE\s+svg[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<svg[\s>]/i;
/** Number of leading characters in which an SVG must begin. */
const SVG_HEAD_CHARS = 4096;

const BINARY_TYPE = 'application/octet-stream';
const TEXT_TYPE = 'text/plain';

/**
 * Detects a file's type by its content. The extension only distinguishes text formats and container formats. So text is never reported as
 * an image, whatever its name, and an image with a text extension is reported as an image.
 */
export async function detectMediaType(path: string, bytes: Uint8Array): Promise<string> {
  const ending = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const found = await detectByContent(bytes);
  const text = found === undefined || isMarkup(found) ? decodeText(bytes) : undefined;
  if (text === undefined) {
    if (found === undefined) return isUtf16(bytes) ? (TEXT_TYPES.get(ending) ?? TEXT_TYPE) : BINARY_TYPE;
    return (found === 'application/zip' && !isOffice(bytes) ? undefined : CONTAINER_TYPES[found]?.[ending]) ?? found;
  }
  const asText = TEXT_TYPES.get(ending);
  if (asText !== undefined) return asText;
  if (SVG.test(text.slice(0, SVG_HEAD_CHARS))) return 'image/svg+xml';
  return found ?? TEXT_TYPE;
}

/** Whether a type carries no information: unknown or plain text. */
export const isGeneric = (type: string): boolean => type === BINARY_TYPE || type === TEXT_TYPE;

/** Detected by its first characters, but text nevertheless. */
const isMarkup = (type: string): boolean => type === 'application/xml' || type.startsWith('text/') || type === 'application/rtf';

const isOffice = (zip: Uint8Array): boolean => new TextDecoder('latin1').decode(zip.subarray(-MAX_TAIL_BYTES)).includes(OFFICE_PART);

/** Whether bytes begin with a UTF-16 byte order mark. */
const isUtf16 = ([first, second]: Uint8Array): boolean => (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

async function detectByContent(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  // Truncated content has no type.
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  return found?.mime;
}
