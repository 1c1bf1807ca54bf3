import type { MessageRecord } from '../core/vault.ts';
import { joinParts } from './parts.ts';
import type { StoredMessage, WriteTransaction } from './schema.ts';
import type { Transactions } from './transaction.ts';

/** Attachments by content hash: those that are not here are fetched from the journal when they are needed, and kept. */
export class Blobs {
  /** Set while there is a journal to ask; resolves with undefined where it does not have it either. */
  fetch: ((hash: string) => Promise<Uint8Array<ArrayBuffer> | undefined>) | undefined;
  readonly #transactions: Transactions;

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  get(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#transactions.read(['blobs'], async (tx) => (await tx.objectStore('blobs').get(hash))?.bytes);
  }

  /** The messages as they were. An attachment that is nowhere to be had is left empty. */
  async join(messages: readonly StoredMessage[]): Promise<MessageRecord[]> {
    const hashes = [...new Set(messages.flatMap(({ blobs = [] }) => blobs))];
    const found = new Map(await Promise.all(hashes.map(async (hash) => [hash, await this.#find(hash)] as const)));
    return messages.map((message) => joinParts(message, (hash) => found.get(hash)));
  }

  async #find(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const here = await this.get(hash);
    if (here) return here;
    const bytes = await this.fetch?.(hash).catch(() => undefined);
    if (bytes) await this.#transactions.local(['blobs'], (tx) => tx.objectStore('blobs').put({ hash, bytes })).catch(() => {});
    return bytes;
  }
}

/** Deletes attachments that no message refers to any more. */
export async function forgetBlobs(tx: WriteTransaction, hashes: readonly string[]): Promise<void> {
  await Promise.all(
    [...new Set(hashes)].map(async (hash) => {
      if ((await tx.objectStore('messages').index('blobs').getKey(hash)) === undefined) await tx.objectStore('blobs').delete(hash);
    }),
  );
}
