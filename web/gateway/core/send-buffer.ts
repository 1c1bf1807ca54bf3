import type { Link } from '#shared/link/link.ts';
import type { AnyEvent } from '#shared/rpc/events.ts';
import { LIMITS, type ResponseFrame } from '#shared/rpc/frames.ts';
import type { Clock } from './clock.ts';
import { ReaderPace } from './reader-pace.ts';

/** From this much in the link's queue on, deltas of a run are merged instead of sent one by one. */
const MERGE_FROM = 64 * 1024;
/** With more than this waiting, runs slow down to a client that reads steadily. */
const PACE_ABOVE = LIMITS.maxBufferedBytes / 4;

/** What comes piece by piece. */
const DELTAS = ['chat.delta', 'chat.reasoning', 'incognito.delta', 'incognito.reasoning'] as const;
type Delta = Extract<AnyEvent, { event: (typeof DELTAS)[number] }>;
const isDelta = (event: AnyEvent): event is Delta => (DELTAS as readonly string[]).includes(event.event);

export interface SendBufferOptions {
  link: Link<string>;
  clock: Clock;
  /** The number of the last event that the client has had. */
  seq: number;
  /** The client does not keep up; it is over the limit. */
  onslow(): void;
}

/** What goes out to one client: numbers its events, merges deltas while it is slow, and knows when it is too slow (decisions, "Frames and connection"). */
export class SendBuffer {
  readonly #link: Link<string>;
  readonly #onslow: () => void;
  /** Deltas that wait for the link to drain, by run and kind; in order of arrival. */
  readonly #merged = new Map<string, Delta>();
  #mergedChars = 0;
  /** Size of the newest response while it is on its way: it does not count against the limit. */
  #responseChars = 0;
  /** Bytes that were queued so far. */
  #queued = 0;
  #seq: number;
  readonly #pace: ReaderPace;

  constructor({ link, clock, seq, onslow }: SendBufferOptions) {
    this.#link = link;
    this.#pace = new ReaderPace({
      clock,
      waiting: () => this.#waiting,
      taken: () => this.#queued - link.buffered,
      above: PACE_ABOVE,
    });
    this.#seq = seq;
    this.#onslow = onslow;
  }

  /** The number of the last event that was sent. */
  get seq(): number {
    return this.#seq;
  }

  /** See `ReaderPace.ready`. */
  ready(): Promise<void> | undefined {
    return this.#pace.ready();
  }

  /** Sends an event, or merges it with the deltas that wait. */
  event(event: AnyEvent): void {
    if (isDelta(event) && this.#merge(event)) return this.#check();
    if (!isDelta(event)) this.flush();
    this.#send(event);
    this.#check();
  }

  /** Sends a response, behind all that waits. */
  respond(frame: ResponseFrame): void {
    this.flush();
    const text = JSON.stringify(frame);
    this.#responseChars = Math.max(this.#responseChars, text.length);
    this.#queue(text);
    this.#check();
  }

  /** The link has taken all that it was given. */
  drained(): void {
    this.#responseChars = 0;
    this.flush();
  }

  /** Sends the deltas that wait. */
  flush(): void {
    for (const event of this.#merged.values()) this.#send(event);
    this.clear();
  }

  /** Gives up the deltas that wait. */
  clear(): void {
    this.#merged.clear();
    this.#mergedChars = 0;
  }

  /** False where the delta may go out at once: nothing waits, and the link is free. */
  #merge(event: Delta): boolean {
    if (this.#merged.size === 0 && this.#link.buffered <= MERGE_FROM) return false;
    const { runId, delta } = event.payload;
    const key = `${event.event} ${runId}`;
    const waiting = this.#merged.get(key)?.payload;
    const payload = { ...(waiting ?? event.payload), delta: (waiting?.delta ?? '') + delta };
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
    this.#queued += this.#link.buffered - before;
  }

  /** Data that waits for the client, beside a response. A response's characters count double: each may take more than a byte. */
  get #waiting(): number {
    return this.#link.buffered + this.#mergedChars - this.#responseChars * 2;
  }

  #check(): void {
    if (this.#waiting > LIMITS.maxBufferedBytes) this.#onslow();
  }
}
