import { OnceEach } from '#shared/sync/once-each.ts';
import type { MessageRecord } from '../core/vault.ts';
import { joinParts } from './parts.ts';
import type { StoredMessage, StoredPart, WriteTransaction } from './schema.ts';
import type { Transactions } from './transaction.ts';

/** Attachments by content hash: those that are not here are fetched from the journal when they are needed, and kept. */
export class Blobs {
  /** Set while there is a journal to ask; resolves with undefined where it does not have it either. */
  fetch: ((hash: string) => Promise<Uint8Array<ArrayBuffer> | undefined>) | undefined;
  readonly #transactions: Transactions;
  /** Several may ask for one that is still on its way. */
  readonly #fetching = new OnceEach<Uint8Array<ArrayBuffer> | undefined>();

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  get(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#transactions.read(['blobs'], async (tx) => (await tx.objectStore('blobs').get(hash))?.bytes);
  }

  /** The messages as they were. An attachment that is nowhere to be had is left empty, and so is one of more than `most` characters of base64. */
  async join(messages: readonly StoredMessage[], most = Infinity): Promise<MessageRecord[]> {
    const wanted = partsOf(messages).flatMap(({ hash, length = 0 }) => (hash !== undefined && length <= most ? hash : []));
    const found = new Map(await Promise.all([...new Set(wanted)].map(async (hash) => [hash, await this.#find(hash)] as const)));
    return messages.map((message) => joinParts(message, (hash) => found.get(hash)));
  }

  async #find(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const here = await this.get(hash);
    if (here) return here;
    return this.#fetching.run(hash, async () => {
      const bytes = await this.fetch?.(hash).catch(() => undefined);
      if (bytes) await this.#transactions.local(['blobs'], (tx) => tx.objectStore('blobs').put({ hash, bytes })).catch(() => {});
      return bytes;
    });
  }
}

const partsOf = (messages: readonly StoredMessage[]): StoredPart[] =>
  messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));

/** Deletes attachments that no message refers to any more. */
export async function forgetBlobs(tx: WriteTransaction, hashes: readonly string[]): Promise<void> {
  await Promise.all(
    [...new Set(hashes)].map(async (hash) => {
      if ((await tx.objectStore('messages').index('blobs').getKey(hash)) === undefined) await tx.objectStore('blobs').delete(hash);
    }),
  );
}
