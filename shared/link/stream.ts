import { CLOSE } from '../rpc/frames.ts';
import { CHUNK_BYTES, FLAG_BULK, FLAG_FIN, FLAG_TEXT, TYPE } from './wire.ts';

/** Bytes that a stream may have under way before the receiver has taken them. */
export const STREAM_WINDOW = 256 * 1024;
/** Bytes of bulk that a link may have under way, all streams together. */
export const LINK_WINDOW = 1024 * 1024;

const encoder = new TextEncoder();

/** What a stream needs of the multiplexer that it belongs to. */
export interface StreamHost {
  wake(stream: Stream): void;
  control(type: number, id: number, payload: Uint8Array): void;
  gone(stream: Stream): void;
}

export interface StreamEvents {
  /** A chunk; `fin` ends a message. The bytes are only valid during the call. Call `release` when they are dealt with. */
  data(chunk: Uint8Array, fin: boolean, text: boolean): void;
  /** The other side sends no more; all it had sent has been delivered. */
  end(code: number, reason: string): void;
  /** Cut off: what was under way is lost. Nothing comes after it. */
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
  bytes: Uint8Array;
  at: number;
  flags: number;
}

/** One stream of a multiplexer: messages both ways, each side ends its own direction, either can reset both. */
export class Stream {
  readonly id: number;
  readonly #host: StreamHost;
  #events: StreamEvents | undefined;
  #early: ((events: StreamEvents) => void)[] = [];
  #queue: Queued[] = [];
  #queued = 0;
  #credit = STREAM_WINDOW;
  /** Bytes that the peer may still send, and bytes taken that it has not been told of. */
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

  /** Bytes queued here that the other side's credit has not let through yet. */
  get buffered(): number {
    return this.#queued;
  }

  get closed(): boolean {
    return this.#dead;
  }

  receive(events: StreamEvents): void {
    this.#events = events;
    for (const tell of this.#early.splice(0)) tell(events);
  }

  /** Queues a message (or, with `fin` false, a part of one). A body's parts are `bulk` whatever their size. */
  send(data: string | Uint8Array, { fin = true, bulk = false }: { fin?: boolean; bulk?: boolean } = {}): void {
    if (this.#dead || this.#ending) return;
    const text = typeof data === 'string';
    const bytes = text ? encoder.encode(data) : data;
    const flags = (fin ? FLAG_FIN : 0) | (text ? FLAG_TEXT : 0) | (bulk || bytes.byteLength > CHUNK_BYTES ? FLAG_BULK : 0);
    this.#queue.push({ bytes, at: 0, flags });
    this.#queued += bytes.byteLength;
    this.#host.wake(this);
  }

  /** As `send`, for bytes that are text already. */
  sendText(bytes: Uint8Array, fin = true): void {
    if (this.#dead || this.#ending) return;
    this.#queue.push({ bytes, at: 0, flags: (fin ? FLAG_FIN : 0) | FLAG_TEXT | (bytes.byteLength > CHUNK_BYTES ? FLAG_BULK : 0) });
    this.#queued += bytes.byteLength;
    this.#host.wake(this);
  }

  /** Sends no more; what is queued still goes. */
  end(code: number = CLOSE.normal, reason = ''): void {
    if (this.#dead || this.#ending) return;
    this.#ending = { code, reason };
    this.#host.wake(this);
  }

  /** Cuts both directions at once; what is queued is dropped. */
  reset(code: number = CLOSE.internal, reason = ''): void {
    if (this.#dead) return;
    this.#host.control(TYPE.reset, this.id, encoder.encode(JSON.stringify({ code, reason: reason.slice(0, 500) })));
    this.#die();
  }

  /** Tells the sender that `bytes` of what it sent have been dealt with, so that it may send as many more. */
  release(bytes: number): void {
    if (this.#dead || this.#gotEnd) return;
    this.#released += bytes;
    if (this.#released < STREAM_WINDOW / 4) return;
    const payload = new Uint8Array(4);
    new DataView(payload.buffer).setUint32(0, this.#released);
    this.#granted += this.#released;
    this.#released = 0;
    this.#host.control(TYPE.credit, this.id, payload);
  }

  // What follows is the multiplexer's side.

  /** The next frame to send: `idle` with nothing to send or no credit, `blocked` where only the link's bulk window (`bulkLeft` bytes) is in the way. */
  take(bulkLeft: number): OutgoingChunk | 'idle' | 'blocked' {
    if (this.#dead) return 'idle';
    const head = this.#queue[0];
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
    const bulk = (head.flags & FLAG_BULK) !== 0;
    if (bulk && size > bulkLeft) return 'blocked';
    const payload = head.at === 0 && size === left ? head.bytes : head.bytes.subarray(head.at, head.at + size);
    const last = size === left;
    const flags = last ? head.flags : head.flags & ~FLAG_FIN;
    head.at += size;
    this.#credit -= size;
    this.#queued -= size;
    if (last) this.#queue.shift();
    const more = this.#queue.length > 0 || this.#ending !== undefined;
    if (this.#queue.length === 0) queueMicrotask(() => !this.#dead && this.#queue.length === 0 && this.#events?.drain?.());
    return { type: TYPE.data, flags, payload, more };
  }

  arrived(chunk: Uint8Array, fin: boolean, text: boolean): void {
    if (this.#dead) return;
    if (this.#gotEnd) throw new RangeError('data after end');
    this.#granted -= chunk.byteLength;
    if (this.#granted < 0) throw new RangeError('more data than credit');
    if (this.#events) this.#events.data(chunk, fin, text);
    else {
      const copy = chunk.slice();
      this.#early.push((events) => events.data(copy, fin, text));
    }
  }

  ended(code: number, reason: string): void {
    if (this.#dead || this.#gotEnd) return;
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
    this.#credit += bytes;
    if (this.#queue.length > 0) this.#host.wake(this);
  }

  #tell(tell: (events: StreamEvents) => void): void {
    if (this.#events) tell(this.#events);
    else this.#early.push(tell);
  }

  #die(): void {
    this.#dead = true;
    this.#queue = [];
    this.#queued = 0;
    this.#host.gone(this);
  }
}
