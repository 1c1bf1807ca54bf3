import { forgetBlobs } from './blobs.ts';
import { previewOf } from './session-rows.ts';
import { withoutMessage } from './session-totals.ts';
import type { Write } from './transaction.ts';
import { forgetUnderWay } from './under-way.ts';

/**
 * Removes a run without results, and the message that it was to answer: the session is as before, or removed if the run had created it. No
 * effect if something follows the message, or the run no longer belongs to this host. Resolves with what was removed.
 */
export async function withdraw(
  { tx, remove, getSession, putSession, removeSession }: Write,
  runId: string,
  origin: string,
): Promise<'message' | 'session' | undefined> {
  const run = await tx.objectStore('runs').get(runId);
  if (!run || run.endedAt !== undefined || (run.executor !== undefined && run.executor !== origin)) return undefined;
  const { sessionKey, userMessageId, startedAt } = run;
  const [session, message] = await Promise.all([getSession(sessionKey), tx.objectStore('messages').get(userMessageId)]);
  if (!session || !message || session.headId !== message.id) return undefined;
  forgetUnderWay(tx, runId);
  await Promise.all([remove('messages', message.id), remove('runs', runId, run.fence)]);
  await forgetBlobs(tx, message.blobs ?? []);
  const left = withoutMessage(session, message);
  if (left.messageCount === 0 && session.createdAt === startedAt) {
    await removeSession(sessionKey);
    return 'session';
  }
  const headId = message.parentId;
  await putSession({ ...left, headId, preview: await previewOf(tx, headId) }, session);
  return 'message';
}
