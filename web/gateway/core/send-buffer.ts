import type { Link } from '#shared/link/link.ts';
import type { AnyEvent, EventPayload } from '#shared/rpc/events.ts';
import { LIMITS, type ResponseFrame } from '#shared/rpc/frames.ts';

/** From this much in the link's queue on, deltas of a run are merged instead of sent one by one. */
const MERGE_FROM = 64 * 1024;

export interface SendBufferOptions {
  link: Link<string>;
  /** The number of the last event that the client has had. */
  seq: number;
  /** The client does not keep up; it is over the limit. */
  onslow(): void;
}

/** What goes out to one client: numbers its events, merges deltas while it is slow, and knows when it is too slow (decisions, "Frames and connection"). */
export class SendBuffer {
  readonly #link: Link<string>;
  readonly #onslow: () => void;
  /** Deltas that wait for the link to drain, by run; in order of arrival. */
  readonly #merged = new Map<string, EventPayload<'chat.delta'>>();
  #mergedChars = 0;
  /** Size of the newest response while it is on its way: it does not count against the limit. */
  #responseChars = 0;
  #seq: number;

  constructor({ link, seq, onslow }: SendBufferOptions) {
    this.#link = link;
    this.#seq = seq;
    this.#onslow = onslow;
  }

  /** The number of the last event that was sent. */
  get seq(): number {
    return this.#seq;
  }

  /** Sends an event, or merges it with the deltas that wait. */
  event(event: AnyEvent): void {
    if (event.event === 'chat.delta' && this.#merge(event.payload)) return this.#check();
    if (event.event !== 'chat.delta') this.flush();
    this.#send(event);
    this.#check();
  }

  /** Sends a response, behind all that waits. */
  respond(frame: ResponseFrame): void {
    this.flush();
    const text = JSON.stringify(frame);
    this.#responseChars = Math.max(this.#responseChars, text.length);
    this.#link.send(text);
    this.#check();
  }

  /** The link has taken all that it was given. */
  drained(): void {
    this.#responseChars = 0;
    this.flush();
  }

  /** Sends the deltas that wait. */
  flush(): void {
    for (const payload of this.#merged.values()) this.#send({ event: 'chat.delta', payload });
    this.clear();
  }

  /** Gives up the deltas that wait. */
  clear(): void {
    this.#merged.clear();
    this.#mergedChars = 0;
  }

  /** False where the delta may go out at once: nothing of its run waits, and the link is free. */
  #merge(payload: EventPayload<'chat.delta'>): boolean {
    const waiting = this.#merged.get(payload.runId);
    if (!waiting && this.#link.buffered <= MERGE_FROM) return false;
    this.#merged.set(payload.runId, waiting ? { ...waiting, delta: waiting.delta + payload.delta } : payload);
    this.#mergedChars += payload.delta.length;
    return true;
  }

  #send({ event, payload }: AnyEvent): void {
    this.#link.send(JSON.stringify({ type: 'event', event, seq: ++this.#seq, payload }));
  }

  #check(): void {
    // A response's characters count double: each may take more than a byte.
    if (this.#link.buffered + this.#mergedChars > LIMITS.maxBufferedBytes + this.#responseChars * 2) this.#onslow();
  }
}
