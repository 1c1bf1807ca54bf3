import { readMessages, type ReadOptions, type RecordStream, type RawMessage } from '#shared/sync/nats/stream-messages.ts';
import { ClusterProblem } from '#shared/sync/nats/cluster-problem.ts';

/** Maximum number of messages that the server sends ahead, and that are queued here. */
const MAX_AHEAD = 100;

/** Reads the vault's stream from a sequence number on, in order, and queues a few messages until they are taken. */
export class StreamReader {
  readonly #stream: RecordStream;
  readonly #listeners: { onarrived(seq: number): void; onunsure: ReadOptions['onunsure'] };
  readonly #queue: RawMessage[] = [];
  /** Messages written here that have not arrived yet and need not be read, by number. */
  readonly #ownMessages = new Map<number, Uint8Array>();
  #change = Promise.withResolvers<void>();
  #stop: AbortController | undefined;
  #error: unknown;
  /** Everything up to this number has arrived. */
  last = 0;

  /**
   * `onarrived`: called with the number of a message that has arrived. `onunsure`: called if more messages may have been skipped than were
   * checked.
   */
  constructor(stream: RecordStream, listeners: { onarrived(seq: number): void; onunsure: ReadOptions['onunsure'] }) {
    this.#stream = stream;
    this.#listeners = listeners;
  }

  /**
   * Starts or restarts reading after `after`; `lastSeq`: the stream's newest number. Resolves when the server sends; calls `onend` when it no
   * longer does.
   */
  async start({ after, lastSeq }: { after: number; lastSeq: number }, onend: (error: unknown) => void): Promise<void> {
    this.stop();
    this.#queue.length = 0;
    this.#ownMessages.clear();
    this.#error = undefined;
    this.last = after;
    const stop = new AbortController();
    const { signal } = stop;
    this.#stop = stop;
    const { onarrived, onunsure } = this.#listeners;
    const messages = await readMessages(this.#stream, after + 1, { ahead: MAX_AHEAD, lastSeq, onunsure, signal });
    const reading = async (): Promise<void> => {
      for await (const message of messages) {
        if (signal.aborted) return;
        this.last = message.seq;
        const ownData = this.#ownMessages.get(message.seq);
        // Earlier messages that were replaced never arrive.
        for (const seq of this.#ownMessages.keys()) if (seq <= message.seq) this.#ownMessages.delete(seq);
        if (!ownData || !isEqual(ownData, message.data)) this.#queue.push(message);
        this.#notify();
        onarrived(message.seq);
        while (this.#queue.length >= 2 * MAX_AHEAD && !signal.aborted) await this.#change.promise;
      }
      throw new ClusterProblem('unreachable', 'The stream is no longer delivered to this browser');
    };
    reading().catch((error: unknown) => {
      if (signal.aborted) return;
      this.#error = error;
      this.#notify();
      onend(error);
    });
  }

  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#notify();
  }

  /** The next queued messages after `after`, up to `limit` and `maxBytes` but at least one; earlier ones are dropped. */
  takeMessages(after: number, limit: number, maxBytes: number): RawMessage[] {
    const first = this.#queue.findIndex(({ seq }) => seq > after);
    this.#queue.splice(0, first < 0 ? this.#queue.length : first);
    let count = 0;
    for (let size = 0; count < Math.min(limit, this.#queue.length); count++) {
      size += this.#queue[count]?.data.length ?? 0;
      if (count > 0 && size > maxBytes) break;
    }
    const batch = this.#queue.slice(0, count);
    this.#notify();
    return batch;
  }

  /**
   * Registers a message written here, which need not be read. Servers that were disconnected from each other may assign its number to
   * another one.
   */
  noteOwnMessage(seq: number, data: Uint8Array): void {
    const index = this.#queue.findIndex((message) => message.seq === seq && isEqual(message.data, data));
    if (index >= 0) this.#queue.splice(index, 1);
    else if (seq > this.last) this.#ownMessages.set(seq, data);
    this.#notify();
  }

  /** Resolves once `last` has increased; rejects if the stream has ended. */
  async waitBeyond(last: number): Promise<void> {
    while (this.last <= last) {
      if (this.#error !== undefined) throw this.#error;
      if (!this.#stop) throw new ClusterProblem('unreachable', 'The stream is no longer read');
      await this.#change.promise;
    }
  }

  #notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, index) => byte === b[index]);
