import { lazy } from '../lazy.ts';
import type { Documents } from './documents.ts';

const reader = lazy(() => import('./read-document.ts'));

/** Reads in the calling thread, in slices. */
export const readHere: Documents = {
  read: async (request, signal) => (await reader()).readDocument(request, signal),
};
