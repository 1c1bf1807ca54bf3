import { CLOSE } from '../rpc/frames.ts';
import type { Opening } from './hello.ts';
import { CHUNK_BYTES, FLAG_BULK, FLAG_FIN, FLAG_TEXT, TYPE, uint32 } from './wire.ts';

/** Bytes that a stream may have under way before the receiver has taken them. */
export const STREAM_WINDOW = 256 * 1024;
/** Bytes of bulk that a link may have under way, all streams together. */
export const LINK_WINDOW = 1024 * 1024;
/** Frames that may come before anyone listens: credit bounds their bytes, this bounds empty ones. */
const MAX_EARLY = 4096;

/** Characters of a reason that travel. */
const MAX_REASON = 500;

const encoder = new TextEncoder();

/** The part of the multiplexer that a stream uses. */
export interface StreamHost {
  open(opening: Partial<Opening> & { kind: string }): Stream;
  /** `bulk`: a body's part was queued. */
  wake(stream: Stream, bulk: boolean): void;
  control(type: number, stream: Stream, payload: Uint8Array): void;
  gone(stream: Stream): void;
}

/** Listener of a stream. An event that throws resets this stream with 1011, and no other. */
export interface StreamEvents {
  /** A chunk; `fin` ends a message. The bytes are only valid during the call. Call `release` when they are dealt with. */
  data(chunk: Uint8Array, fin: boolean, text: boolean): void;
  /** The other side sends no more; all it had sent has been delivered. */
  end(code: number, reason: string): void;
  /** Aborted: pending data is lost. No event follows. */
  reset(code: number, reason: string): void;
  /** All that was queued has been handed to the link. */
  drain?(): void;
}

export interface OutgoingChunk {
  type: number;
  flags: number;
  payload: Uint8Array;
  more: boolean;
}

interface Queued {
  readonly bytes: Uint8Array;
  readonly flags: number;
  at: number;
  next: Queued | undefined;
}

/** One stream of a multiplexer: messages both ways, each side ends its own direction, either can reset both. */
export class Stream {
  readonly id: number;
  /** Low priority: later data may be batched with other frames that are sent soon. */
  unhurried = false;
  readonly #host: StreamHost;
  #events: StreamEvents | undefined;
  #early: ((events: StreamEvents) => void)[] = [];
  #first: Queued | undefined;
  #last: Queued | undefined;
  #queued = 0;
  #credit = STREAM_WINDOW;
  /** Bytes that the peer may still send, and bytes taken that were not credited to it yet. */
  #granted = STREAM_WINDOW;
  #released = 0;
  #ending: { code: number; reason: string } | undefined;
  #sentEnd = false;
  #gotEnd = false;
  #dead = false;

  constructor(id: number, host: StreamHost) {
    this.id = id;
    this.#host = host;
  }

  /** Bytes queued here for lack of credit. */
  get buffered(): number {
    return this.#queued;
  }

  get closed(): boolean {
    return this.#dead;
  }

  /** Opens another stream on the same link. */
  beside(opening: Partial<Opening> & { kind: string }): Stream {
    return this.#host.open(opening);
  }

