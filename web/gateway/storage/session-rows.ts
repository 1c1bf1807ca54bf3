import type { SessionRecord } from '../core/vault.ts';
import { joinParts } from './parts.ts';
import { inSession, type StoredMessage, type WriteTransaction } from './schema.ts';
import { bareSession, type EntryPart, type HeadPart } from './session-parts.ts';
import { previewAt, storedBytes } from './session-totals.ts';

/** Maximum number of messages above the head that are examined for a preview: tool calls and results have none. */
const PREVIEW_DEPTH = 64;

interface Touched {
  /** Undefined if there is no such session. */
  row: SessionRecord | undefined;
  /** Whether count and size must be derived from the messages, since the row may be wrong. */
  recount: boolean;
}

/**
 * The rows of sessions while records of other hosts are applied. A row consists of two records, either of which may be missing, and of
 * totals over the messages. These are never taken from another host, so that they are right whatever the order of arrival.
 */
export class SessionRows {
  readonly #tx: WriteTransaction;
  readonly #touched = new Map<string, Touched>();

  constructor(tx: WriteTransaction) {
    this.#tx = tx;
  }

  /** `entry`: undefined if it was deleted. `headLives`: whether there is a head, from this or an earlier change. */
  async setEntry(key: string, entry: EntryPart | undefined, headLives: () => Promise<boolean>): Promise<void> {
    const touched = await this.#touch(key);
    if (!entry && !(await headLives())) return void (touched.row = undefined);
    const { headId, updatedAt, messageCount, size } = this.#rowOf(key, touched);
    touched.row = { ...bareSession(key), headId, updatedAt, messageCount, size, ...entry };
  }

  async setHead(key: string, head: HeadPart | undefined, entryLives: () => Promise<boolean>): Promise<void> {
    const touched = await this.#touch(key);
    if (!head && !(await entryLives())) return void (touched.row = undefined);
    touched.row = { ...this.#rowOf(key, touched), ...(head ?? { headId: null, updatedAt: 0 }) };
  }

  /** Records that a message of the session was added (1), removed (-1), or changed (0). */
  async message(key: string, count: -1 | 0 | 1, bytes: number): Promise<void> {
    const { row } = await this.#touch(key);
    if (!row) return;
    row.messageCount += count;
    row.size += bytes;
  }

  /** Stores the rows, after all messages, and resolves with them; undefined for deleted ones. */
  async store(): Promise<Map<string, SessionRecord | undefined>> {
    const sessions = this.#tx.objectStore('sessions');
    const stored = new Map<string, SessionRecord | undefined>();
    await Promise.all(
      [...this.#touched].map(async ([key, { row, recount }]) => {
        stored.set(key, undefined);
        if (!row) return sessions.delete(key);
        const [sums, preview] = await Promise.all([recount ? countOf(this.#tx, key) : {}, previewOf(this.#tx, row.headId)]);
        const summed = { ...row, ...sums, preview };
        stored.set(key, summed);
        await sessions.put(summed);
      }),
    );
    return stored;
  }

  #rowOf(key: string, touched: Touched): SessionRecord {
    if (touched.row) return touched.row;
    touched.recount = true;
    return bareSession(key);
  }

  async #touch(key: string): Promise<Touched> {
    const known = this.#touched.get(key);
    if (known) return known;
    const row = await this.#tx.objectStore('sessions').get(key);
    // Another record of the session may have been read in the meantime.
    const touched = this.#touched.get(key) ?? { row, recount: false };
    this.#touched.set(key, touched);
    return touched;
  }
}

/** Current totals over the messages of a session, and its preview. */
export async function sumsOf(
  tx: WriteTransaction,
  key: string,
  headId: string | null,
): Promise<Pick<SessionRecord, 'messageCount' | 'size' | 'preview'>> {
  const [sums, preview] = await Promise.all([countOf(tx, key), previewOf(tx, headId)]);
  return { ...sums, preview };
}

/** Number of messages of a session on every branch, and the bytes of its export. */
export async function countOf(tx: WriteTransaction, key: string): Promise<Pick<SessionRecord, 'messageCount' | 'size'>> {
  const messages = await tx.objectStore('messages').index('branch').getAll(inSession(key));
  return { messageCount: messages.length, size: messages.reduce((sum, message) => sum + storedBytes(message), 0) };
}

/** Preview text of a session whose branch ends at this message. */
export async function previewOf(tx: WriteTransaction, headId: string | null): Promise<string> {
  let id = headId;
  for (let depth = 0; id !== null && depth < PREVIEW_DEPTH; depth++) {
    const message: StoredMessage | undefined = await tx.objectStore('messages').get(id);
    if (!message) break;
    const preview = previewAt(joinParts(message, () => undefined));
    if (preview) return preview;
    id = message.parentId;
  }
  return '';
}
