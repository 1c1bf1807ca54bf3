import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Vault } from './vault-interface.ts';
import type { Branch, MessageRecord, RecallReply } from './chat-records.ts';
import type { BlobStore } from './blob-store.ts';
import { joinParts } from './message-parts.ts';
import { computeStoredBytes } from './session-totals.ts';
import { getSessionRange, type ReadTransaction, type StoredMessage } from './vault-schema.ts';
import type { Transactions, VaultWrite } from './transactions.ts';
import { readPreview } from './session-rows.ts';

/** Number of messages per read when all are read. */
const BATCH_SIZE = 250;

/** The messages: trees by `parentId`, read by branch. */
export function createMessageStore({ transactions, blobs }: { transactions: Transactions; blobs: BlobStore }): Vault['messages'] {
  return {
    async get(id) {
      const [message] = await blobs.joinMessages(
        await transactions.read(['messages'], async (tx) => toList(await tx.objectStore('messages').get(id))),
      );
      return message;
    },

    /** Rejects with `NOT_FOUND` if `before` is not a message of the session. */
    async branch(sessionKey, { limit, before, most }) {
      const page = await transactions.read(['sessions', 'messages'], async (tx) => {
        const end = await findPageEnd(tx, sessionKey, before);
        return end && limit > 0 ? readBranchUpwards(tx, end, limit) : { messages: [], more: false, versions: {} };
      });
      return { ...page, messages: await blobs.joinMessages(page.messages, most), unread: countUnreadChars(page.messages, most) };
    },

    selectBranch: (sessionKey, id) => transactions.write(['sessions', 'messages'], (write) => selectBranch(write, sessionKey, id)),

    async listAll(sessionKey) {
      const found = await transactions.read(['messages'], (tx) =>
        tx.objectStore('messages').index('branch').getAll(getSessionRange(sessionKey)),
      );
      return blobs.joinMessages(found);
    },

    compact: (id, compaction) =>
      transactions.write(['sessions', 'messages'], async ({ tx, put, putSession }) => {
        const stored = await tx.objectStore('messages').get(id);
        const session = stored && (await tx.objectStore('sessions').get(stored.sessionKey));
        if (!stored || !session) return false;
        const updated = { ...stored, compaction };
        const size = session.size + computeStoredBytes(updated) - computeStoredBytes(stored);
        await Promise.all([put('messages', id, updated), putSession({ ...session, size }, session)]);
        return true;
      }),

    setRunContext: (id, runContext) =>
      transactions.write(
        ['messages'],
        async ({ tx, put }) => {
          const stored = await tx.objectStore('messages').get(id);
          if (stored) await put('messages', id, { ...stored, runContext });
        },
        'relaxed',
      ),

    async removeMemoryLines(memoryId) {
      const quotingIds: string[] = [];
      // In batches, so that writers wait for one of them and not for all (3.5 s for 100,000 messages).
      for (let after: string | undefined; ;) {
        const range = after === undefined ? undefined : IDBKeyRange.lowerBound(after, true);
        const batch = await transactions.read(['messages'], (tx) => tx.objectStore('messages').getAll(range, BATCH_SIZE));
        for (const { id, runContext } of batch) if (runContext?.memories?.[memoryId] !== undefined) quotingIds.push(id);
        if (batch.length < BATCH_SIZE) break;
        after = batch.at(-1)?.id;
      }
      if (quotingIds.length === 0) return;
      await transactions.write(['messages'], async ({ tx, put }) => {
        for (const id of quotingIds) {
          const stored = await tx.objectStore('messages').get(id);
          const { [memoryId]: line, ...memories } = stored?.runContext?.memories ?? {};
          if (!stored?.runContext || line === undefined) continue;
          const text = stored.runContext.text.replace(`${line}\n`, '');
          await put('messages', id, { ...stored, runContext: { ...stored.runContext, text, memories } });
        }
      });
    },

    review: (ids) =>
      transactions.write(['sessions', 'messages'], async ({ tx, put, putSession }) => {
        for (const id of ids) {
          const stored = await tx.objectStore('messages').get(id);
          const session = stored && (await tx.objectStore('sessions').get(stored.sessionKey));
          if (!stored || !session) continue;
          const { compaction, runContext } = stored;
          const updated = {
            ...stored,
            outside: [],
            ...(compaction ? { compaction: { ...compaction, outside: [] } } : {}),
            ...(runContext ? { runContext: { ...runContext, outside: [] } } : {}),
          };
          const size = session.size + computeStoredBytes(updated) - computeStoredBytes(stored);
          await Promise.all([put('messages', id, updated), putSession({ ...session, size }, session)]);
        }
      }),

    /** Also without attachments. */
    listFrom: (at, limit) =>
      transactions.read(['messages'], async (tx) => {
        const found = limit > 0 ? await tx.objectStore('messages').index('timestamp').getAll(IDBKeyRange.lowerBound(at), limit) : [];
        return found.map((message) => joinParts(message, () => undefined));
      }),

    /** Used for their text: attachments are left out. */
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

    listBetween: (from, to) =>
      transactions.read(['messages'], async (tx) => {
        const found = await tx
          .objectStore('messages')
          .index('timestamp')
          .getAll(IDBKeyRange.bound(from, to, false, true));
        return found.map((message) => joinParts(message, () => undefined));
      }),

    countSpans: (spans) =>
      transactions.read(['messages'], (tx) => {
        const times = tx.objectStore('messages').index('timestamp');
        return Promise.all(
          spans.map(async ({ from, to }) => {
            const range = IDBKeyRange.bound(from, to, false, true);
            const [count, newest] = await Promise.all([times.count(range), times.openKeyCursor(range, 'prev')]);
            return { count, newest: newest?.key ?? null };
          }),
        );
      }),

    listRecalled: ({ before, limit, accepts }) =>
      transactions.read(['messages'], async (tx) => {
        const messages = tx.objectStore('messages');
        const replies: RecallReply[] = [];
        let [examined, next]: [number, number | null] = [0, null];
        let cursor = await messages.index('timestamp').openCursor(IDBKeyRange.upperBound(before, true), 'prev');
        for (; cursor; cursor = await cursor.continue()) {
          const { value, key } = cursor;
          // Replies with the same time stay on one page.
          if (next !== null && key < next) break;
          if (value.recalled && value.recalled.length > 0 && accepts(value.sessionKey)) {
            const question = value.parentId === null ? undefined : await findQuestion(messages, value.parentId);
            replies.push({ reply: joinParts(value, () => undefined), question: question && joinParts(question, () => undefined) });
          }
          if (replies.length >= limit || ++examined >= MAX_EXAMINED) next = key;
        }
        return { replies, next: cursor ? next : null };
      }),
  };
}

