import { CLOSE_CODES } from '../rpc/frames.ts';
import type { z } from '../rpc/zod.ts';
import { ending, hello, type Hello, MIN_MUX_VERSION, MUX_VERSION, opening, type Opening } from './hello.ts';
import type { Link } from './link.ts';
import { LINK_WINDOW_BYTES, STREAM_WINDOW_BYTES, Stream, type StreamHost } from './stream.ts';
import { CHUNK_BYTES, FLAG_BULK, FLAG_FIN, FLAG_TEXT, FrameWriter, readFrames, FRAME_TYPE, encodeUint32, type WireFrame } from './wire.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });
const EMPTY = new Uint8Array(0);
const MAX_STREAMS = 4096;
/** Milliseconds that low-priority frames wait to be batched. */
const BATCH_DELAY_MS = 10;
const MAX_STREAM_ID = 0xffff_ffff;

interface MuxOptions {
  /** The dialer numbers its streams 1, 3, 5 …, the acceptor 2, 4, 6 … */
  side: 'dialer' | 'acceptor';
  hello: Omit<Hello, 'muxVersion'> & { muxVersion?: number };
  /** A stream that the other side opened. */
  onstream(stream: Stream, opening: Opening): void;
  /**
   * When to write what was queued: later in the same turn by default, so that answers of one turn share a message. `bulk`: it is a part of
   * a body, which may wait for more.
   */
  schedule?: (flush: () => void, bulk: boolean) => void;
}

/**
 * Multiplexes streams over one link: `open`, `data`, `end`, `reset`, a byte-credit window per stream, one for bulk on the link, control first,
 * streams served in turn. A peer that breaks the rules closes the link with 1002.
 */
export class Mux {
  /** Resolves with the other side's hello; rejects when the link closes before it. */
  readonly ready: Promise<Hello>;
  /** Resolves when the link has closed. Never rejects. */
  readonly closed: Promise<{ code: number; reason: string }>;

  readonly #link: Link<Uint8Array>;
  readonly #options: MuxOptions;
  readonly #schedule: (flush: () => void, bulk: boolean) => void;
  readonly #streams = new Map<number, Stream>();
  readonly #writer = new FrameWriter();
  /** Streams with queued data, in the order in which they are served. */
  readonly #sendable = new Set<Stream>();
  #nextId: number;
  #lastPeerId = 0;
  #canBatch = false;
  #scheduled = false;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  #open = true;
  #hasReceivedHello = false;
  #bulkInFlight = 0;
  #bulkReceived = 0;
  #pendingPings: (() => void)[] = [];
  #settleReady!: { resolve(hello: Hello): void; reject(error: Error): void };
  #settleClosed!: (end: { code: number; reason: string }) => void;
  readonly #host: StreamHost;

