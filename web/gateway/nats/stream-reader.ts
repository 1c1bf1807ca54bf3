import { messagesFrom, type Reading, type Stream, type Streamed } from '#shared/sync/nats/flow.ts';
import { ClusterProblem } from '#shared/sync/nats/problems.ts';

/** Maximum number of messages that the server sends ahead, and that are queued here. */
const AHEAD = 100;

/** Reads the vault's stream from a sequence number on, in order, and queues a few messages until they are taken. */
export class StreamReader {
  readonly #places: Stream;
  readonly #tell: { onarrived(seq: number): void; onunsure: Reading['onunsure'] };
  readonly #queue: Streamed[] = [];
  /** Messages written here that have not arrived yet and need not be read, by number. */
  readonly #own = new Map<number, Uint8Array>();
  #changed = Promise.withResolvers<void>();
  #stop: AbortController | undefined;
  #ended: unknown;
  /** Everything up to this number has arrived. */
  last = 0;

  /**
   * `onarrived`: called with the number of a message that has arrived. `onunsure`: called if more messages may have been skipped than were
   * checked.
   */
  constructor(places: Stream, tell: { onarrived(seq: number): void; onunsure: Reading['onunsure'] }) {
    this.#places = places;
    this.#tell = tell;
  }

  /**
   * Starts or restarts reading after `after`; `there`: the stream's newest number. Resolves when the server sends; calls `onend` when it no
   * longer does.
   */
  async start({ after, there }: { after: number; there: number }, onend: (error: unknown) => void): Promise<void> {
    this.stop();
    this.#queue.length = 0;
    this.#own.clear();
    this.#ended = undefined;
    this.last = after;
    const stop = new AbortController();
    const { signal } = stop;
    this.#stop = stop;
    const { onarrived, onunsure } = this.#tell;
    const messages = await messagesFrom(this.#places, after + 1, { ahead: AHEAD, there, onunsure, signal });
    const reading = async (): Promise<void> => {
      for await (const message of messages) {
        if (signal.aborted) return;
        this.last = message.seq;
        const own = this.#own.get(message.seq);
        // Earlier messages that were replaced never arrive.
        for (const seq of this.#own.keys()) if (seq <= message.seq) this.#own.delete(seq);
        if (!own || !isEqual(own, message.data)) this.#queue.push(message);
        this.#wake();
        onarrived(message.seq);
        while (this.#queue.length >= 2 * AHEAD && !signal.aborted) await this.#changed.promise;
      }
      throw new ClusterProblem('unreachable', 'The stream is no longer delivered to this browser');
    };
    reading().catch((error: unknown) => {
      if (signal.aborted) return;
      this.#ended = error;
      this.#wake();
      onend(error);
    });
  }

  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
    this.#wake();
  }

  /** The next queued messages after `after`, up to `limit` and `bytes` but at least one; earlier ones are dropped. */
  take(after: number, limit: number, bytes: number): Streamed[] {
    const first = this.#queue.findIndex(({ seq }) => seq > after);
    this.#queue.splice(0, first < 0 ? this.#queue.length : first);
    let count = 0;
    for (let size = 0; count < Math.min(limit, this.#queue.length); count++) {
      size += this.#queue[count]?.data.length ?? 0;
      if (count > 0 && size > bytes) break;
    }
    const taken = this.#queue.slice(0, count);
    this.#wake();
    return taken;
  }

  /**
   * Registers a message written here, which need not be read. Servers that were disconnected from each other may assign its number to
   * another one.
   */
  wrote(seq: number, data: Uint8Array): void {
    const at = this.#queue.findIndex((message) => message.seq === seq && isEqual(message.data, data));
    if (at >= 0) this.#queue.splice(at, 1);
    else if (seq > this.last) this.#own.set(seq, data);
    this.#wake();
  }

  /** Resolves once `last` has increased; rejects if the stream has ended. */
  async beyond(last: number): Promise<void> {
    while (this.last <= last) {
      if (this.#ended !== undefined) throw this.#ended;
      if (!this.#stop) throw new ClusterProblem('unreachable', 'The stream is no longer read');
      await this.#changed.promise;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean => one.length === other.length && one.every((byte, at) => byte === other[at]);
