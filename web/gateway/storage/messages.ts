import { RpcError } from '#shared/rpc/errors.ts';
import type { MessageRecord, Vault } from '../core/vault.ts';
import type { Blobs } from './blobs.ts';
import { joinParts } from './parts.ts';
import { inSession, type ReadTransaction, type StoredMessage } from './schema.ts';
import type { Transactions } from './transaction.ts';

/** The messages: trees by `parentId`, read by branch. */
export function messageStore({ transactions, blobs }: { transactions: Transactions; blobs: Blobs }): Vault['messages'] {
  return {
    async get(id) {
      const [message] = await blobs.join(
        await transactions.read(['messages'], async (tx) => listed(await tx.objectStore('messages').get(id))),
      );
      return message;
    },

    /** A `before` that is no message of the session is `NOT_FOUND`. */
    async branch(sessionKey, { limit, before }) {
      const page = await transactions.read(['sessions', 'messages'], async (tx) => {
        const end = await endOfPage(tx, sessionKey, before);
        return end && limit > 0 ? readUpwards(tx, end, limit) : { messages: [], more: false };
      });
      return { messages: await blobs.join(page.messages), more: page.more };
    },

    async all(sessionKey) {
      const found = await transactions.read(['messages'], (tx) => tx.objectStore('messages').index('branch').getAll(inSession(sessionKey)));
      return blobs.join(found);
    },

    /** For their text: attachments are left out. */
    recent: (limit) =>
      transactions.read(['messages'], async (tx) => {
        const found: MessageRecord[] = [];
        if (limit <= 0) return found;
        for (
          let cursor = await tx.objectStore('messages').index('timestamp').openCursor(null, 'prev');
          cursor;
          cursor = await cursor.continue()
        ) {
          found.push(joinParts(cursor.value, () => undefined));
          if (found.length >= limit) break;
        }
        return found;
      }),
  };
}

/** The last message of the page: the session's head, or the one above `before`. */
async function endOfPage(tx: ReadTransaction, sessionKey: string, before: string | undefined): Promise<StoredMessage | undefined> {
  const messages = tx.objectStore('messages');
  if (before === undefined) {
    const headId = (await tx.objectStore('sessions').get(sessionKey))?.headId;
    return headId == null ? undefined : messages.get(headId);
  }
  const below = await messages.get(before);
  if (below?.sessionKey !== sessionKey) throw new RpcError('NOT_FOUND', 'No such message in this session');
  return below.parentId === null ? undefined : messages.get(below.parentId);
}

/**
 * The branch that ends in `end`. Depth grows by one from parent to child, so whatever branch it is, its last `limit` messages are
 * among those of the session with the `limit` depths up to that of `end`: one read of the index, of a window only.
 */
async function readUpwards(tx: ReadTransaction, end: StoredMessage, limit: number): Promise<{ messages: StoredMessage[]; more: boolean }> {
  const { sessionKey, depth } = end;
  const window = IDBKeyRange.bound([sessionKey, Math.max(0, depth - limit + 1)], [sessionKey, depth]);
  const candidates = new Map((await tx.objectStore('messages').index('branch').getAll(window)).map((message) => [message.id, message]));
  const found: StoredMessage[] = [];
  for (let at: StoredMessage | undefined = end; at && found.length < limit; at = candidates.get(at.parentId ?? '')) found.push(at);
  found.reverse();
  return { messages: found, more: found[0]?.parentId != null };
}

const listed = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value]);
