import { fromBase64, getBase64ByteLength } from '#shared/base64.ts';
import { COLLECTION_LIMITS, FILES_SOURCE } from '#shared/rpc/methods/collection-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { sha256 } from '#shared/sha256.ts';
import type { CollectionDocumentRecord } from '../../storage/records/collection-records.ts';
import type { CollectionDocuments } from './collection-documents.ts';
import { createDocument } from './document-changes.ts';

/** A file that a client sends; `data` is base64. */
export interface SentFile {
  path: string;
  mimeType: string;
  data: string;
  modifiedAt?: number | undefined;
}

interface DecodedFile extends SentFile {
  bytes: Uint8Array<ArrayBuffer>;
  hash: string;
}

/** Decodes files. Throws `INVALID_PARAMS` if two have the same path, or one is too large or damaged. */
export async function decodeSentFiles(files: readonly SentFile[]): Promise<DecodedFile[]> {
  if (new Set(files.map(({ path }) => path)).size < files.length)
    throw new RpcError('INVALID_PARAMS', 'Two of the files have the same path.');
  const tooLarge = files.find(({ data }) => getBase64ByteLength(data) > COLLECTION_LIMITS.sentFileBytes);
  if (tooLarge) throw new RpcError('INVALID_PARAMS', `${tooLarge.path} is larger than ${COLLECTION_LIMITS.sentFileBytes / 2 ** 20} MB.`);
  return Promise.all(
    files.map(async (file) => {
      const bytes = decode(file);
      return { ...file, bytes, hash: await sha256(bytes) };
    }),
  );
}

interface AddedFiles {
  /** The documents of all files, in their order. */
  all: CollectionDocumentRecord[];
  /** Documents that have to be read. */
  waiting: CollectionDocumentRecord[];
  /** Stores them with their files. */
  change: Parameters<CollectionDocuments['write']>[0];
}

/** The documents that files become: a file with the path of an earlier one replaces it. Throws `INVALID_PARAMS` if they are too many. */
export function toAddedFiles(
  collectionId: string,
  files: readonly DecodedFile[],
  documents: ReadonlyMap<string, CollectionDocumentRecord>,
  now: number,
): AddedFiles {
  const paths = new Set(files.map(({ path }) => path));
  const known = new Map<string, CollectionDocumentRecord>();
  for (const document of documents.values())
    if (document.sourceId === FILES_SOURCE && paths.has(document.path)) known.set(document.path, document);
  if (documents.size + files.length - known.size > COLLECTION_LIMITS.documents)
    throw new RpcError('INVALID_PARAMS', `A collection can have ${COLLECTION_LIMITS.documents} documents. This one has ${documents.size}.`);
  const waiting: CollectionDocumentRecord[] = [];
  const all = files.map(({ path, mimeType, bytes, hash, modifiedAt = null }) => {
    const before = known.get(path);
    if (before?.status === 'indexed' && before.hash === hash) return before;
    const fields = { path, mimeType, size: bytes.length, modifiedAt, blobs: [hash] };
    const { error: _, ...kept } = before ?? createDocument(collectionId, FILES_SOURCE, fields, now);
    const document: CollectionDocumentRecord = { ...kept, ...fields, status: 'waiting' };
    waiting.push(document);
    return document;
  });
  const hashes = new Set(waiting.flatMap(({ blobs = [] }) => blobs));
  return {
    ...{ all, waiting },
    change: {
      put: waiting,
      blobs: files.filter(({ hash }) => hashes.has(hash)).map(({ hash, bytes }) => ({ hash, bytes })),
      releaseBlobs: [...known.values()].flatMap(({ blobs = [] }) => blobs),
    },
  };
}

function decode({ path, data }: SentFile): Uint8Array<ArrayBuffer> {
  try {
    return fromBase64(data);
  } catch {
    throw new RpcError('INVALID_PARAMS', `The data of ${path} is not base64.`);
  }
}
