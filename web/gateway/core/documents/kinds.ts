/** What a file is, as far as somebody here reads it. */
export type DocumentKind = 'pdf' | 'docx' | 'xlsx' | 'pptx' | 'html' | 'text';

/** The tool for each kind. */
export const READER = {
  pdf: 'read_pdf',
  docx: 'read_docx',
  xlsx: 'read_xlsx',
  pptx: 'read_pptx',
  html: 'read_text',
  text: 'read_text',
} as const satisfies Record<DocumentKind, string>;

const OOXML = 'application/vnd.openxmlformats-officedocument.';
const BY_TYPE: readonly [RegExp, DocumentKind][] = [
  [/^application\/(x-)?pdf\b/, 'pdf'],
  [new RegExp(`^${OOXML}wordprocessingml\\.|^application/vnd\\.ms-word\\.document\\.macro`, 'i'), 'docx'],
  [new RegExp(`^${OOXML}spreadsheetml\\.|^application/vnd\\.ms-excel\\.sheet\\.macro`, 'i'), 'xlsx'],
  [new RegExp(`^${OOXML}presentationml\\.|^application/vnd\\.ms-powerpoint\\.\\w+\\.macro`, 'i'), 'pptx'],
  [/^(text\/html|application\/xhtml\+xml)\b/, 'html'],
  [/^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|x-sh|sql|x-ndjson)\b)|\+(json|xml)\b/, 'text'],
];
const BY_ENDING: readonly [RegExp, DocumentKind][] = [
  [/\.pdf$/i, 'pdf'],
  [/\.(docx|docm|dotx)$/i, 'docx'],
  [/\.(xlsx|xlsm|xltx)$/i, 'xlsx'],
  [/\.(pptx|pptm|ppsx|potx)$/i, 'pptx'],
  [/\.(html?|xhtml)$/i, 'html'],
  [/\.(txt|md|markdown|csv|tsv|json|jsonl|ndjson|xml|ya?ml|toml|ini|log|sql|srt|vtt|tex)$/i, 'text'],
];

/** What a file is by its MIME type, else by how its name ends: people's systems often give a type that says nothing. */
export function kindOf(filename: string, mimeType: string): DocumentKind | undefined {
  const find = (table: typeof BY_TYPE, text: string): DocumentKind | undefined => table.find(([pattern]) => pattern.test(text))?.[1];
  return find(BY_TYPE, mimeType.trim().toLowerCase()) ?? find(BY_ENDING, filename.trim());
}
