import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { DocumentRequest } from './document-reader.ts';
import type { PageOcr } from './ocr.ts';
import type { DocumentResponse } from './document-response.ts';
import { createPageOcr } from './ocr/page-ocr.ts';

const neverAborted = new AbortController().signal;

async function respond(request: DocumentRequest, ocr: PageOcr | undefined): Promise<DocumentResponse> {
  try {
    const { readDocument } = await import('./read-document.ts');
    return { text: await readDocument(request, neverAborted, ocr) };
  } catch (error) {
    if (error instanceof RpcError) return { refused: { code: error.code, message: error.message } };
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Runs in a dedicated worker that a page starts for the gateway's worker: reads documents requested over the port in its first message,
 * which also contains the app's language.
 */
export function serveDocuments(scope: DedicatedWorkerGlobalScope): void {
  scope.addEventListener(
    'message',
    ({ data: locale, ports: [port] }: MessageEvent<unknown>) => {
      if (!port) return;
      const progress: DocumentResponse = 'working';
      const ocr = createPageOcr(typeof locale === 'string' ? locale : 'en', () => port.postMessage(progress));
      port.onmessage = async ({ data }: MessageEvent<DocumentRequest>) => port.postMessage(await respond(data, ocr));
    },
    { once: true },
  );
}
