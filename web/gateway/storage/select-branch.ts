import type { StoredMessage } from './vault-schema.ts';
import { readPreview } from './session-rows.ts';
import type { VaultWrite } from './transactions.ts';

/**
 * Ends the active branch of a session in the newest message at or below the given one. Resolves with its id; undefined if the session or
 * the message does not exist. `updatedAt` stays: viewing another version does not count as a change.
 */
export async function selectBranch(
  { tx, getSession, putSession }: VaultWrite,
  sessionKey: string,
  id: string,
): Promise<string | undefined> {
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
