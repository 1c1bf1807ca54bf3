import { CLOSE_CODES } from '../rpc/frames.ts';
import type { Opening } from './hello.ts';
import { CHUNK_BYTES, FLAG_BULK, FLAG_FIN, FLAG_TEXT, FRAME_TYPE, encodeUint32 } from './wire.ts';

/** Flow-control window of a stream: bytes in flight before the receiver has consumed them. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
/** Bulk window of a link: bulk bytes in flight, all streams together. */
export const LINK_WINDOW_BYTES = 1024 * 1024;
/** Maximum number of frames to buffer before a listener is set. Credit limits their bytes; this limits empty ones. */
const MAX_EARLY_FRAMES = 4096;

/** Maximum length of a reason that is sent. */
const MAX_REASON_CHARS = 500;

const encoder = new TextEncoder();

/** The part of the multiplexer that a stream uses. */
export interface StreamHost {
  open(opening: Partial<Opening> & { kind: string }): Stream;
  /** `bulk`: part of a body was queued. */
  wake(stream: Stream, bulk: boolean): void;
  sendControl(type: number, stream: Stream, payload: Uint8Array): void;
  onClosed(stream: Stream): void;
}

/** Listener of a stream. An event that throws resets this stream with 1011, and no other. */
interface StreamEvents {
  /** A chunk; `fin` ends a message. The bytes are only valid during the call. Call `release` when they are processed. */
  data(chunk: Uint8Array, fin: boolean, text: boolean): void;
  /** The other side has ended its direction, and everything it sent has been delivered. */
  end(code: number, reason: string): void;
  /** Aborted: pending data is lost. No event follows. */
  reset(code: number, reason: string): void;
  /** All queued data has been passed to the link. */
  drain?(): void;
}

interface OutgoingChunk {
  type: number;
  flags: number;
  payload: Uint8Array;
  more: boolean;
}

interface QueuedMessage {
  readonly bytes: Uint8Array;
  readonly flags: number;
  offset: number;
  next: QueuedMessage | undefined;
}

/** One stream of a multiplexer: messages both ways, each side ends its own direction, either can reset both. */
export class Stream {
  readonly id: number;
  /** Low priority: later data may be batched with other frames that are sent soon. */
  isLowPriority = false;
  readonly #host: StreamHost;
  #events: StreamEvents | undefined;
  #earlyEvents: ((events: StreamEvents) => void)[] = [];
  #first: QueuedMessage | undefined;
  #last: QueuedMessage | undefined;
  #queuedBytes = 0;
  #sendCredit = STREAM_WINDOW_BYTES;
  /** Bytes that the peer may still send, and consumed bytes that have not been credited to it yet. */
  #receiveCredit = STREAM_WINDOW_BYTES;
  #releasedBytes = 0;
  #ending: { code: number; reason: string } | undefined;
  #hasSentEnd = false;
  #hasReceivedEnd = false;
  #isClosed = false;

  constructor(id: number, host: StreamHost) {
    this.id = id;
    this.#host = host;
  }

  /** Bytes queued here for lack of credit. */
  get buffered(): number {
    return this.#queuedBytes;
  }

  get closed(): boolean {
    return this.#isClosed;
  }

  /** Opens another stream on the same link. */
  openSibling(opening: Partial<Opening> & { kind: string }): Stream {
    return this.#host.open(opening);
  }

