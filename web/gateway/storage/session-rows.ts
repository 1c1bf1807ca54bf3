import type { SessionRecord } from './chat-records.ts';
import { joinParts } from './message-parts.ts';
import { getSessionRange, type StoredMessage, type WriteTransaction } from './vault-schema.ts';
import { createBareSession, type SessionFields, type SessionHead } from './session-records.ts';
import { getPreview, computeStoredBytes } from './session-totals.ts';

/** Maximum number of messages above the head that are examined for a preview: tool calls and results have none. */
const PREVIEW_DEPTH = 64;

interface PendingSessionRow {
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
  readonly #pendingRows = new Map<string, PendingSessionRow>();

  constructor(tx: WriteTransaction) {
    this.#tx = tx;
  }

  /** `entry`: undefined if it was deleted. `hasHead`: whether there is a head, from this or an earlier change. */
  async setEntry(key: string, entry: SessionFields | undefined, hasHead: () => Promise<boolean>): Promise<void> {
    const pending = await this.#loadPending(key);
    if (!entry && !(await hasHead())) return void (pending.row = undefined);
    const { headId, updatedAt, messageCount, size } = this.#getRow(key, pending);
    pending.row = { ...createBareSession(key), headId, updatedAt, messageCount, size, ...entry };
  }

  async setHead(key: string, head: SessionHead | undefined, hasEntry: () => Promise<boolean>): Promise<void> {
    const pending = await this.#loadPending(key);
    if (!head && !(await hasEntry())) return void (pending.row = undefined);
    pending.row = { ...this.#getRow(key, pending), ...(head ?? { headId: null, updatedAt: 0 }) };
  }

  /** Records that a message of the session was added (1), removed (-1), or changed (0). */
  async countMessage(key: string, count: -1 | 0 | 1, bytes: number): Promise<void> {
    const { row } = await this.#loadPending(key);
    if (!row) return;
    row.messageCount += count;
    row.size += bytes;
  }

  /** Stores the rows, after all messages, and resolves with them; undefined for deleted ones. */
  async store(): Promise<Map<string, SessionRecord | undefined>> {
    const sessions = this.#tx.objectStore('sessions');
    const stored = new Map<string, SessionRecord | undefined>();
    await Promise.all(
      [...this.#pendingRows].map(async ([key, { row, recount }]) => {
        stored.set(key, undefined);
        if (!row) return sessions.delete(key);
        const [sums, preview] = await Promise.all([recount ? countMessages(this.#tx, key) : {}, readPreview(this.#tx, row.headId)]);
        const summed = { ...row, ...sums, preview };
        stored.set(key, summed);
        await sessions.put(summed);
      }),
    );
    return stored;
  }

  #getRow(key: string, pending: PendingSessionRow): SessionRecord {
    if (pending.row) return pending.row;
    pending.recount = true;
    return createBareSession(key);
  }

  async #loadPending(key: string): Promise<PendingSessionRow> {
    const existing = this.#pendingRows.get(key);
    if (existing) return existing;
    const row = await this.#tx.objectStore('sessions').get(key);
    // Another record of the session may have been read in the meantime.
    const pending = this.#pendingRows.get(key) ?? { row, recount: false };
    this.#pendingRows.set(key, pending);
    return pending;
  }
}

/** Current totals over the messages of a session, and its preview. */
export async function computeSums(
  tx: WriteTransaction,
  key: string,
  headId: string | null,
): Promise<Pick<SessionRecord, 'messageCount' | 'size' | 'preview'>> {
  const [sums, preview] = await Promise.all([countMessages(tx, key), readPreview(tx, headId)]);
  return { ...sums, preview };
}

/** Number of messages of a session on every branch, and the bytes of its export. */
export async function countMessages(tx: WriteTransaction, key: string): Promise<Pick<SessionRecord, 'messageCount' | 'size'>> {
  const messages = await tx.objectStore('messages').index('branch').getAll(getSessionRange(key));
  return { messageCount: messages.length, size: messages.reduce((sum, message) => sum + computeStoredBytes(message), 0) };
}

/** Preview text of a session whose branch ends at this message. */
export async function readPreview(tx: WriteTransaction, headId: string | null): Promise<string> {
  let id = headId;
  for (let depth = 0; id !== null && depth < PREVIEW_DEPTH; depth++) {
    const message: StoredMessage | undefined = await tx.objectStore('messages').get(id);
    if (!message) break;
    const preview = getPreview(joinParts(message, () => undefined));
    if (preview) return preview;
    id = message.parentId;
  }
  return '';
}
