import type { Link } from '#shared/link/link.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import { PROTOCOL_LIMITS, type ResponseFrame } from '#shared/rpc/frames.ts';
import type { Clock } from '#shared/async/clock.ts';

/** Interval between checks of a waiting reader. */
const CHECK_INTERVAL_MS = 25;

/** Bytes that a steady reader takes at least within `STALL_MS`. */
const STEADY_BYTES = 64 * 1024;

const STALL_MS = 500;

/** Maximum duration of one wait, so that a stopped run notices soon. */
const MAX_WAIT_MS = 1_000;

interface ReaderPaceOptions {
  clock: Clock;
  /** Bytes that are waiting to be sent. */
  getWaitingBytes(): number;
  /** Bytes that the reader has taken so far. */
  getReadBytes(): number;
  /** Waiting bytes above which runs slow down. */
  maxWaitingBytes: number;
}

/**
 * Slows runs down to the pace of a client that reads steadily, so that a fast model does not overflow its buffer. A stalled client is
 * waited for once, and not again until it has caught up; the run continues without it.
 */
class ReaderPace {
  readonly #options: ReaderPaceOptions;
  #pendingWait: Promise<void> | undefined;
  #isStalled = false;

  constructor(options: ReaderPaceOptions) {
    this.#options = options;
  }

  /** Resolves when the client is ready for more; undefined if it is now, or is not waited for. */
  ready(): Promise<void> | undefined {
    const { getWaitingBytes, maxWaitingBytes } = this.#options;
    if (getWaitingBytes() <= maxWaitingBytes) {
      this.#isStalled = false;
      return undefined;
    }
    if (this.#isStalled) return undefined;
    this.#pendingWait ??= this.#waitForReader().finally(() => (this.#pendingWait = undefined));
    return this.#pendingWait;
  }

  async #waitForReader(): Promise<void> {
    const { clock, getWaitingBytes, getReadBytes, maxWaitingBytes } = this.#options;
    const start = clock.monotonic();
    let last = { bytes: getReadBytes(), at: start };
    while (getWaitingBytes() > maxWaitingBytes) {
      await new Promise<void>((resolve) => clock.after(CHECK_INTERVAL_MS, resolve));
      const now = clock.monotonic();
      if (getReadBytes() - last.bytes >= STEADY_BYTES) last = { bytes: getReadBytes(), at: now };
      else if (now - last.at >= STALL_MS) this.#isStalled = true;
      if (this.#isStalled || now - start >= MAX_WAIT_MS) return;
    }
  }
}

/** Size of the link's queue from which deltas of a run are merged instead of sent one by one. */
const MERGE_THRESHOLD_BYTES = 64 * 1024;
/** Waiting bytes above which runs slow down to a client that reads steadily. */
const PACE_THRESHOLD_BYTES = PROTOCOL_LIMITS.maxBufferedBytes / 4;

/** Events that stream text and can be merged. */
const DELTAS = ['chat.delta', 'chat.reasoning', 'incognito.delta', 'incognito.reasoning'] as const;
type Delta = Extract<AnyEvent, { event: (typeof DELTAS)[number] }>;
const isDelta = (event: AnyEvent): event is Delta => (DELTAS as readonly string[]).includes(event.event);

interface SendBufferOptions {
  link: Link<string>;
  clock: Clock;
  /** Number of the last event that the client has received. */
  seq: number;
  /** Called when the client is too slow and the buffer exceeds its limit. */
  onOverflow(): void;
}

/** Output to one client: numbers its events, merges deltas while it is slow, and detects when it is too slow. */
export class SendBuffer {
  readonly #link: Link<string>;
  readonly #onOverflow: () => void;
  /** Deltas waiting for the link to drain, by run and kind, in order of arrival. */
  readonly #merged = new Map<string, Delta>();
  #mergedChars = 0;
  /** Size of the newest response while it is in transit: it does not count towards the limit. */
  #responseChars = 0;
  /** Bytes queued so far. */
  #queuedBytes = 0;
  #seq: number;
  readonly #pace: ReaderPace;

  constructor({ link, clock, seq, onOverflow }: SendBufferOptions) {
    this.#link = link;
    this.#pace = new ReaderPace({
      clock,
      getWaitingBytes: () => this.#waitingBytes,
      getReadBytes: () => this.#queuedBytes - link.buffered,
      maxWaitingBytes: PACE_THRESHOLD_BYTES,
    });
    this.#seq = seq;
    this.#onOverflow = onOverflow;
  }

  /** Number of the last event sent. */
  get seq(): number {
    return this.#seq;
  }

  /** See `ReaderPace.ready`. */
  ready(): Promise<void> | undefined {
    return this.#pace.ready();
  }

  /** Sends an event, or merges it with the waiting deltas. */
  sendEvent(event: AnyEvent): void {
    if (isDelta(event) && this.#merge(event)) return this.#check();
    if (!isDelta(event)) this.flush();
    this.#send(event);
    this.#check();
  }

  /** Sends a response, after everything that is waiting. */
  sendResponse(frame: ResponseFrame): void {
    this.flush();
    const text = JSON.stringify(frame);
    this.#responseChars = Math.max(this.#responseChars, text.length);
    this.#queue(text);
    this.#check();
  }

  /** Called when the link's queue is empty. */
  handleDrain(): void {
    this.#responseChars = 0;
    this.flush();
  }

  /** Sends the waiting deltas. */
  flush(): void {
    for (const event of this.#merged.values()) this.#send(event);
    this.clear();
  }

  /** Discards the waiting deltas. */
  clear(): void {
    this.#merged.clear();
    this.#mergedChars = 0;
  }

  /** Returns false if the delta can be sent at once: nothing is waiting, and the link is free. */
  #merge(event: Delta): boolean {
    if (this.#merged.size === 0 && this.#link.buffered <= MERGE_THRESHOLD_BYTES) return false;
    const { runId, delta } = event.payload;
    const key = `${event.event} ${runId}`;
    const merged = this.#merged.get(key)?.payload;
    const payload = { ...(merged ?? event.payload), delta: (merged?.delta ?? '') + delta };
    this.#merged.set(key, { ...event, payload } as Delta);
    this.#mergedChars += delta.length;
    return true;
  }

  #send({ event, payload }: AnyEvent): void {
    this.#queue(JSON.stringify({ type: 'event', event, seq: ++this.#seq, payload }));
  }

  #queue(text: string): void {
    const before = this.#link.buffered;
    this.#link.send(text);
    this.#queuedBytes += this.#link.buffered - before;
  }

  /**
   * Data waiting for the client, without the response in transit. A response's characters count double, since each may take more than a
   * byte.
   */
  get #waitingBytes(): number {
    return this.#link.buffered + this.#mergedChars - this.#responseChars * 2;
  }

  #check(): void {
    if (this.#waitingBytes > PROTOCOL_LIMITS.maxBufferedBytes) this.#onOverflow();
  }
}
