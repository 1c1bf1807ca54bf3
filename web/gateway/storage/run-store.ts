import { BLOB_STORES } from './blob-store.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Vault } from './vault-interface.ts';
import type { MessageRecord, RunOutcome, RunRecord } from './chat-records.ts';
import { countMessages } from './session-rows.ts';
import { clearMessages, setHead, addMessages, removeMessage } from './session-totals.ts';
import { joinParts, splitParts } from './message-parts.ts';
import type { StoreName, WriteTransaction } from './vault-schema.ts';
import { putInStore } from './store-requests.ts';
import { storeUsage } from './usage-log.ts';
import type { Transactions, VaultWrite } from './transactions.ts';
import { deleteRunProgress, getStepsRange, joinResults } from './run-progress.ts';
import { withdrawRun } from './withdraw-run.ts';

const CONTENT_STORES: StoreName[] = ['sessions', 'runs', 'partials', 'runSteps', ...BLOB_STORES];
/** A new run is known to no other host; taking it over requires a higher fence (shared/ports/journal-port.ts, `lease.take`). */
const FIRST_FENCE = 1;

type SplitMessage = Awaited<ReturnType<typeof splitParts>>;

interface RunStoreDeps {
  transactions: Transactions;
  replica: string;
  origin: string;
}

/** The runs, and their results in sessions. */
export function createRunStore({ transactions, replica, origin }: RunStoreDeps): Vault['runs'] {
  return {
    /**
     * For an existing session only head, totals and `updatedAt` change (and an empty title is filled), since the rest of `session` may be
     * outdated. A new session includes messages that another host added to a deleted chat of the same key. Rejects with `NOT_FOUND` if the
     * message to answer, or its parent, does not exist. A run that exists already is not started again.
     */
    async begin({ session, message, run }) {
      const split = message && (await splitParts(message));
      await transactions.write(CONTENT_STORES, async ({ tx, put, getSession, putSession }) => {
        const answeredId = message ? message.parentId : run.userMessageId;
        const [begun, stored, same, parent] = await Promise.all([
          tx.objectStore('runs').getKey(run.id),
          getSession(session.key),
          message && tx.objectStore('messages').get(message.id),
          answeredId === null ? undefined : tx.objectStore('messages').get(answeredId),
        ]);
        if (begun !== undefined) return;
        if (answeredId !== null && parent?.sessionKey !== session.key) {
          throw new RpcError('NOT_FOUND', 'The previous message was deleted from the session.');
        }
        const entry = stored
          ? { ...stored, title: stored.title || session.title }
          : { ...clearMessages(session), ...(await countMessages(tx, session.key)) };
        // The same call was tried at another host, whose message has been synced: it is already counted.
        const before = same ? removeMessage(entry, same) : entry;
        const head = message ?? (parent && joinParts(parent, () => undefined));
        const longer = message ? addMessages(before, [message]) : before;
        const updated = head ? setHead(longer, head) : longer;
        putInStore(tx, 'partials', { runId: run.id, text: run.partial });
        await Promise.all([
          split && putMessage(tx, put, split),
          put('runs', run.id, { ...run, partial: '', replica, executor: origin, fence: FIRST_FENCE }, FIRST_FENCE),
          putSession({ ...updated, updatedAt: Math.max(entry.updatedAt, run.startedAt) }, stored),
        ]);
      });
    },

    /** No effect once the run has ended, or its session was removed or reset. */
    savePartial: (runId, partial, shared) =>
      transactions.write(
        ['partials', 'runs'],
        async ({ tx, put }) => {
          const [key, run] = await Promise.all([tx.objectStore('partials').getKey(runId), tx.objectStore('runs').get(runId)]);
          if (key === undefined) return;
          putInStore(tx, 'partials', { runId, text: partial });
          const isOwn = run !== undefined && run.endedAt === undefined && run.executor === origin;
          if (isOwn && shared !== undefined) await put('runs', runId, { ...run, partial: shared }, run.fence);
        },
        'relaxed',
      ),

    /** Also without effect then. From now on the partial text is that of the next step. */
    saveStep: (step) =>
      transactions.write(
        ['partials', 'runSteps'],
        async ({ tx }) => {
          if ((await tx.objectStore('partials').getKey(step.runId)) === undefined) return;
          putInStore(tx, 'runSteps', step);
          putInStore(tx, 'partials', { runId: step.runId, text: '' });
        },
        'relaxed',
      ),

    saveResult: (result) =>
      transactions.write(
        ['partials', 'runSteps'],
        async ({ tx }) => {
          if ((await tx.objectStore('partials').getKey(result.runId)) !== undefined) putInStore(tx, 'runSteps', result);
        },
        'relaxed',
      ),

    saveProgress: (runId, progress) =>
      transactions.write(
        ['partials', 'runs'],
        async ({ tx, put }) => {
          const [key, run] = await Promise.all([tx.objectStore('partials').getKey(runId), tx.objectStore('runs').get(runId)]);
          const isOwn = key !== undefined && run !== undefined && run.endedAt === undefined && run.executor === origin;
          if (isOwn) await put('runs', runId, { ...run, progress }, run.fence);
        },
        'relaxed',
      ),

    async steps(runId) {
      return joinResults(await transactions.read(['runSteps'], (tx) => tx.objectStore('runSteps').getAll(getStepsRange(runId))));
    },

    /**
     * A run that has already ended is not ended again. If another host has taken it over, this host's messages are stored as a branch, and
     * the run stays unchanged.
     */
    async finish(outcome) {
      const replies = await Promise.all(outcome.messages.map(splitParts));
      await transactions.write([...CONTENT_STORES, 'usage'], (write) => finishRun(write, outcome, replies, origin));
    },

    withdraw: (runId) => transactions.write(CONTENT_STORES, (write) => withdrawRun(write, runId, origin)),

    claim: (runId, fence) =>
      transactions.write(['runs'], async ({ tx, put }) => {
        const run = await tx.objectStore('runs').get(runId);
        if (!run || run.endedAt !== undefined) return false;
        await put('runs', runId, { ...run, replica, executor: origin, fence }, fence);
        return true;
      }),

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
          .map((run) => ({ ...run, partial: texts.get(run.id) ?? run.partial }))
          .sort((a, b) => a.startedAt - b.startedAt);
      }),
  };
}