/** For messages whose attachments exceed `maxChars` characters: the number of characters. */
function countUnreadChars(messages: readonly StoredMessage[], maxChars = Infinity): Branch['unread'] {
  return Object.fromEntries(
    messages.flatMap(({ id, role, content }) => {
      const lengths = typeof content === 'string' || role === 'tool' ? [] : content.map(({ length = 0 }) => length);
      const unread = lengths.filter((length) => length > maxChars).reduce((sum, length) => sum + length, 0);
      return unread > 0 ? [[id, unread]] : [];
    }),
  );
}

/** Maximum number of messages examined for one page of recalled replies. */
const MAX_EXAMINED = 5000;
/** Maximum number of tool calls and results between a message and its reply. */
const MAX_STEPS_BETWEEN = 100;

/** The person's message above a reply. */
async function findQuestion(
  messages: { get(id: string): Promise<StoredMessage | undefined> },
  parentId: string,
): Promise<StoredMessage | undefined> {
  let id: string | null = parentId;
  for (let steps = 0; id !== null && steps < MAX_STEPS_BETWEEN; steps++) {
    const message: StoredMessage | undefined = await messages.get(id);
    if (!message || message.role === 'user') return message;
    id = message.parentId;
  }
  return undefined;
}

/** The last message of the page: the session's head, or the one above `before`. */
async function findPageEnd(tx: ReadTransaction, sessionKey: string, before: string | undefined): Promise<StoredMessage | undefined> {
  const messages = tx.objectStore('messages');
  if (before === undefined) {
    const headId = (await tx.objectStore('sessions').get(sessionKey))?.headId;
    return headId == null ? undefined : messages.get(headId);
  }
  const next = await messages.get(before);
  if (next?.sessionKey !== sessionKey) throw new RpcError('NOT_FOUND', `No message with id "${before}" in this session (\`before\`).`);
  return next.parentId === null ? undefined : messages.get(next.parentId);
}

