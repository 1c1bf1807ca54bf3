import { fromBase64, toBase64 } from '#shared/base64.ts';
import { sha256 } from '#shared/sha256.ts';
import type { MessageRecord } from './chat-records.ts';
import type { VaultSchema, StoredMessage, StoredPart } from './vault-schema.ts';

/** The bytes of one attachment, with its SHA-256 in hex as key. */
type BlobRow = VaultSchema['blobs']['value'];

/**
 * Splits a message into the stored message and its attachments, which are stored separately: they are many times its size, and read only
 * when needed.
 */
export async function splitParts(message: MessageRecord): Promise<{ message: StoredMessage; blobs: BlobRow[] }> {
  const { content } = message;
  if (typeof content === 'string') return { message: { ...message, content }, blobs: [] };
  const blobs: BlobRow[] = [];
  const parts = await Promise.all(
    content.map(async (part): Promise<StoredPart> => {
      if (part.type === 'text' || part.data === '') return part;
      const blob = await toBlobRow(part.data);
      blobs.push(blob);
      return { ...part, data: '', hash: blob.hash, length: 4 * Math.ceil(blob.bytes.length / 3) };
    }),
  );
  const stored: StoredMessage = { ...message, content: parts };
  if (blobs.length > 0) stored.blobs = [...new Set(blobs.map(({ hash }) => hash))];
  return { message: stored, blobs };
}

/** Restores the message. An attachment that `bytesOf` does not find has no data. */
export function joinParts(stored: StoredMessage, bytesOf: (hash: string) => Uint8Array | undefined): MessageRecord {
  const { blobs: _, content, ...message } = stored;
  if (typeof content === 'string') return { ...message, content };
  const parts = content.map(({ hash, length: _length, ...part }) => {
    const bytes = hash === undefined ? undefined : bytesOf(hash);
    return bytes && part.type !== 'text' ? { ...part, data: toBase64(bytes) } : part;
  });
  return { ...message, content: parts };
}

async function toBlobRow(base64: string): Promise<BlobRow> {
  const bytes = fromBase64(base64);
  return { hash: await sha256(bytes), bytes };
}
