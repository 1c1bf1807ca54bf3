import { fromBase64, toBase64 } from '#shared/base64.ts';
import { COLLECTION_LIMITS } from '#shared/rpc/methods/collection-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { CollectionDocumentRecord, CollectionRecord } from '../../storage/records/collection-records.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { isDiskSource, type SourceFiles } from './source-files.ts';

/** Whether the bridge can read the file of a document. */
export function isOnDisk({ sources }: CollectionRecord, { sourceId }: CollectionDocumentRecord): boolean {
  const source = sources.find(({ id }) => id === sourceId);
  return source !== undefined && isDiskSource(source) && source.root !== undefined;
}

/** Reads a part of the file of a document, from the vault or the bridge's disk. Throws `NOT_FOUND` if it is in neither. */
export async function readOriginal(
  { vault, sources }: { vault: Pick<Vault, 'documents'>; sources: SourceFiles },
  record: CollectionRecord,
  document: CollectionDocumentRecord,
  offset: number,
  signal: AbortSignal,
): Promise<MethodResult<'collections.original'>> {
  const [hash] = document.blobs ?? [];
  let bytes = hash === undefined ? undefined : await (await vault.documents()).getFile(hash);
  if (!bytes && isOnDisk(record, document)) {
    const file = await sources.read(record, document, signal);
    bytes = typeof file.bytes === 'string' ? fromBase64(file.bytes) : file.bytes;
  }
  if (!bytes) throw new RpcError('NOT_FOUND', 'The file is not kept in the vault: only its text is.');
  const end = Math.min(bytes.length, offset + COLLECTION_LIMITS.originalPartBytes);
  return {
    filename: document.path.split('/').at(-1) ?? document.path,
    mimeType: document.mimeType || 'application/octet-stream',
    size: bytes.length,
    data: toBase64(bytes.subarray(offset, end)),
    next: end < bytes.length ? end : null,
  };
}
