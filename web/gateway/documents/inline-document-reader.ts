import { lazy } from '#shared/async/lazy.ts';
import type { DocumentReader } from './document-reader.ts';

const loadReader = lazy(() => import('./read-document.ts'));
const loadPassageReader = lazy(() => import('./passages/read-passages.ts'));

/** Reads in the calling thread, in slices. */
export const inlineDocumentReader: DocumentReader = {
  read: async (request, signal) => (await loadReader()).readDocument(request, signal),
  readPassages: async (request, signal, onProgress) => (await loadPassageReader()).readPassages(request, signal, { onProgress }),
};
