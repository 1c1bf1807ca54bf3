import type { DocumentKind } from '#shared/document-kinds.ts';

export { type DocumentKind, getDocumentKind } from '#shared/document-kinds.ts';

/** Name of the tool for each kind. */
export const READER_TOOLS = {
  pdf: 'read_pdf',
  docx: 'read_docx',
  xlsx: 'read_xlsx',
  pptx: 'read_pptx',
  html: 'read_text',
  text: 'read_text',
} as const satisfies Record<DocumentKind, string>;
