/** Kinds of files that can be read here. */
export type DocumentKind = 'pdf' | 'docx' | 'xlsx' | 'pptx' | 'html' | 'text';

/** Name of the tool for each kind. */
export const READER_TOOLS = {
  pdf: 'read_pdf',
  docx: 'read_docx',
  xlsx: 'read_xlsx',
  pptx: 'read_pptx',
  html: 'read_text',
  text: 'read_text',
} as const satisfies Record<DocumentKind, string>;

const OOXML_PREFIX = 'application/vnd.openxmlformats-officedocument.';
const MIME_TYPE_KINDS: readonly [RegExp, DocumentKind][] = [
  [/^application\/(x-)?pdf\b/, 'pdf'],
  [new RegExp(`^${OOXML_PREFIX}wordprocessingml\\.|^application/vnd\\.ms-word\\.document\\.macro`, 'i'), 'docx'],
  [new RegExp(`^${OOXML_PREFIX}spreadsheetml\\.|^application/vnd\\.ms-excel\\.sheet\\.macro`, 'i'), 'xlsx'],
  [new RegExp(`^${OOXML_PREFIX}presentationml\\.|^application/vnd\\.ms-powerpoint\\.\\w+\\.macro`, 'i'), 'pptx'],
  [/^(text\/html|application\/xhtml\+xml)\b/, 'html'],
  [/^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|x-sh|sql|x-ndjson)\b)|\+(json|xml)\b/, 'text'],
];
const EXTENSION_KINDS: readonly [RegExp, DocumentKind][] = [
  [/\.pdf$/i, 'pdf'],
  [/\.(docx|docm|dotx)$/i, 'docx'],
  [/\.(xlsx|xlsm|xltx)$/i, 'xlsx'],
  [/\.(pptx|pptm|ppsx|potx)$/i, 'pptx'],
  [/\.(html?|xhtml)$/i, 'html'],
  [/\.(txt|md|markdown|csv|tsv|json|jsonl|ndjson|xml|ya?ml|toml|ini|log|sql|srt|vtt|tex)$/i, 'text'],
];

/** Kind of a file by its MIME type, or else by its extension, since systems often give a generic type. Undefined if unknown. */
export function getDocumentKind(filename: string, mimeType: string): DocumentKind | undefined {
  const find = (table: typeof MIME_TYPE_KINDS, text: string): DocumentKind | undefined =>
    table.find(([pattern]) => pattern.test(text))?.[1];
  return find(MIME_TYPE_KINDS, mimeType.trim().toLowerCase()) ?? find(EXTENSION_KINDS, filename.trim());
}
