import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SequencedRecord } from '#shared/ports/journal-port.ts';
import type { JournalInfo } from '#shared/ports/journal-info.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { packageRoot } from '../package-root.ts';
import { type Journal, type JournalEvents, JournalError, JournalFullError, type OpenedJournal, type ReplicaRequest } from './journal.ts';
import type { LeaseRequest } from '#shared/sync/lease-request.ts';
import type { ThreadResult, ThreadParams, CallName, ThreadFailure, ThreadMessage } from './thread-messages.ts';

/** Delay before another attempt after the thread failed to open the journal. */
const RESTART_MS = 1000;
/** The thread's program: the source file, or the one built by bridge/build.ts. */
const THREAD_PROGRAM = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, 'thread.ts')
  : join(packageRoot, 'dist', 'journal-thread.js');

interface JournalOptions {
  /** Existing folder of `journal.sqlite`. */
  dir: string;
  /** 256 bits, base64url. */
  vaultKey: string;
  /** Called with problems of the file and the thread. */
  log?: (line: string) => void;
  /** Starts the thread. */
  start?: (workerData: object) => Worker;
}

const startThread = (workerData: object): Worker =>
  new Worker(THREAD_PROGRAM, { name: 'journal', workerData, execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 4 } });

/** Opens the journal in its own thread, and creates it if it is missing. Rejects with `JournalFullError` or `JournalError`. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const journal = new ThreadJournal(options);
  await journal.started;
  return journal;
}

interface PendingCall {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

class ThreadJournal extends EventEmitter<JournalEvents> implements Journal {
  readonly started: Promise<void>;
  readonly #options: JournalOptions;
  /** Pending calls by id. */
  readonly #pending = new Map<number, PendingCall>();
  /** Schema that each replica has reported. */
  readonly #schemas = new Map<string, number>();
  #thread: Worker | undefined;
  #restart: NodeJS.Timeout | undefined;
  #calls = 0;
  #closing: Promise<void> | undefined;
  path = '';
  head = 0;

  constructor(options: JournalOptions) {
    super();
    this.setMaxListeners(0);
    this.#options = options;
    this.started = this.#startThread();
  }

  async open(replica: ReplicaRequest): Promise<OpenedJournal> {
    const opened = await this.#request('open', { replica });
    this.#schemas.set(replica.origin, replica.schema);
    return opened;
  }

  pull(after: number, limit: number, except?: string): Promise<ThreadResult<'pull'>> {
    return this.#request('pull', { after, limit, except });
  }

  async *snapshot(): AsyncGenerator<SequencedRecord, undefined> {
    const snapshot = randomUUID();
    try {
      for (;;) {
        const page = await this.#request('snapshot', { snapshot });
        if (page.length === 0) return;
        yield* page;
      }
    } finally {
      // If the thread has died, its snapshots are gone too.
      await this.#request('endSnapshot', { snapshot }).catch(() => {});
    }
  }

  push(records: readonly SyncRecord[], pusher: string): Promise<ThreadResult<'push'>> {
    return this.#request('push', { records, pusher, schema: this.#schemas.get(pusher) });
  }

  takeLease(lease: LeaseRequest): Promise<number | null> {
    return this.#request('takeLease', { lease });
  }

  releaseLease(name: string, holder: string, fence: number): Promise<void> {
    return this.#request('releaseLease', { name, holder, fence });
  }

  putBlob(hash: string, bytes: Uint8Array): Promise<void> {
    return this.#request('putBlob', { hash, bytes });
  }

  getBlob(hash: string): Promise<Uint8Array | undefined> {
    return this.#request('getBlob', { hash });
  }

  info(): Promise<JournalInfo> {
    return this.#request('info', {});
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#restart);
    if (!this.#thread) return;
    const exited = once(this.#thread, 'exit');
    await this.#request('close', {});
    await exited;
  }

  #request<N extends CallName>(call: N, params: ThreadParams<N>): Promise<ThreadResult<N>> {
    if (this.#closing) return Promise.reject(new JournalError('The journal is closed'));
    const thread = this.#thread;
    if (!thread) return Promise.reject(new JournalError('The journal thread is restarting'));
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      thread.postMessage({ id, call, ...params });
      this.#pending.set(id, { resolve, reject });
    });
  }

  #startThread(): Promise<void> {
    const { dir, vaultKey, start = startThread } = this.#options;
    const thread = start({ dir, vaultKey });
    this.#thread = thread;
    return new Promise((resolve, reject) => {
      let reason = '';
      let running = false;
      thread.on('message', (message: ThreadMessage) => {
        if (message.kind === 'failed') return reject(toError(message.failure));
        this.#onMessage(message);
        if (message.kind !== 'started') return;
        running = true;
        resolve();
      });
      thread.on('error', (error) => (reason = `: ${error instanceof Error ? error.message : String(error)}`));
      thread.on('exit', () => {
        const failure = new JournalError(`The journal thread stopped unexpectedly${reason}`);
        reject(failure);
        this.#onThreadExit(failure, running);
      });
    });
  }

  #onMessage(message: ThreadMessage): void {
    if (message.kind === 'started') {
      this.path = message.path;
      this.head = message.head;
    } else if (message.kind === 'replaced') {
      this.#options.log?.(message.reason);
      this.emit('replaced', message.reason);
    } else if (message.kind === 'replies') {
      const changed = message.head !== this.head;
      this.head = message.head;
      if (changed) this.emit('changed', message.head);
      for (const reply of message.replies) {
        const pending = this.#pending.get(reply.id);
        this.#pending.delete(reply.id);
        if ('failure' in reply) pending?.reject(toError(reply.failure));
        else pending?.resolve(reply.value as never);
      }
    }
  }

  /** `running`: whether the thread had opened the journal. If not, the next attempt is delayed; there is none if the first start failed. */
  #onThreadExit(failure: JournalError, running: boolean): void {
    this.#thread = undefined;
    for (const { reject } of this.#pending.values()) reject(failure);
    this.#pending.clear();
    if (this.#closing || !this.path) return;
    this.#options.log?.(failure.message);
    this.#restart = setTimeout(() => void this.#startAgain(), running ? 0 : RESTART_MS);
  }

  async #startAgain(): Promise<void> {
    try {
      await this.#startThread();
    } catch {
      // The thread's exit triggers the next attempt.
      return;
    }
    // Positions given to replicas belong to the previous thread: they open the journal again.
    this.emit('replaced', 'The journal thread stopped unexpectedly and was restarted');
  }
}

function toError({ full, message }: ThreadFailure): JournalFullError | JournalError {
  return full ? new JournalFullError(message) : new JournalError(message);
}
