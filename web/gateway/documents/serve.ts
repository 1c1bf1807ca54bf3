import { RpcError } from '#shared/rpc/errors.ts';
import type { DocumentRequest } from '../core/documents/documents.ts';
import type { DocumentAnswer } from './answer.ts';

const never = new AbortController().signal;

async function answer(request: DocumentRequest): Promise<DocumentAnswer> {
  try {
    const { readDocument } = await import('../core/documents/read-document.ts');
    return { text: await readDocument(request, never) };
  } catch (error) {
    if (error instanceof RpcError) return { refused: { code: error.code, message: error.message } };
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

/** In a dedicated worker that a page lends the gateway's: reads the documents that come over the port in its first message. */
export function serveDocuments(scope: DedicatedWorkerGlobalScope): void {
  scope.addEventListener(
    'message',
    ({ ports: [port] }) => {
      if (port) port.onmessage = async ({ data }: MessageEvent<DocumentRequest>) => port.postMessage(await answer(data));
    },
    { once: true },
  );
}