  receive(events: StreamEvents): void {
    this.#events = events;
    for (let tell = this.#early.shift(); tell; tell = this.#early.shift()) this.#guard(tell, events);
  }

  /** Queues a message (or, with `fin` false, a part of one). A body's parts are `bulk` whatever their size. The bytes must not change afterwards. */
  send(data: string | Uint8Array, { fin = true, bulk = false }: { fin?: boolean; bulk?: boolean } = {}): void {
    if (typeof data === 'string') this.#enqueue(encoder.encode(data), (fin ? FLAG_FIN : 0) | FLAG_TEXT | (bulk ? FLAG_BULK : 0));
    else this.#enqueue(data, (fin ? FLAG_FIN : 0) | (bulk ? FLAG_BULK : 0));
  }

  /** As `send`, for bytes that are text already. */
  sendText(bytes: Uint8Array, fin = true, bulk = false): void {
    this.#enqueue(bytes, (fin ? FLAG_FIN : 0) | FLAG_TEXT | (bulk ? FLAG_BULK : 0));
  }

  /** Ends sending; queued data is still sent. */
  end(code: number = CLOSE.normal, reason = ''): void {
    if (this.#dead || this.#ending) return;
    this.#ending = { code, reason: reason.slice(0, MAX_REASON) };
    this.#host.wake(this, false);
  }

  /** Aborts both directions at once; queued data is dropped, and no event follows. */
  reset(code: number = CLOSE.internal, reason = ''): void {
    if (this.#dead) return;
    this.#host.control(TYPE.reset, this, encoder.encode(JSON.stringify({ code, reason: reason.slice(0, MAX_REASON) })));
    this.#early = [];
    this.#die();
  }

  /** Credits the sender with `bytes` that were processed, so that it may send as many more. */
  release(bytes: number): void {
    if (this.#dead || this.#gotEnd) return;
    // Never more than was received: the sender takes that for a breach.
    this.#released = Math.min(this.#released + bytes, STREAM_WINDOW - this.#granted);
    if (this.#released < STREAM_WINDOW / 4) return;
    const credit = this.#released;
    this.#granted += credit;
    this.#released = 0;
    this.#host.control(TYPE.credit, this, uint32(credit));
  }

  // Methods for the multiplexer.

  /** The next frame to send: `idle` with nothing to send or no credit, `blocked` where only the link's bulk window (`bulkLeft` bytes) is in the way. */
  take(bulkLeft: number): OutgoingChunk | 'idle' | 'blocked' {
    if (this.#dead) return 'idle';
    const head = this.#first;
    if (!head) {
      if (!this.#ending || this.#sentEnd) return 'idle';
      this.#sentEnd = true;
      const payload = encoder.encode(JSON.stringify(this.#ending));
      if (this.#gotEnd) this.#die();
      return { type: TYPE.end, flags: 0, payload, more: false };
    }
    const left = head.bytes.byteLength - head.at;
    const size = Math.min(left, CHUNK_BYTES, this.#credit);
    if (size === 0 && left > 0) return 'idle';
    if ((head.flags & FLAG_BULK) !== 0 && size > bulkLeft) return 'blocked';
    const last = size === left;
    const payload = last && head.at === 0 ? head.bytes : head.bytes.subarray(head.at, head.at + size);
    head.at += size;
    this.#credit -= size;
    this.#queued -= size;
    if (last) {
      this.#first = head.next;
      if (!this.#first) this.#last = undefined;
    }
    return {
      type: TYPE.data,
      flags: last ? head.flags : head.flags & ~FLAG_FIN,
      payload,
      more: this.#first !== undefined || this.#ending !== undefined,
    };
  }

  /** The link has taken something of this stream; tells when that was all. */
  taken(): void {
    if (this.#dead || this.#first || !this.#events?.drain) return;
    this.#guard((events) => events.drain?.(), this.#events);
  }

  /** Throws a `RangeError` if the other side violates the protocol; so do `ended` and `credited`. */
  arrived(chunk: Uint8Array, fin: boolean, text: boolean): void {
    if (this.#dead) return;
    if (this.#gotEnd) throw new RangeError('received data after the end');
    this.#granted -= chunk.byteLength;
    if (this.#granted < 0) throw new RangeError('received more data than credit');
    // An empty chunk has no effect and costs no credit, so it is not queued.
    if (chunk.byteLength === 0 && !fin) return;
    if (this.#events) return this.#data(this.#events, chunk, fin, text);
    if (this.#early.length >= MAX_EARLY) return this.#cut(CLOSE.policy, 'received too many messages before a listener was attached');
    const copy = chunk.slice();
    this.#early.push((events) => events.data(copy, fin, text));
  }

  ended(code: number, reason: string): void {
    if (this.#dead) return;
    if (this.#gotEnd) throw new RangeError('a stream ended twice');
    this.#gotEnd = true;
    if (this.#sentEnd) this.#die();
    this.#tell((events) => events.end(code, reason));
  }

  lost(code: number, reason: string): void {
    if (this.#dead) return;
    this.#die();
    this.#tell((events) => events.reset(code, reason));
  }

  credited(bytes: number): void {
    if (this.#dead) return;
    this.#credit += bytes;
    if (this.#credit > STREAM_WINDOW) throw new RangeError('received more credit than was used');
    if (this.#first) this.#host.wake(this, false);
  }

  #enqueue(bytes: Uint8Array, flags: number): void {
    if (this.#dead || this.#ending) return;
    if (bytes.byteLength === 0 && (flags & FLAG_FIN) === 0) return;
    const queued: Queued = { bytes, flags: bytes.byteLength > CHUNK_BYTES ? flags | FLAG_BULK : flags, at: 0, next: undefined };
    if (this.#last) this.#last.next = queued;
    else this.#first = queued;
    this.#last = queued;
    this.#queued += bytes.byteLength;
    this.#host.wake(this, (flags & FLAG_BULK) !== 0);
  }

  #tell(tell: (events: StreamEvents) => void): void {
    if (this.#events) this.#guard(tell, this.#events);
    else this.#early.push(tell);
  }

  #data(events: StreamEvents, chunk: Uint8Array, fin: boolean, text: boolean): void {
    try {
      events.data(chunk, fin, text);
    } catch (error) {
      this.#faulted(error);
    }
  }

  #guard(tell: (events: StreamEvents) => void, events: StreamEvents): void {
    try {
      tell(events);
    } catch (error) {
      this.#faulted(error);
    }
  }

  /** The listener failed: neither other streams nor the other side are at fault. */
  #faulted(error: unknown): void {
    this.#cut(CLOSE.internal, error instanceof Error ? error.message : 'the stream listener failed');
  }

  /** Resets from within: both sides are notified. */
  #cut(code: number, reason: string): void {
    if (this.#dead) return;
    this.reset(code, reason);
    this.#tell((events) => events.reset(code, reason));
  }

  #die(): void {
    this.#dead = true;
    this.#first = this.#last = undefined;
    this.#queued = 0;
    this.#host.gone(this);
  }
}