  constructor(link: Link<Uint8Array>, options: MuxOptions) {
    this.#link = link;
    this.#options = options;
    this.#schedule = options.schedule ?? queueMicrotask;
    this.#nextId = options.side === 'dialer' ? 1 : 2;
    this.ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }));
    this.ready.catch(() => {});
    this.closed = new Promise((resolve) => (this.#settleClosed = resolve));
    this.#host = {
      open: (opening) => this.open(opening),
      wake: (stream, bulk) => {
        this.#sendable.add(stream);
        if (stream.isLowPriority) this.#flushLater();
        else this.#flushSoon(bulk);
      },
      sendControl: (type, { id, isLowPriority }, payload) => this.#control(type, id, payload, isLowPriority),
      onClosed: (stream) => {
        this.#streams.delete(stream.id);
        this.#sendable.delete(stream);
      },
    };
    link.receive({
      message: (message) => this.#read(message),
      drain: () => this.#flush(),
      close: (code, reason) => this.#onClose(code, reason),
    });
    const greeting: Hello = { ...options.hello, muxVersion: options.hello.muxVersion ?? MUX_VERSION };
    this.#control(FRAME_TYPE.hello, 0, encodeJson(greeting));
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Opens a stream. Data may be sent immediately. If it can't be opened, it is reset with the reason. */
  open(input: Partial<Opening> & { kind: string }): Stream {
    if (this.#nextId > MAX_STREAM_ID) this.close(CLOSE_CODES.goingAway, 'out of stream ids');
    const stream = new Stream(this.#nextId, this.#host);
    this.#nextId += 2;
    if (!this.#open) {
      stream.onReset(CLOSE_CODES.goingAway, 'the link is closed');
      return stream;
    }
    // Do not send what the other side would treat as a violation: it would close the link with all its streams.
    const payload = encodeJson(input);
    if (payload.byteLength > CHUNK_BYTES || !opening.safeParse(input).success) {
      this.#nextId -= 2;
      stream.onReset(CLOSE_CODES.policy, 'invalid stream opening');
      return stream;
    }
    this.#streams.set(stream.id, stream);
    this.#control(FRAME_TYPE.open, stream.id, payload);
    return stream;
  }

  /**
   * Resolves when the other side's code has answered: a frozen page does not, though its socket still would. Never settles if the link
   * closes first: race it with `closed`.
   */
  ping(): Promise<void> {
    return new Promise((resolve) => {
      this.#pendingPings.push(resolve);
      this.#control(FRAME_TYPE.ping, 0, EMPTY);
    });
  }

  close(code: number = CLOSE_CODES.normal, reason = ''): void {
    if (!this.#open) return;
    this.#flush();
    this.#link.close(code, reason);
    this.#onClose(code, reason);
  }

  #control(type: number, stream: number, payload: Uint8Array, canWait = false): void {
    if (!this.#open) return;
    this.#writer.write(type, 0, stream, payload);
    if (this.#canBatch && canWait && this.#writer.length < CHUNK_BYTES) this.#flushLater();
    else if (this.#canBatch && this.#writer.length < CHUNK_BYTES) this.#flushSoon();
    else this.#link.send(this.#writer.take());
  }

  #flushSoon(bulk = false): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      this.#flush();
    }, bulk);
  }

  #flushLater(): void {
    if (!this.#scheduled) this.#flushTimer ??= setTimeout(() => this.#flush(), BATCH_DELAY_MS);
  }

  /**
   * Control frames are already written; then the streams take turns, one chunk each, while credit and the bulk window last. A served stream
   * goes to the end of the queue; one that waits for the bulk window keeps its position, so that it is first when the window opens.
   */
  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (!this.#open) return;
    let drained: Stream[] | undefined;
    for (const stream of this.#sendable) {
      const chunk = stream.nextChunk(LINK_WINDOW_BYTES - this.#bulkInFlight);
      if (chunk === 'blocked') continue;
      this.#sendable.delete(stream);
      if (chunk === 'idle') continue;
      if (chunk.flags & FLAG_BULK) this.#bulkInFlight += chunk.payload.byteLength;
      this.#writer.write(chunk.type, chunk.flags, stream.id, chunk.payload);
      if (chunk.more) this.#sendable.add(stream);
      else (drained ??= []).push(stream);
      if (!this.#canBatch || this.#writer.length >= CHUNK_BYTES) {
        this.#link.send(this.#writer.take());
        if (!this.#open) return;
      }
    }
    if (this.#writer.length > 0) this.#link.send(this.#writer.take());
    if (drained) for (const stream of drained) stream.onFlushed();
  }

  #read(message: Uint8Array): void {
    if (!this.#open) return;
    try {
      for (const frame of readFrames(message)) {
        this.#handle(frame);
        if (!this.#open) return;
      }
    } catch (error) {
      this.close(CLOSE_CODES.protocolError, error instanceof RangeError ? error.message : 'invalid frame');
    }
  }

  #handle({ type, flags, stream: id, payload }: WireFrame): void {
    if (!this.#hasReceivedHello && type !== FRAME_TYPE.hello) throw new RangeError('the first frame must be hello');
    switch (type) {
      case FRAME_TYPE.hello:
        return this.#onHello(parseControlFrame(hello, payload));
      case FRAME_TYPE.open:
        return this.#onOpen(id, parseControlFrame(opening, payload));
      case FRAME_TYPE.data:
        if (flags & FLAG_BULK) this.#ackBulk(payload.byteLength);
        return this.#findStream(id)?.onData(payload, (flags & FLAG_FIN) !== 0, (flags & FLAG_TEXT) !== 0);
      case FRAME_TYPE.end: {
        const { code, reason } = parseControlFrame(ending, payload);
        return this.#findStream(id)?.onEnd(code, reason);
      }
      case FRAME_TYPE.reset: {
        const { code, reason } = parseControlFrame(ending, payload);
        return this.#findStream(id)?.onReset(code, reason);
      }
      case FRAME_TYPE.credit: {
        if (payload.byteLength !== 4) throw new RangeError('a credit frame must have 4 bytes');
        const bytes = new DataView(payload.buffer, payload.byteOffset, 4).getUint32(0);
        if (id !== 0) return this.#findStream(id)?.onCredit(bytes);
        if (bytes > this.#bulkInFlight) throw new RangeError('received more credit than was used');
        this.#bulkInFlight -= bytes;
        return this.#flushSoon();
      }
      case FRAME_TYPE.ping:
        return this.#control(FRAME_TYPE.pong, 0, EMPTY);
      case FRAME_TYPE.pong:
        return this.#pendingPings.shift()?.();
    }
  }

  /** Returns a stream by number; undefined if it is already closed, which the other side may not know yet. */
  #findStream(id: number): Stream | undefined {
    const stream = this.#streams.get(id);
    if (stream) return stream;
    const opened = this.#isPeerId(id) ? id <= this.#lastPeerId : id > 0 && id < this.#nextId;
    if (!opened) throw new RangeError('received a frame for a stream that was never opened');
    return undefined;
  }

  #isPeerId(id: number): boolean {
    return id > 0 && (id % 2 === 0) === (this.#options.side === 'dialer');
  }

  #onHello(peerHello: Hello): void {
    if (this.#hasReceivedHello) throw new RangeError('received hello twice');
    const version = Math.min(peerHello.muxVersion, this.#options.hello.muxVersion ?? MUX_VERSION);
    if (version < MIN_MUX_VERSION) throw new RangeError(`multiplexer version ${version} is too old`);
    this.#hasReceivedHello = true;
    this.#canBatch = version >= 2;
    this.#settleReady.resolve(peerHello);
  }

  #onOpen(id: number, streamOpening: Opening): void {
    if (!this.#isPeerId(id) || id <= this.#lastPeerId) throw new RangeError('stream id already in use');
    this.#lastPeerId = id;
    const stream = new Stream(id, this.#host);
    this.#streams.set(id, stream);
    if (this.#streams.size > MAX_STREAMS) return stream.reset(CLOSE_CODES.noGateway, 'too many streams');
    try {
      this.#options.onstream(stream, streamOpening);
    } catch (error) {
      stream.reset(CLOSE_CODES.internal, error instanceof Error ? error.message : 'could not serve the stream');
    }
  }

  #ackBulk(bytes: number): void {
    this.#bulkReceived += bytes;
    if (this.#bulkReceived < LINK_WINDOW_BYTES / 4) return;
    this.#control(FRAME_TYPE.credit, 0, encodeUint32(this.#bulkReceived));
    this.#bulkReceived = 0;
  }

  #onClose(code: number, reason: string): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#flushTimer);
    for (const stream of [...this.#streams.values()])
      stream.onReset(code === CLOSE_CODES.normal ? CLOSE_CODES.goingAway : code, reason || 'the link closed');
    this.#streams.clear();
    this.#sendable.clear();
    this.#pendingPings = [];
    this.#settleReady.reject(new Error(reason || 'the link closed'));
    this.#settleClosed({ code, reason });
  }
}

const encodeJson = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));

/** Parses a control frame; throws a `RangeError` if it is invalid. */
function parseControlFrame<S extends z.ZodType>(schema: S, payload: Uint8Array): z.output<S> {
  try {
    return schema.parse(JSON.parse(decoder.decode(payload)));
  } catch (error) {
    throw new RangeError('invalid control frame', { cause: error });
  }
}

export { STREAM_WINDOW_BYTES, encodeUint32 };
export type { Opening };
