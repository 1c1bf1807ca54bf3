import { SingleFlight } from '#shared/sync/single-flight.ts';
import type { MessageRecord } from './chat-records.ts';
import { joinParts } from './message-parts.ts';
import type { StoredMessage, StoredPart, WriteTransaction } from './vault-schema.ts';
import type { Transactions } from './transactions.ts';

/** Attachments by content hash: missing ones are fetched from the journal when they are needed, and stored. */
export class BlobStore {
  /** Set while there is a journal; resolves with undefined if it does not have the attachment either. */
  fetchMissing: ((hash: string) => Promise<Uint8Array<ArrayBuffer> | undefined>) | undefined;
  readonly #transactions: Transactions;
  /** Coalesces requests for an attachment that is being fetched. */
  readonly #fetching = new SingleFlight<Uint8Array<ArrayBuffer> | undefined>();

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  get(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#transactions.read(['blobs'], async (tx) => (await tx.objectStore('blobs').get(hash))?.bytes);
  }

  /**
   * Restores the messages with their attachments. An attachment that is unavailable, or has more than `maxChars` characters of base64, is left
   * empty.
   */
  async joinMessages(messages: readonly StoredMessage[], maxChars = Infinity): Promise<MessageRecord[]> {
    const hashes = getParts(messages).flatMap(({ hash, length = 0 }) => (hash !== undefined && length <= maxChars ? hash : []));
    const found = new Map(await Promise.all([...new Set(hashes)].map(async (hash) => [hash, await this.find(hash)] as const)));
    return messages.map((message) => joinParts(message, (hash) => found.get(hash)));
  }

  /** Bytes of an attachment, from the journal if they are not here. */
  async find(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const stored = await this.get(hash);
    if (stored) return stored;
    return this.#fetching.run(hash, async () => {
      const bytes = await this.fetchMissing?.(hash).catch(() => undefined);
      if (bytes) await this.#transactions.writeLocal(['blobs'], (tx) => tx.objectStore('blobs').put({ hash, bytes })).catch(() => {});
      return bytes;
    });
  }
}

const getParts = (messages: readonly StoredMessage[]): StoredPart[] =>
  messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));

/** Stores that refer to attachments: `deleteUnusedBlobs` needs them. */
export const BLOB_STORES = ['blobs', 'messages', 'trashRecords', 'collectionDocuments'] as const;

/** Deletes attachments that no message refers to any more, nor one in the trash, nor a document of a collection. */
export async function deleteUnusedBlobs(tx: WriteTransaction, hashes: readonly string[]): Promise<void> {
  await Promise.all(
    [...new Set(hashes)].map(async (hash) => {
      const references = await Promise.all([
        tx.objectStore('messages').index('blobs').getKey(hash),
        tx.objectStore('trashRecords').index('blobs').getKey(hash),
        tx.objectStore('collectionDocuments').index('blobs').getKey(hash),
      ]);
      if (references.every((key) => key === undefined)) await tx.objectStore('blobs').delete(hash);
    }),
  );
}
