// The journal's thread: waits for the disk without blocking the main thread.
import { parentPort, workerData } from 'node:worker_threads';
import { toJournalError } from './failures.ts';
import { JournalFullError } from './journal.ts';
import type { ThreadFailure, ThreadReply, ThreadData, ThreadMessage, ThreadRequest } from './thread-messages.ts';
import type { JournalSnapshot } from './snapshot.ts';
import { SqliteJournal } from './sqlite-journal.ts';

const POLL_MS = 1000;
const PRUNE_MS = 24 * 60 * 60 * 1000;

if (!parentPort) throw new Error('This module runs in a thread of the bridge');
const port = parentPort;
const postToParent = (message: ThreadMessage): void => port.postMessage(message);
const toFailure = (error: unknown): ThreadFailure => {
  const { message } = toJournalError(error, false);
  return { full: error instanceof JournalFullError, message };
};

const queue: ThreadRequest[] = [];
const snapshots = new Map<string, JournalSnapshot>();
let scheduled = false;
let isRunning = false;

function start(): SqliteJournal | undefined {
  const { dir, vaultKey }: ThreadData = workerData;
  // Within a turn, the replies report it.
  const onchanged = (head: number): void => void (isRunning || postToParent({ kind: 'replies', replies: [], head }));
  const onreplaced = (reason: string): void => postToParent({ kind: 'replaced', reason });
  try {
    const journal = new SqliteJournal({ dir, vaultKey, onchanged, onreplaced });
    journal.prune();
    postToParent({ kind: 'started', path: journal.path, head: journal.head });
    return journal;
  } catch (error) {
    postToParent({ kind: 'failed', failure: toFailure(error) });
    return undefined;
  }
}

/** Returns the function that makes a request's change; undefined if the request only reads. */
function toTask(journal: SqliteJournal, request: ThreadRequest): (() => unknown) | undefined {
  switch (request.call) {
    case 'open':
      return () => journal.open(request.replica);
    case 'push':
      return () => journal.push(request.records, request.pusher, request.schema);
    case 'takeLease':
      return () => journal.takeLease(request.lease);
    case 'releaseLease':
      return () => journal.releaseLease(request.name, request.holder, request.fence);
    case 'putBlob':
      return () => journal.putBlob(request.hash, request.bytes);
    default:
      return undefined;
  }
}

function readRequest(journal: SqliteJournal, request: ThreadRequest): unknown {
  switch (request.call) {
    case 'pull':
      return journal.pull(request.after, request.limit, request.except);
    case 'snapshot': {
      const snapshot = snapshots.get(request.snapshot) ?? journal.snapshot();
      snapshots.set(request.snapshot, snapshot);
      return journal.next(snapshot);
    }
    case 'endSnapshot': {
      const snapshot = snapshots.get(request.snapshot);
      snapshots.delete(request.snapshot);
      return snapshot && journal.end(snapshot);
    }
    case 'getBlob':
      return journal.getBlob(request.hash);
    case 'info':
      return journal.info();
    default:
      throw new Error(`${request.call} is not a read call`);
  }
}

/** Runs all queued writes in one transaction, then one read, and repeats: nobody waits long for a client that reads a lot. */
function runTurn(journal: SqliteJournal): void {
  scheduled = false;
  const reads: ThreadRequest[] = [];
  const ids: number[] = [];
  const tasks: (() => unknown)[] = [];
  for (const request of queue.splice(0)) {
    const task = toTask(journal, request);
    if (!task) {
      reads.push(request);
      continue;
    }
    ids.push(request.id);
    tasks.push(task);
  }
  if (tasks.length > 0) {
    const outcomes = journal.commit(tasks);
    const replies = outcomes.map((outcome, index): ThreadReply => {
      const id = ids[index] ?? 0;
      return 'error' in outcome ? { id, failure: toFailure(outcome.error) } : { id, value: outcome.value };
    });
    postToParent({ kind: 'replies', replies, head: journal.head });
  }
  const first = reads.findIndex(({ call }) => call !== 'close');
  if (first >= 0) handleRead(journal, reads.splice(first, 1)[0]);
  else if (reads.length > 0) return closeJournal(journal, reads);
  queue.push(...reads);
  if (queue.length > 0) scheduleTurn(journal);
}

function handleRead(journal: SqliteJournal, request: ThreadRequest | undefined): void {
  if (!request) return;
  const { id } = request;
  let reply: ThreadReply;
  try {
    reply = { id, value: readRequest(journal, request) };
  } catch (error) {
    reply = { id, failure: toFailure(error) };
  }
  postToParent({ kind: 'replies', replies: [reply], head: journal.head });
}

function closeJournal(journal: SqliteJournal, requests: readonly ThreadRequest[]): void {
  journal.close();
  postToParent({ kind: 'replies', replies: requests.map(({ id }) => ({ id, value: undefined })), head: journal.head });
  port.close();
  clearInterval(polling);
  clearInterval(pruning);
}

function scheduleTurn(journal: SqliteJournal): void {
  if (scheduled) return;
  scheduled = true;
  // After the messages that have already arrived.
  setImmediate(() => {
    isRunning = true;
    runTurn(journal);
    isRunning = false;
  });
}

const journal = start();
const polling = journal && setInterval(() => journal.poll(), POLL_MS);
const pruning = journal && setInterval(() => journal.prune(), PRUNE_MS);
if (journal) {
  port.on('message', (request: ThreadRequest) => {
    queue.push(request);
    scheduleTurn(journal);
  });
}