const omitProgress = ({ progress: _, ...run }: RunRecord): RunRecord => run;

async function finishRun(write: VaultWrite, outcome: RunOutcome, replies: readonly SplitMessage[], origin: string): Promise<void> {
  const { tx, put } = write;
  const { runId, status, endedAt, usage } = outcome;
  const run = await tx.objectStore('runs').get(runId);
  const isTakenOver = run?.executor !== undefined && run.executor !== origin;
  if (run?.endedAt !== undefined && !isTakenOver) return;
  if (run) deleteRunProgress(tx, runId);
  await Promise.all([
    usage && storeUsage(put, [usage]),
    run && !isTakenOver && put('runs', runId, { ...omitProgress(run), status, endedAt, partial: '' }, run.fence),
    run && appendReplies(write, run, outcome, replies),
  ]);
}

/** Adds the run's messages to its session, unless that was removed or reset in the meantime. */
async function appendReplies(
  { tx, put, getSession, putSession }: VaultWrite,
  run: RunRecord,
  { endedAt, messages }: RunOutcome,
  replies: readonly SplitMessage[],
): Promise<void> {
  const [first] = messages;
  const [session, question, stored] = await Promise.all([
    getSession(run.sessionKey),
    tx.objectStore('messages').getKey(run.userMessageId),
    first && tx.objectStore('messages').getKey(first.id),
  ]);
  if (!session || question === undefined || stored !== undefined) return;
  const isContinuation = first && (await isAncestorHead(tx, first, session.headId));
  const longer = addMessages(session, messages);
  const updated = isContinuation ? messages.reduce(setHead, longer) : longer;
  await Promise.all([
    ...replies.map((reply) => putMessage(tx, put, reply)),
    putSession({ ...updated, updatedAt: Math.max(session.updatedAt, endedAt) }, session),
  ]);
}

/** Whether the head is an ancestor of `message`: if not, the session was continued elsewhere (such as by an edit) during the run. */
export async function isAncestorHead(
  tx: WriteTransaction,
  message: Pick<MessageRecord, 'id' | 'parentId' | 'depth'>,
  headId: string | null,
): Promise<boolean> {
  if (message.parentId === headId) return true;
  const messages = tx.objectStore('messages');
  const head = headId === null ? undefined : await messages.get(headId);
  let ancestor: Pick<MessageRecord, 'id' | 'parentId' | 'depth'> | undefined = message;
  while (head && ancestor && ancestor.depth > head.depth)
    ancestor = ancestor.parentId === null ? undefined : await messages.get(ancestor.parentId);
  return head !== undefined && ancestor?.id === head.id;
}

export async function putMessage(tx: WriteTransaction, put: VaultWrite['put'], { message, blobs }: SplitMessage): Promise<void> {
  for (const blob of blobs) putInStore(tx, 'blobs', blob);
  await put('messages', message.id, message);
}
