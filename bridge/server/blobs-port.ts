import { createHash } from 'node:crypto';
import type { Opening } from '#shared/link/hello.ts';
import { serveHttp } from '#shared/link/stream-http.ts';
import type { Stream } from '#shared/link/stream.ts';
import { blobHash } from '#shared/sync/record.ts';
import { type Journal, JournalError, JournalFullError } from '../journal/journal.ts';
import { createErrorBody } from './http-errors.ts';

/** Maximum size of an attachment. */
const MAX_BLOB_BYTES = 20 * 1024 * 1024;

/** Serves attachments by the SHA-256 of their bytes: `PUT` and `GET` of `/<hash>` (shared/ports/journal-port.ts). */
export function serveBlobs(stream: Stream, opening: Opening, { journal, log }: { journal: Journal; log(line: string): void }): void {
  serveHttp(stream, opening, 'http://journal.invalid', async (request) => {
    try {
      return await handleRequest(request, journal);
    } catch (error) {
      if (error instanceof JournalFullError) return createFailure(507, `No disk space for the attachment: ${error.message}`);
      if (!request.signal.aborted) log(`Couldn’t store or read an attachment: ${error instanceof Error ? error.message : String(error)}`);
      return createFailure(500, error instanceof JournalError ? error.message : 'Couldn’t store or read the attachment');
    }
  });
}

async function handleRequest(request: Request, journal: Journal): Promise<Response> {
  const hash = new URL(request.url).pathname.slice(1);
  if (!blobHash.safeParse(hash).success) return createFailure(404, 'Attachments are identified by their SHA-256 in hex');
  if (request.method === 'GET') {
    const bytes = await journal.getBlob(hash);
    if (!bytes) return createFailure(404, 'No such attachment');
    return new Response(new Uint8Array(bytes), { headers: { 'content-type': 'application/octet-stream' } });
  }
  if (request.method !== 'PUT') return createFailure(405, 'Only GET and PUT are supported', { allow: 'GET, PUT' });
  const bytes = await readBody(request);
  if (!bytes) return createFailure(413, `Attachments are limited to ${MAX_BLOB_BYTES / 1024 / 1024} MiB`);
  if (createHash('sha256').update(bytes).digest('hex') !== hash) return createFailure(400, 'The content doesn’t match the SHA-256');
  await journal.putBlob(hash, bytes);
  return new Response(null, { status: 204 });
}

/** Reads a request's body. Undefined if it is too large. */
async function readBody({ body }: Request): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.byteLength;
    if (size > MAX_BLOB_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const createFailure = (status: number, message: string, headers: Record<string, string> = {}): Response =>
  Response.json(createErrorBody(status, message), { status, headers });
