import { toBase64 } from '#shared/base64.ts';
import type { gateway as connection } from '#app/connection/gateway-connection.svelte.ts';
import { isConnectionLost } from '#kit/problems.ts';
import type { ListedFile } from './list-files.ts';

/** Files and bytes of one call, small enough that other calls are not kept waiting. */
const BATCH_FILES = 100;
const BATCH_BYTES = 4 * 1024 * 1024;
/** How often a call is repeated after a lost connection; files that have arrived already are not indexed twice. */
const MAX_TRIES = 3;
const PAGE_SIZE = 500;

type Gateway = Pick<typeof connection, 'call'>;

interface SendOptions {
  signal: AbortSignal;
  /** Called with the number of files that a call has sent, and that could not be read. */
  onsent: (sent: number, unreadable: number) => void;
}

/** Sends files to a collection, a few at a time. Rejects if the gateway refuses, or with the reason of the signal. */
export async function sendFiles(
  gateway: Gateway,
  collectionId: string,
  files: readonly ListedFile[],
  { signal, onsent }: SendOptions,
): Promise<void> {
  for (const batch of toBatches(files)) {
    signal.throwIfAborted();
    const read = await Promise.all(batch.map(readFile));
    const readable = read.filter((file) => file !== null);
    if (readable.length > 0) await send(gateway, collectionId, readable, signal);
    onsent(readable.length, read.length - readable.length);
  }
}

async function send(
  gateway: Gateway,
  collectionId: string,
  files: NonNullable<Awaited<ReturnType<typeof readFile>>>[],
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await gateway.call('collections.addFiles', { collectionId, files }, { signal });
      return;
    } catch (error) {
      if (!isConnectionLost(error) || attempt === MAX_TRIES) throw error;
    }
  }
}

/** Divides files into calls. */
export function toBatches(files: readonly ListedFile[]): ListedFile[][] {
  const batches: ListedFile[][] = [];
  let bytes = Infinity;
  for (const listed of files) {
    const last = batches.at(-1);
    if (last && last.length < BATCH_FILES && bytes + listed.file.size <= BATCH_BYTES) last.push(listed);
    else {
      batches.push([listed]);
      bytes = 0;
    }
    bytes += listed.file.size;
  }
  return batches;
}

/** Null if the file no longer exists, or may not be read. */
async function readFile({ path, file }: ListedFile) {
  try {
    const data = toBase64(new Uint8Array(await file.arrayBuffer()));
    return { path, mimeType: file.type, data, modifiedAt: file.lastModified };
  } catch {
    return null;
  }
}

/** The files of a folder that differ from the collection's documents, and the documents whose files are gone. */
export async function compareFolder(
  gateway: Gateway,
  collectionId: string,
  name: string,
  files: readonly ListedFile[],
): Promise<{ changed: ListedFile[]; goneIds: string[] }> {
  const paths = new Set(files.map(({ path }) => path));
  const known = new Map<string, { size: number; modifiedAt: number | null }>();
  const goneIds: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof listSentDocuments>> = await listSentDocuments(gateway, collectionId, cursor);
    for (const { id, path, size, modifiedAt } of page.documents) {
      if (!path.startsWith(`${name}/`)) continue;
      if (paths.has(path)) known.set(path, { size, modifiedAt });
      else goneIds.push(id);
    }
    ({ cursor } = page);
  } while (cursor !== null);
  const isChanged = ({ path, file }: ListedFile): boolean => {
    const document = known.get(path);
    return document?.size !== file.size || document.modifiedAt !== file.lastModified;
  };
  return { changed: files.filter(isChanged), goneIds };
}

const listSentDocuments = (gateway: Gateway, collectionId: string, cursor: string | null) =>
  gateway.call('collections.documents', { collectionId, sourceId: 'files', limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) });
