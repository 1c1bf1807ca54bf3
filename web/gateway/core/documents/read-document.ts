import type { DocumentKind } from './kinds.ts';
import { fromBase64 } from '#shared/base64.ts';
import type { DecodedRequest, DocumentRequest, DocumentText } from './documents.ts';
import type { PageOcr } from './ocr.ts';

type Read = (request: DecodedRequest, signal: AbortSignal, ocr?: PageOcr) => DocumentText | Promise<DocumentText>;

/** Each kind's reader is loaded when the first file of it comes. */
const READERS: Record<DocumentKind, () => Promise<Read>> = {
  pdf: async () => (await import('./pdf.ts')).readPdf,
  docx: async () => (await import('./docx.ts')).readDocx,
  xlsx: async () => (await import('./xlsx.ts')).readXlsx,
  pptx: async () => (await import('./pptx.ts')).readPptx,
  html: async () => (await import('./html.ts')).readHtml,
  text: async () => (await import('./plain.ts')).readPlain,
};

/** Reads a file, a slice at a time, so that nothing waits long for it. `ocr` reads pages that are pictures. */
export async function readDocument(request: DocumentRequest, signal: AbortSignal, ocr?: PageOcr): Promise<DocumentText> {
  const read = await READERS[request.kind]();
  signal.throwIfAborted();
  const { bytes } = request;
  return read({ ...request, bytes: typeof bytes === 'string' ? fromBase64(bytes) : bytes }, signal, ocr);
}
