import type { TimeSlicer } from '#shared/async/time-slicer.ts';
import type { PassageKind } from '#shared/document-kinds.ts';
import type { DocumentPassages, PassageRequest, ReadProgress } from '../document-reader.ts';
import type { PageOcr } from '../ocr.ts';
import type { PassageBuilder } from './passage-builder.ts';

/** A file to read, with its bytes decoded and its kind known. */
export type DecodedPassageRequest = PassageRequest & { bytes: Uint8Array<ArrayBuffer>; kind: PassageKind };

/** Facts about a document besides its text. */
export type DocumentFacts = Pick<DocumentPassages, 'title' | 'pageCount' | 'notes'>;

/** Input of a reader of passages. */
export interface PassageContext {
  builder: PassageBuilder;
  slicer: TimeSlicer;
  signal: AbortSignal;
  ocr: PageOcr | undefined;
  onProgress(progress: ReadProgress): void;
  /** Reads a document within this one, such as an attachment; undefined if it can’t be read. */
  readInner(request: PassageRequest): Promise<DocumentPassages | undefined>;
}

/** Adds a document's text to the builder, and returns the rest. */
export type PassageReader = (request: DecodedPassageRequest, context: PassageContext) => DocumentFacts | Promise<DocumentFacts>;