  receive(events: StreamEvents): void {
    this.#events = events;
    for (let deliver = this.#earlyEvents.shift(); deliver; deliver = this.#earlyEvents.shift()) this.#deliver(deliver, events);
  }

  /** Queues a message (or, with `fin` false, a part of one). A body's parts are `bulk` whatever their size. The bytes must not change afterwards. */
  send(data: string | Uint8Array, { fin = true, bulk = false }: { fin?: boolean; bulk?: boolean } = {}): void {
    if (typeof data === 'string') this.#enqueue(encoder.encode(data), (fin ? FLAG_FIN : 0) | FLAG_TEXT | (bulk ? FLAG_BULK : 0));
    else this.#enqueue(data, (fin ? FLAG_FIN : 0) | (bulk ? FLAG_BULK : 0));
  }

  /** Like `send`, for text that is already encoded. */
  sendText(bytes: Uint8Array, fin = true, bulk = false): void {
    this.#enqueue(bytes, (fin ? FLAG_FIN : 0) | FLAG_TEXT | (bulk ? FLAG_BULK : 0));
  }

  /** Ends sending; queued data is still sent. */
  end(code: number = CLOSE_CODES.normal, reason = ''): void {
    if (this.#isClosed || this.#ending) return;
    this.#ending = { code, reason: reason.slice(0, MAX_REASON_CHARS) };
    this.#host.wake(this, false);
  }

  /** Aborts both directions. Queued data is dropped, and no event follows. */
  reset(code: number = CLOSE_CODES.internal, reason = ''): void {
    if (this.#isClosed) return;
    this.#host.sendControl(FRAME_TYPE.reset, this, encoder.encode(JSON.stringify({ code, reason: reason.slice(0, MAX_REASON_CHARS) })));
    this.#earlyEvents = [];
    this.#close();
  }

  /** Credits the sender with `bytes` that were processed, so that it may send as many again. */
  release(bytes: number): void {
    if (this.#isClosed || this.#hasReceivedEnd) return;
    // Never more than was received, which the sender treats as a violation.
    this.#releasedBytes = Math.min(this.#releasedBytes + bytes, STREAM_WINDOW_BYTES - this.#receiveCredit);
    if (this.#releasedBytes < STREAM_WINDOW_BYTES / 4) return;
    const credit = this.#releasedBytes;
    this.#receiveCredit += credit;
    this.#releasedBytes = 0;
    this.#host.sendControl(FRAME_TYPE.credit, this, encodeUint32(credit));
  }

  // Methods for the multiplexer.

  /** The next frame to send: `idle` if there is nothing to send or no credit, `blocked` if only the link's bulk window (`bulkLeft` bytes) is exhausted. */
  nextChunk(bulkLeft: number): OutgoingChunk | 'idle' | 'blocked' {
    if (this.#isClosed) return 'idle';
    const head = this.#first;
    if (!head) {
      if (!this.#ending || this.#hasSentEnd) return 'idle';
      this.#hasSentEnd = true;
      const payload = encoder.encode(JSON.stringify(this.#ending));
      if (this.#hasReceivedEnd) this.#close();
      return { type: FRAME_TYPE.end, flags: 0, payload, more: false };
    }
    const remaining = head.bytes.byteLength - head.offset;
    const size = Math.min(remaining, CHUNK_BYTES, this.#sendCredit);
    if (size === 0 && remaining > 0) return 'idle';
    if ((head.flags & FLAG_BULK) !== 0 && size > bulkLeft) return 'blocked';
    const last = size === remaining;
    const payload = last && head.offset === 0 ? head.bytes : head.bytes.subarray(head.offset, head.offset + size);
    head.offset += size;
    this.#sendCredit -= size;
    this.#queuedBytes -= size;
    if (last) {
      this.#first = head.next;
      if (!this.#first) this.#last = undefined;
    }
    return {
      type: FRAME_TYPE.data,
      flags: last ? head.flags : head.flags & ~FLAG_FIN,
      payload,
      more: this.#first !== undefined || this.#ending !== undefined,
    };
  }

  /** Called when the link has sent data of this stream. Notifies the listener when all is sent. */
  onFlushed(): void {
    if (this.#isClosed || this.#first || !this.#events?.drain) return;
    this.#deliver((events) => events.drain?.(), this.#events);
  }

  /** Throws a `RangeError` if the other side violates the protocol; so do `onEnd` and `onCredit`. */
  onData(chunk: Uint8Array, fin: boolean, text: boolean): void {
    if (this.#isClosed) return;
    if (this.#hasReceivedEnd) throw new RangeError('received data after the end');
    this.#receiveCredit -= chunk.byteLength;
    if (this.#receiveCredit < 0) throw new RangeError('received more data than credit');
    // An empty chunk has no effect and costs no credit, so it is not queued.
    if (chunk.byteLength === 0 && !fin) return;
    if (this.#events) return this.#deliverData(this.#events, chunk, fin, text);
    if (this.#earlyEvents.length >= MAX_EARLY_FRAMES)
      return this.#abort(CLOSE_CODES.policy, 'received too many messages before a listener was attached');
    const copy = chunk.slice();
    this.#earlyEvents.push((events) => events.data(copy, fin, text));
  }

  onEnd(code: number, reason: string): void {
    if (this.#isClosed) return;
    if (this.#hasReceivedEnd) throw new RangeError('a stream ended twice');
    this.#hasReceivedEnd = true;
    if (this.#hasSentEnd) this.#close();
    this.#notify((events) => events.end(code, reason));
  }

  onReset(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#close();
    this.#notify((events) => events.reset(code, reason));
  }

  onCredit(bytes: number): void {
    if (this.#isClosed) return;
    this.#sendCredit += bytes;
    if (this.#sendCredit > STREAM_WINDOW_BYTES) throw new RangeError('received more credit than was used');
    if (this.#first) this.#host.wake(this, false);
  }

  #enqueue(bytes: Uint8Array, flags: number): void {
    if (this.#isClosed || this.#ending) return;
    if (bytes.byteLength === 0 && (flags & FLAG_FIN) === 0) return;
    const queued: QueuedMessage = { bytes, flags: bytes.byteLength > CHUNK_BYTES ? flags | FLAG_BULK : flags, offset: 0, next: undefined };
    if (this.#last) this.#last.next = queued;
    else this.#first = queued;
    this.#last = queued;
    this.#queuedBytes += bytes.byteLength;
    this.#host.wake(this, (flags & FLAG_BULK) !== 0);
  }

  #notify(deliver: (events: StreamEvents) => void): void {
    if (this.#events) this.#deliver(deliver, this.#events);
    else this.#earlyEvents.push(deliver);
  }

  #deliverData(events: StreamEvents, chunk: Uint8Array, fin: boolean, text: boolean): void {
    try {
      events.data(chunk, fin, text);
    } catch (error) {
      this.#onListenerError(error);
    }
  }

  #deliver(deliver: (events: StreamEvents) => void, events: StreamEvents): void {
    try {
      deliver(events);
    } catch (error) {
      this.#onListenerError(error);
    }
  }

  /** The listener failed: neither other streams nor the other side are at fault. */
  #onListenerError(error: unknown): void {
    this.#abort(CLOSE_CODES.internal, error instanceof Error ? error.message : 'the stream listener failed');
  }

  /** Resets from within: both sides are notified. */
  #abort(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.reset(code, reason);
    this.#notify((events) => events.reset(code, reason));
  }

  #close(): void {
    this.#isClosed = true;
    this.#first = this.#last = undefined;
    this.#queuedBytes = 0;
    this.#host.onClosed(this);
  }
}
