import { fromBase64 } from '#shared/base64.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { saveFile } from '#app/files/save-file.ts';

/** Saves the file of a document. Rejects if it is kept nowhere any more. */
export async function downloadOriginal(documentId: string): Promise<void> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let next: number | null = 0;
  let file: { filename: string; mimeType: string } | undefined;
  while (next !== null) {
    const part: Awaited<ReturnType<typeof fetchPart>> = await fetchPart(documentId, next);
    parts.push(fromBase64(part.data));
    file = part;
    ({ next } = part);
  }
  if (file) saveFile(file.filename, new Blob(parts, { type: file.mimeType }));
}

const fetchPart = (documentId: string, offset: number) => gateway.call('collections.original', { documentId, offset });
