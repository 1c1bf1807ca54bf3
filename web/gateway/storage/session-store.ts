import type { Vault } from './vault-interface.ts';
import type { SessionRecord } from './chat-records.ts';
import { BLOB_STORES, deleteUnusedBlobs } from './blob-store.ts';
import { splitParts } from './message-parts.ts';
import { putMessage } from './run-store.ts';
import { countMessages } from './session-rows.ts';
import type { SessionList } from './session-list.ts';
import { clearMessages, setHead, addMessages } from './session-totals.ts';
import { getSessionRange, type StoreName } from './vault-schema.ts';
import type { Transactions, VaultWrite } from './transactions.ts';
import { deleteRunProgress } from './run-progress.ts';

const CONTENT_STORES: StoreName[] = ['sessions', 'runs', 'partials', 'runSteps', ...BLOB_STORES];

/** The stored sessions. */
export function createSessionStore(deps: {
  clock: { now(): number };
  transactions: Transactions;
  sessions: SessionList;
}): Vault['sessions'] {
  const { clock, transactions, sessions } = deps;
  return {
    list: () => sessions.list(),

    get: (key) => transactions.read(['sessions'], (tx) => tx.objectStore('sessions').get(key)),

    update: (key, change) =>
      transactions.write(['sessions'], async ({ tx, putSession }) => {
        const session = await tx.objectStore('sessions').get(key);
        if (!session) return undefined;
        const changes = typeof change === 'function' ? change(session) : change;
        const updated: SessionRecord = { ...session, ...changes, key, agentId: session.agentId, sessionId: session.sessionId };
        await putSession(updated, session);
        return updated;
      }),

    async add(session, messages) {
      const split = await Promise.all(messages.map(splitParts));
      return transactions.write(CONTENT_STORES, async ({ tx, put, putSession }) => {
        if ((await tx.objectStore('sessions').getKey(session.key)) !== undefined) return false;
        // Another host may have added messages to a deleted session of this key.
        const longer = addMessages({ ...clearMessages(session), ...(await countMessages(tx, session.key)) }, messages);
        await Promise.all([
          ...split.map((message) => putMessage(tx, put, message)),
          putSession(messages.reduce(setHead, longer), undefined),
        ]);
        return true;
      });
    },

    async append(session, appended) {
      const split = await splitParts({ ...appended, parentId: null, depth: 0 });
      return transactions.write(CONTENT_STORES, async ({ tx, put, getSession, putSession }) => {
        const { key } = session;
        const [stored, known, runs] = await Promise.all([
          getSession(key),
          tx.objectStore('messages').getKey(appended.id),
          tx.objectStore('runs').index('session').getAll(key),
        ]);
        if (known !== undefined) return true;
        if (runs.some(({ endedAt }) => endedAt === undefined)) return false;
        const entry = stored ?? { ...clearMessages(session), ...(await countMessages(tx, key)) };
        const head = entry.headId === null ? undefined : await tx.objectStore('messages').get(entry.headId);
        const place = { parentId: head?.id ?? null, depth: head ? head.depth + 1 : 0 };
        const message = { ...appended, ...place };
        await Promise.all([
          putMessage(tx, put, { ...split, message: { ...split.message, ...place } }),
          putSession(
            { ...setHead(addMessages(entry, [message]), message), updatedAt: Math.max(entry.updatedAt, appended.timestamp) },
            stored,
          ),
        ]);
        return true;
      });
    },

    remove: (key) =>
      transactions.write(CONTENT_STORES, async (write) => {
        if ((await write.tx.objectStore('sessions').getKey(key)) === undefined) return false;
        await Promise.all([removeContent(write, key), write.removeSession(key)]);
        return true;
      }),

    clear: (key) =>
      transactions.write(CONTENT_STORES, async (write) => {
        const session = await write.tx.objectStore('sessions').get(key);
        if (!session) return false;
        await Promise.all([removeContent(write, key), write.putSession({ ...clearMessages(session), updatedAt: clock.now() }, session)]);
        return true;
      }),
  };
}

/**
 * Removes the messages, the ended runs, and the partial results of active ones. Active runs stay until the next removal, so that their end
 * can still be stored.
 */
async function removeContent({ tx, remove }: VaultWrite, key: string): Promise<void> {
  const [messages, runs] = await Promise.all([
    tx.objectStore('messages').index('branch').getAll(getSessionRange(key)),
    tx.objectStore('runs').index('session').getAll(key),
  ]);
  const [over, underWay] = [runs.filter(({ endedAt }) => endedAt !== undefined), runs.filter(({ endedAt }) => endedAt === undefined)];
  for (const { id } of underWay) deleteRunProgress(tx, id);
  await Promise.all([...messages.map(({ id }) => remove('messages', id)), ...over.map(({ id, fence }) => remove('runs', id, fence))]);
  await deleteUnusedBlobs(
    tx,
    messages.flatMap(({ blobs = [] }) => blobs),
  );
}
