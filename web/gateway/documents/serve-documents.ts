import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ReadProgress } from './document-reader.ts';
import type { PageOcr } from './ocr.ts';
import type { DocumentResponse, DocumentWorkerMessage, DocumentWorkerRequest } from './document-response.ts';
import { lazy } from '#shared/async/lazy.ts';

/** Minimum time between reports of progress. */
const PROGRESS_INTERVAL_MS = 200;

const neverAborted = new AbortController().signal;

async function respond(
  request: DocumentWorkerRequest,
  ocr: PageOcr | undefined,
  onProgress: (progress: ReadProgress) => void,
): Promise<DocumentResponse> {
  try {
    if ('split' in request) {
      const { readPassages } = await import('./passages/read-passages.ts');
      return { passages: await readPassages(request.split, neverAborted, { ocr, onProgress }) };
    }
    if ('draw' in request) {
      const { drawPage } = await import('./draw-page.ts');
      return { drawing: await drawPage(request.draw) };
    }
    const { readDocument } = await import('./read-document.ts');
    return { text: await readDocument(request, neverAborted, ocr) };
  } catch (error) {
    if (error instanceof RpcError) return { refused: { code: error.code, message: error.message } };
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Reads documents in a page's dedicated worker as requested over `port`, and splits them into passages. `locale`: the app's language, for
 * recognizing text in pictures.
 */
export function serveDocuments(port: MessagePort, locale: unknown): void {
  const post = (message: DocumentWorkerMessage): void =>
    port.postMessage(message, typeof message === 'object' && 'drawing' in message ? [message.drawing.picture] : []);
  const ocr = lazy(async () =>
    (await import('./ocr/page-ocr.ts')).createPageOcr(typeof locale === 'string' ? locale : 'en', () => post('working')),
  );
  port.onmessage = async ({ data }: MessageEvent<DocumentWorkerRequest>) => {
    let lastAt = performance.now();
    const onProgress = (progress: ReadProgress): void => {
      const now = performance.now();
      if (now - lastAt < PROGRESS_INTERVAL_MS) return;
      lastAt = now;
      post({ progress });
    };
    post(await respond(data, await ocr(), onProgress));
  };
}
