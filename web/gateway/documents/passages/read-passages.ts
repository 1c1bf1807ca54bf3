import { fromBase64 } from '#shared/base64.ts';
import { TimeSlicer } from '#shared/async/time-slicer.ts';
import { getPassageKind, type PassageKind } from '#shared/document-kinds.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { createUnreadableError, type DocumentPassages, type PassageRequest, type ReadProgress } from '../document-reader.ts';
import type { PageOcr } from '../ocr.ts';
import { MAX_DOCUMENT_CHARS, PassageBuilder } from './passage-builder.ts';
import type { PassageContext, PassageReader } from './passage-context.ts';

const loadText = () => import('./text-passages.ts');
const loadOffice = () => import('./office-passages.ts');

/** Readers by kind, loaded on first use. */
const READERS: Record<PassageKind, () => Promise<PassageReader>> = {
  pdf: async () => (await import('./pdf-passages.ts')).readPdfPassages,
  docx: async () => (await loadOffice()).readDocxPassages,
  xlsx: async () => (await loadOffice()).readXlsxPassages,
  pptx: async () => (await loadOffice()).readPptxPassages,
  html: async () => (await loadOffice()).readHtmlPassages,
  epub: async () => (await loadOffice()).readEpubPassages,
  text: async () => (await loadText()).readTextPassages,
  markdown: async () => (await loadText()).readMarkdownPassages,
  code: async () => (await loadText()).readCodePassages,
  table: async () => (await loadText()).readTablePassages,
  json: async () => (await loadText()).readJsonPassages,
  subtitles: async () => (await import('./subtitle-passages.ts')).readSubtitlePassages,
  email: async () => (await import('./email-passages.ts')).readEmailPassages,
  picture: async () => (await import('./picture-passages.ts')).readPicturePassages,
};

/** First line of an e-mail: of mbox, or one of the usual header fields. */
const EMAIL_START =
  /^(From \S.* \d{1,2}:\d{2}|(Return-Path|Received|Delivered-To|From|To|Date|Subject|Message-ID|MIME-Version|DKIM-Signature|(X|ARC)-[\w-]+):)/i;

/** Whether a file is an e-mail: messages in maildirs and mbox files have no name that says so. */
const isEmail = (bytes: Uint8Array): boolean => EMAIL_START.test(new TextDecoder('latin1').decode(bytes.subarray(0, 500)));

interface ReadOptions {
  ocr?: PageOcr | undefined;
  onProgress?: ((progress: ReadProgress) => void) | undefined;
  /** Whether the document is inside another one: documents inside it are left out. */
  isInner?: boolean;
}

/** Splits a file into passages, in slices, so that other tasks are not blocked. `ocr` recognizes text in pictures. */
export async function readPassages(
  request: PassageRequest,
  signal: AbortSignal,
  { ocr, onProgress = () => {}, isInner = false }: ReadOptions = {},
): Promise<DocumentPassages> {
  const { name, mimeType } = request;
  const bytes = typeof request.bytes === 'string' ? fromBase64(request.bytes) : request.bytes;
  if (bytes.length === 0) throw createUnreadableError(name, 'is empty');
  const kind = request.kind ?? getPassageKind(name, mimeType) ?? (isEmail(bytes) ? 'email' : undefined);
  if (kind === undefined) throw createUnreadableError(name, 'is of a type that Perch can’t read');
  const read = await READERS[kind]();
  signal.throwIfAborted();
  const builder = new PassageBuilder();
  const context: PassageContext = {
    builder,
    slicer: new TimeSlicer(signal),
    signal,
    ocr,
    onProgress,
    readInner: async (inner) => (isInner ? undefined : readInnerDocument({ ...inner, ocr: request.ocr }, signal, ocr)),
  };
  const { notes = [], ...facts } = await read({ ...request, kind, bytes }, context);
  const { text, passages } = builder.finish();
  if (builder.isTruncated) notes.push(`Only the first ${MAX_DOCUMENT_CHARS / 1024 / 1024} million characters were read`);
  // Most pictures in a folder have none, and reading them again would find none either.
  if (passages.length === 0 && kind !== 'picture')
    throw createUnreadableError(name, notes.length > 0 ? `has no text. ${notes.join('. ')}` : 'has no text');
  return { kind, ...facts, ...(notes.length > 0 ? { notes } : {}), text, passages };
}

async function readInnerDocument(request: PassageRequest, signal: AbortSignal, ocr?: PageOcr): Promise<DocumentPassages | undefined> {
  try {
    return await readPassages(request, signal, { ocr, isInner: true });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}
