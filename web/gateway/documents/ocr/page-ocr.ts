import type { PageOcr } from '../ocr.ts';
import { lazy } from '#shared/async/lazy.ts';
import { NoFilterFactory, WorkerCanvasFactory } from './worker-canvas.ts';

/**
 * Text recognition in this worker; undefined if it has no canvas, or the app was built without Tesseract. Loads nothing until a page needs
 * it.
 */
export function createPageOcr(locale: string, onprogress: () => void): PageOcr | undefined {
  if (__PERCH_TESSERACT__ === '' || typeof OffscreenCanvas === 'undefined') return undefined;
  const recognizer = lazy(async () =>
    (await import('./tesseract-recognizer.ts')).TesseractRecognizer.load(__PERCH_TESSERACT__, {
      locale,
      onprogress,
      caches,
      fetch: fetch.bind(globalThis),
    }),
  );
  return {
    canvas: { CanvasFactory: WorkerCanvasFactory, FilterFactory: NoFilterFactory },
    async read(page, settings, signal) {
      onprogress();
      return (await recognizer()).read(page, settings, signal);
    },
    async readPicture(bytes, settings, signal) {
      onprogress();
      return (await recognizer()).readPicture(bytes, settings, signal);
    },
  };
}
