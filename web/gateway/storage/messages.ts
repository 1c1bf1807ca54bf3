import { RpcError } from '#shared/rpc/errors.ts';
import type { Branch, MessageRecord, Vault } from '../core/vault.ts';
import type { ReadTransaction } from './schema.ts';
import type { Transactions } from './transaction.ts';

/** The messages: trees by `parentId`, read by branch. */
export function messageStore({ transactions }: { transactions: Transactions }): Vault['messages'] {
  return {
    get: (id) => transactions.read(['messages'], (tx) => tx.objectStore('messages').get(id)),

    /** A `before` that is no message of the session is `NOT_FOUND`. */
    branch: (sessionKey, { limit, before }) =>
      transactions.read(['sessions', 'messages'], async (tx) => {
        const end = await endOfPage(tx, sessionKey, before);
        return end && limit > 0 ? readUpwards(tx, end, limit) : { messages: [], more: false };
      }),

    recent: (limit) =>
      transactions.read(['messages'], async (tx) => {
        const found: MessageRecord[] = [];
        if (limit <= 0) return found;
        for (
          let cursor = await tx.objectStore('messages').index('timestamp').openCursor(null, 'prev');
          cursor;
          cursor = await cursor.continue()
        ) {
          found.push(cursor.value);
          if (found.length >= limit) break;
        }
        return found;
      }),
  };
}

/** The last message of the page: the session's head, or the one above `before`. */
async function endOfPage(tx: ReadTransaction, sessionKey: string, before: string | undefined): Promise<MessageRecord | undefined> {
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
async function readUpwards(tx: ReadTransaction, end: MessageRecord, limit: number): Promise<Branch> {
  const { sessionKey, depth } = end;
  const window = IDBKeyRange.bound([sessionKey, Math.max(0, depth - limit + 1)], [sessionKey, depth]);
  const candidates = new Map((await tx.objectStore('messages').index('branch').getAll(window)).map((message) => [message.id, message]));
  const found: MessageRecord[] = [];
  for (let at: MessageRecord | undefined = end; at && found.length < limit; at = candidates.get(at.parentId ?? '')) found.push(at);
  found.reverse();
  return { messages: found, more: found[0]?.parentId != null };
}