/**
 * The branch that ends in `end`. Depth increases by one from parent to child, so on any branch the last `limit` messages are among the
 * session's messages of the `limit` depths up to that of `end`: one read of a range of the index.
 */
async function readBranchUpwards(
  tx: ReadTransaction,
  end: StoredMessage,
  limit: number,
): Promise<Omit<Branch, 'messages' | 'unread'> & { messages: StoredMessage[] }> {
  const { sessionKey, depth } = end;
  const window = IDBKeyRange.bound([sessionKey, Math.max(0, depth - limit + 1)], [sessionKey, depth]);
  const candidates = new Map((await tx.objectStore('messages').index('branch').getAll(window)).map((message) => [message.id, message]));
  const found: StoredMessage[] = [];
  for (let message: StoredMessage | undefined = end; message && found.length < limit; message = candidates.get(message.parentId ?? ''))
    found.push(message);
  found.reverse();
  return { messages: found, more: found[0]?.parentId != null, versions: getVersions(found, candidates.values()) };
}

/** Sibling messages of a branch, from all messages of its depths. */
function getVersions(branch: readonly StoredMessage[], all: Iterable<StoredMessage>): Branch['versions'] {
  const siblings = Map.groupBy(all, ({ parentId }) => parentId);
  const versions: Branch['versions'] = {};
  for (const { id, parentId } of branch) {
    const siblingMessages = siblings.get(parentId) ?? [];
    if (siblingMessages.length > 1)
      versions[id] = siblingMessages.toSorted((a, b) => a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1)).map((version) => version.id);
  }
  return versions;
}

const toList = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value]);

/**
 * Ends the active branch of a session in the newest message at or below the given one. Resolves with its id; undefined if the session or
 * the message does not exist. `updatedAt` stays: viewing another version does not count as a change.
 */
async function selectBranch({ tx, getSession, putSession }: VaultWrite, sessionKey: string, id: string): Promise<string | undefined> {
  const messages = tx.objectStore('messages');
  const [session, chosen] = await Promise.all([getSession(sessionKey), messages.get(id)]);
  if (!session || chosen?.sessionKey !== sessionKey) return undefined;
  const from = IDBKeyRange.bound([sessionKey, chosen.depth + 1], [sessionKey, []]);
  const headId = findNewestBelow(chosen, await messages.index('branch').getAll(from)).id;
  if (headId !== session.headId) await putSession({ ...session, headId, preview: await readPreview(tx, headId) }, session);
  return headId;
}

/** The end of the branch with the newest message. `messagesByDepth`: deeper messages by depth. */
function findNewestBelow(top: StoredMessage, messagesByDepth: readonly StoredMessage[]): StoredMessage {
  const descendants = new Set([top.id]);
  const parents = new Set<string>();
  const found = [top];
  for (const message of messagesByDepth) {
    if (message.parentId === null || !descendants.has(message.parentId)) continue;
    descendants.add(message.id);
    parents.add(message.parentId);
    found.push(message);
  }
  const ends = found.filter(({ id }) => !parents.has(id));
  return ends.reduce((last, end) => (end.timestamp >= last.timestamp ? end : last), ends[0] ?? top);
}
