import { textOf } from './content.ts';

/** What texts are by their endings, for a text says of itself only that it is one. */
const TEXTS = new Map(
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

/** Kinds whose content is a container: which of them is in it only the ending says. */
const CONTAINED: Record<string, Record<string, string>> = {
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

/** What every package of Office has; its name stands in the list at the end. In one that was written as a stream it may not be found any earlier. */
const OFFICE_PART = '[Content_Types].xml';
const LIST_BYTES = 64 * 1024;

const SVG = /^\uFEFF?\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]*?-->\s*)*(<!DOCTYPE\s+svg[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<svg[\s>]/i;
/** A drawing begins within so many characters, or is taken for a text. */
const HEAD = 4096;

const UNKNOWN = 'application/octet-stream';
const PLAIN = 'text/plain';

/**
 * What a file is, by its content; its ending only tells texts, and what lies in a container, apart. So text is never a picture, whatever its name says, and a picture by a text's name is a
 * picture (interface document 2, section 4.2: "MIME type detected automatically").
 */
export async function mediaType(path: string, bytes: Uint8Array): Promise<string> {
  const ending = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const found = await detected(bytes);
  const text = found === undefined || isMarkup(found) ? textOf(bytes) : undefined;
  if (text === undefined) {
    if (found === undefined) return isUtf16(bytes) ? (TEXTS.get(ending) ?? PLAIN) : UNKNOWN;
    return (found === 'application/zip' && !isOffice(bytes) ? undefined : CONTAINED[found]?.[ending]) ?? found;
  }
  const asText = TEXTS.get(ending);
  if (asText !== undefined) return asText;
  if (SVG.test(text.slice(0, HEAD))) return 'image/svg+xml';
  return found ?? PLAIN;
}

/** Whether a type says no more than that nobody knows. */
export const isGeneric = (type: string): boolean => type === UNKNOWN || type === PLAIN;

/** Found by its first characters, but a text all the same. */
const isMarkup = (type: string): boolean => type === 'application/xml' || type.startsWith('text/') || type === 'application/rtf';

const isOffice = (zip: Uint8Array): boolean => new TextDecoder('latin1').decode(zip.subarray(-LIST_BYTES)).includes(OFFICE_PART);

/** By the mark at its beginning. */
const isUtf16 = ([first, second]: Uint8Array): boolean => (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

async function detected(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  // What breaks off where it should go on is of no kind.
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  return found?.mime;
}
