import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { JournalInfo, SequencedRecord } from '#shared/ports/journal.ts';
import type { SyncRecord } from '#shared/sync/record.ts';
import { packageRoot } from '../package-root.ts';
import { type Journal, type JournalEvents, JournalFailed, JournalFull, type Opened, type Replica } from './journal.ts';
import type { LeaseWanted } from '#shared/sync/lease.ts';
import type { AnswerOf, AskedOf, CallName, Failure, ThreadMessage } from './messages.ts';

/** How long after a thread died early the next one is started. */
const RESTART_MS = 1000;
/** The thread's program: of the sources, or as bridge/build.ts makes it. */
const THREAD = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, 'thread.ts')
  : join(packageRoot, 'dist', 'journal-thread.js');

export interface JournalOptions {
  /** The folder that `journal.sqlite` lies in; it is there. */
  dir: string;
  /** 256 bit, base64url. */
  vaultKey: string;
  /** Hears what was wrong with the file, and of a thread that died. */
  log?: (line: string) => void;
  /** Starts the thread. */
  start?: (workerData: object) => Worker;
}

const startThread = (workerData: object): Worker =>
  new Worker(THREAD, { name: 'journal', workerData, execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: 4 } });

/** Opens the journal in a thread of its own, and makes it where there is none. Rejects with `JournalFull` or `JournalFailed`. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const journal = new ThreadJournal(options);
  await journal.started;
  return journal;
}

interface Pending {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

class ThreadJournal extends EventEmitter<JournalEvents> implements Journal {
  readonly started: Promise<void>;
  readonly #options: JournalOptions;
  /** Calls that are not answered, by their numbers. */
  readonly #pending = new Map<number, Pending>();
  /** What each replica has said that it writes. */
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
    this.started = this.#start();
  }

  async open(replica: Replica): Promise<Opened> {
    const opened = await this.#ask('open', { replica });
    this.#schemas.set(replica.origin, replica.schema);
    return opened;
  }

  pull(after: number, limit: number, except?: string): Promise<AnswerOf<'pull'>> {
    return this.#ask('pull', { after, limit, except });
  }

  async *snapshot(): AsyncGenerator<SequencedRecord, undefined> {
    const snapshot = randomUUID();
    try {
      for (;;) {
        const page = await this.#ask('snapshot', { snapshot });
        if (page.length === 0) return;
        yield* page;
      }
    } finally {
      // A thread that died holds nothing any more.
      await this.#ask('endSnapshot', { snapshot }).catch(() => {});
    }
  }

  push(records: readonly SyncRecord[], pusher: string): Promise<AnswerOf<'push'>> {
    return this.#ask('push', { records, pusher, schema: this.#schemas.get(pusher) });
  }

  takeLease(lease: LeaseWanted): Promise<number | null> {
    return this.#ask('takeLease', { lease });
  }

  releaseLease(name: string, holder: string, fence: number): Promise<void> {
    return this.#ask('releaseLease', { name, holder, fence });
  }

  putBlob(hash: string, bytes: Uint8Array): Promise<void> {
    return this.#ask('putBlob', { hash, bytes });
  }

  getBlob(hash: string): Promise<Uint8Array | undefined> {
    return this.#ask('getBlob', { hash });
  }

  info(): Promise<JournalInfo> {
    return this.#ask('info', {});
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
    await this.#ask('close', {});
    await exited;
  }

  #ask<N extends CallName>(call: N, asked: AskedOf<N>): Promise<AnswerOf<N>> {
    if (this.#closing) return Promise.reject(new JournalFailed('The journal is closed'));
    const thread = this.#thread;
    if (!thread) return Promise.reject(new JournalFailed('The journal thread is restarting'));
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      thread.postMessage({ id, call, ...asked });
      this.#pending.set(id, { resolve, reject });
    });
  }

  #start(): Promise<void> {
    const { dir, vaultKey, start = startThread } = this.#options;
    const thread = start({ dir, vaultKey });
    this.#thread = thread;
    return new Promise((resolve, reject) => {
      let reason = '';
      let running = false;
      thread.on('message', (message: ThreadMessage) => {
        if (message.kind === 'failed') return reject(errorOf(message.failure));
        this.#hear(message);
        if (message.kind !== 'started') return;
        running = true;
        resolve();
      });
      thread.on('error', (error) => (reason = `: ${error instanceof Error ? error.message : String(error)}`));
      thread.on('exit', () => {
        const failure = new JournalFailed(`The journal thread stopped unexpectedly${reason}`);
        reject(failure);
        this.#died(failure, running);
      });
    });
  }

  #hear(message: ThreadMessage): void {
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
        if ('failure' in reply) pending?.reject(errorOf(reply.failure));
        else pending?.resolve(reply.value as never);
      }
    }
  }

  /** `running`: it had opened the journal. One that could not is tried again after a while, but for the very first. */
  #died(failure: JournalFailed, running: boolean): void {
    this.#thread = undefined;
    for (const { reject } of this.#pending.values()) reject(failure);
    this.#pending.clear();
    if (this.#closing || !this.path) return;
    this.#options.log?.(failure.message);
    this.#restart = setTimeout(() => void this.#startAgain(), running ? 0 : RESTART_MS);
  }

  async #startAgain(): Promise<void> {
    try {
      await this.#start();
    } catch {
      // Its exit leads here again.
      return;
    }
    // What was told to replicas holds for the thread before: they open it again.
    this.emit('replaced', 'The journal thread stopped unexpectedly and was restarted');
  }
}

function errorOf({ full, message }: Failure): JournalFull | JournalFailed {
  return full ? new JournalFull(message) : new JournalFailed(message);
}
