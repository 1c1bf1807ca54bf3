import type { DocumentKind } from './document-kinds.ts';
import { fromBase64 } from '#shared/base64.ts';
import type { DecodedRequest, DocumentRequest, DocumentText } from './document-reader.ts';
import type { PageOcr } from './ocr.ts';

type ReadFunction = (request: DecodedRequest, signal: AbortSignal, ocr?: PageOcr) => DocumentText | Promise<DocumentText>;

/** Readers by kind, loaded on first use. */
const READERS: Record<DocumentKind, () => Promise<ReadFunction>> = {
  pdf: async () => (await import('./pdf.ts')).readPdf,
  docx: async () => (await import('./docx.ts')).readDocx,
  xlsx: async () => (await import('./xlsx.ts')).readXlsx,
  pptx: async () => (await import('./pptx.ts')).readPptx,
  html: async () => (await import('./html.ts')).readHtml,
  text: async () => (await import('./plain-text.ts')).readPlainText,
};

/** Reads a file in slices, so that other tasks are not blocked. `ocr` recognizes pages that are pictures. */
export async function readDocument(request: DocumentRequest, signal: AbortSignal, ocr?: PageOcr): Promise<DocumentText> {
  const read = await READERS[request.kind]();
  signal.throwIfAborted();
  const { bytes } = request;
  return read({ ...request, bytes: typeof bytes === 'string' ? fromBase64(bytes) : bytes }, signal, ocr);
}
