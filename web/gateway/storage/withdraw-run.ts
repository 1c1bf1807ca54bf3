import { deleteUnusedBlobs } from './blob-store.ts';
import { readPreview } from './session-rows.ts';
import { removeMessage } from './session-totals.ts';
import type { VaultWrite } from './transactions.ts';
import { deleteRunProgress } from './run-progress.ts';

/**
 * Removes a run without results, and the message that it was to answer: the session is as before, or removed if the run had created it. No
 * effect if something follows the message, or the run no longer belongs to this host. Resolves with what was removed.
 */
export async function withdrawRun(
  { tx, remove, getSession, putSession, removeSession }: VaultWrite,
  runId: string,
  origin: string,
): Promise<'message' | 'session' | undefined> {
  const run = await tx.objectStore('runs').get(runId);
  if (!run || run.endedAt !== undefined || (run.executor !== undefined && run.executor !== origin)) return undefined;
  const { sessionKey, userMessageId, startedAt } = run;
  const [session, message] = await Promise.all([getSession(sessionKey), tx.objectStore('messages').get(userMessageId)]);
  if (!session || !message || session.headId !== message.id) return undefined;
  deleteRunProgress(tx, runId);
  await Promise.all([remove('messages', message.id), remove('runs', runId, run.fence)]);
  await deleteUnusedBlobs(tx, message.blobs ?? []);
  const remaining = removeMessage(session, message);
  if (remaining.messageCount === 0 && session.createdAt === startedAt) {
    await removeSession(sessionKey);
    return 'session';
  }
  const headId = message.parentId;
  await putSession({ ...remaining, headId, preview: await readPreview(tx, headId) }, session);
  return 'message';
}
