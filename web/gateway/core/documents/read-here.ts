import { lazy } from '../lazy.ts';
import type { Documents } from './documents.ts';

const reader = lazy(() => import('./read-document.ts'));

/** Reads where it is called, a slice at a time. */
export const readHere: Documents = {
  read: async (request, signal) => (await reader()).readDocument(request, signal),
};
