import { RpcError } from '#shared/rpc/errors.ts';
import type { MessageRecord, RunOutcome, RunRecord, Vault } from '../core/vault.ts';
import { emptied, withHead, withMessages } from './session-totals.ts';
import type { WriteTransaction } from './schema.ts';
import { putUsage } from './usage.ts';
import type { Transactions, Write } from './transaction.ts';

/** The runs, and what they leave in their session. */
export function runStore({ transactions }: { transactions: Transactions }): Vault['runs'] {
  return {
    /**
     * Of an entry that exists only head, totals and `updatedAt` change (and an empty title is filled): what else `session` says may be
     * older than a change made meanwhile. `NOT_FOUND` where the message to answer, or the one above it, is gone. A run that began already
     * is not begun twice.
     */
    begin: ({ session, message, run }) =>
      transactions.write(['sessions', 'messages', 'runs', 'partials'], async ({ tx, put }) => {
        const answeredId = message ? message.parentId : run.userMessageId;
        const [begun, stored, above] = await Promise.all([
          tx.objectStore('runs').getKey(run.id),
          tx.objectStore('sessions').get(session.key),
          answeredId === null ? undefined : tx.objectStore('messages').get(answeredId),
        ]);
        if (begun !== undefined) return;
        if (answeredId !== null && above?.sessionKey !== session.key) {
          throw new RpcError('NOT_FOUND', 'The message that this one follows is gone from the session');
        }
        const entry = stored ? { ...stored, title: stored.title || session.title } : emptied(session);
        const head = message ?? above;
        const longer = message ? withMessages(entry, [message]) : entry;
        const updated = head ? withHead(longer, head) : longer;
        await Promise.all([
          message && put('messages', message.id, message),
          put('runs', run.id, { ...run, partial: '' }),
          putPartial(tx, run.id, run.partial),
          put('sessions', session.key, { ...updated, updatedAt: Math.max(entry.updatedAt, run.startedAt) }),
        ]);
      }),

    /** Of no effect once the run has ended, or its session was removed or reset. */
    savePartial: (runId, partial) =>
      transactions.write(
        ['partials'],
        async ({ tx }) => {
          if ((await tx.objectStore('partials').getKey(runId)) !== undefined) await putPartial(tx, runId, partial);
        },
        'relaxed',
      ),

    /** A run that has ended already is not ended twice. */
    finish: (outcome) => transactions.write(['sessions', 'messages', 'runs', 'partials', 'usage'], (write) => finish(write, outcome)),

    unfinished: () =>
      transactions.read(['runs', 'partials'], async (tx) => {
        const status = tx.objectStore('runs').index('status');
        const [queued, running, partials] = await Promise.all([
          status.getAll('queued'),
          status.getAll('running'),
          tx.objectStore('partials').getAll(),
        ]);
        const texts = new Map(partials.map(({ runId, text }) => [runId, text]));
        return [...queued, ...running]
          .map((run) => ({ ...run, partial: texts.get(run.id) ?? '' }))
          .sort((a, b) => a.startedAt - b.startedAt);
      }),
  };
}

async function finish(write: Write, outcome: RunOutcome): Promise<void> {
  const { tx, put } = write;
  const { runId, status, endedAt, usage } = outcome;
  const run = await tx.objectStore('runs').get(runId);
  if (run?.endedAt !== undefined) return;
  await Promise.all([
    usage && putUsage(put, [usage]),
    run && put('runs', runId, { ...run, status, endedAt }),
    run && forgetPartial(tx, runId),
    run && append(write, run, outcome),
  ]);
}

/** Adds the run's messages to its session, unless that was removed or reset meanwhile. */
async function append({ tx, put }: Write, run: RunRecord, { endedAt, messages }: RunOutcome): Promise<void> {
  const [session, question] = await Promise.all([
    tx.objectStore('sessions').get(run.sessionKey),
    tx.objectStore('messages').getKey(run.userMessageId),
  ]);
  if (!session || question === undefined) return;
  const [first] = messages;
  const follows = first && (await isBelow(tx, first, session.headId));
  const longer = withMessages(session, messages);
  const updated = follows ? messages.reduce(withHead, longer) : longer;
  await Promise.all([
    ...messages.map((message) => put('messages', message.id, message)),
    put('sessions', session.key, { ...updated, updatedAt: Math.max(session.updatedAt, endedAt) }),
  ]);
}

/** Whether the head is among the messages above `message`: if not, the session went on elsewhere (an edit, say) while the run was under way. */
async function isBelow(tx: WriteTransaction, message: MessageRecord, headId: string | null): Promise<boolean> {
  if (message.parentId === headId) return true;
  const messages = tx.objectStore('messages');
  const head = headId === null ? undefined : await messages.get(headId);
  let at: MessageRecord | undefined = message;
  while (head && at && at.depth > head.depth) at = at.parentId === null ? undefined : await messages.get(at.parentId);
  return head !== undefined && at?.id === head.id;
}

async function putPartial(tx: WriteTransaction, runId: string, text: string): Promise<void> {
  await tx.objectStore('partials').put({ runId, text });
}

async function forgetPartial(tx: WriteTransaction, runId: string): Promise<void> {
  await tx.objectStore('partials').delete(runId);
}
