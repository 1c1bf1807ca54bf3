import { CLOSE } from '../rpc/frames.ts';
import type { z } from '../rpc/zod.ts';
import { ending, hello, type Hello, MIN_MUX_VERSION, MUX_VERSION, opening, type Opening } from './hello.ts';
import type { Link } from './link.ts';
import { LINK_WINDOW, STREAM_WINDOW, Stream, type StreamHost } from './stream.ts';
import { CHUNK_BYTES, FLAG_BULK, FLAG_FIN, FLAG_TEXT, FrameWriter, readFrames, TYPE, uint32, type WireFrame } from './wire.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });
const NOTHING = new Uint8Array(0);
const MAX_STREAMS = 4096;
/** Milliseconds that low-priority frames wait to be batched. */
const LATER_MS = 10;
const LAST_ID = 0xffff_ffff;

export interface MuxOptions {
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
 * Many streams over one link: `open`, `data`, `end`, `reset`, a byte-credit window per stream, one for bulk on the link, control first,
 * streams served in turn. A peer that breaks the rules closes the link with 1002.
 */
export class Mux {
  /** Resolves with the other side's hello; rejects when the link closes before it. */
  readonly ready: Promise<Hello>;
  /** Resolves when the link is gone; never rejects. */
  readonly closed: Promise<{ code: number; reason: string }>;

  readonly #link: Link<Uint8Array>;
  readonly #options: MuxOptions;
  readonly #schedule: (flush: () => void, bulk: boolean) => void;
  readonly #streams = new Map<number, Stream>();
  readonly #writer = new FrameWriter();
  /** In the order of their turns. */
  readonly #sendable = new Set<Stream>();
  #nextId: number;
  #lastPeerId = 0;
  #batch = false;
  #scheduled = false;
  #later: ReturnType<typeof setTimeout> | undefined;
  #open = true;
  #greeted = false;
  #bulkInFlight = 0;
  #bulkReceived = 0;
  #pings: (() => void)[] = [];
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
        if (stream.unhurried) this.#flushLater();
        else this.#flushSoon(bulk);
      },
      control: (type, { id, unhurried }, payload) => this.#control(type, id, payload, unhurried),
      gone: (stream) => {
        this.#streams.delete(stream.id);
        this.#sendable.delete(stream);
      },
    };
    link.receive({
      message: (message) => this.#read(message),
      drain: () => this.#flush(),
      close: (code, reason) => this.#end(code, reason),
    });
    const greeting: Hello = { ...options.hello, muxVersion: options.hello.muxVersion ?? MUX_VERSION };
    this.#control(TYPE.hello, 0, encode(greeting));
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Opens a stream; data may be sent at once. One that cannot be opened is reset at once, with the reason. */
  open(input: Partial<Opening> & { kind: string }): Stream {
    if (this.#nextId > LAST_ID) this.close(CLOSE.goingAway, 'out of stream ids');
    const stream = new Stream(this.#nextId, this.#host);
    this.#nextId += 2;
    if (!this.#open) {
      stream.lost(CLOSE.goingAway, 'the link is closed');
      return stream;
    }
    // A message that the other side would treat as a breach must not be sent: it would cost all streams their link.
    const payload = encode(input);
    if (payload.byteLength > CHUNK_BYTES || !opening.safeParse(input).success) {
      this.#nextId -= 2;
      stream.lost(CLOSE.policy, 'invalid stream opening');
      return stream;
    }
    this.#streams.set(stream.id, stream);
    this.#control(TYPE.open, stream.id, payload);
    return stream;
  }

  /**
   * Resolves when the other side's code has answered: a frozen page does not, though its socket still would. Never settles if the link
   * closes first: race it with `closed`.
   */
  ping(): Promise<void> {
    return new Promise((resolve) => {
      this.#pings.push(resolve);
      this.#control(TYPE.ping, 0, NOTHING);
    });
  }

  close(code: number = CLOSE.normal, reason = ''): void {
    if (!this.#open) return;
    this.#flush();
    this.#link.close(code, reason);
    this.#end(code, reason);
  }

  #control(type: number, stream: number, payload: Uint8Array, unhurried = false): void {
    if (!this.#open) return;
    this.#writer.write(type, 0, stream, payload);
    if (this.#batch && unhurried && this.#writer.length < CHUNK_BYTES) this.#flushLater();
    else if (this.#batch && this.#writer.length < CHUNK_BYTES) this.#flushSoon();
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
    if (!this.#scheduled) this.#later ??= setTimeout(() => this.#flush(), LATER_MS);
  }

  /**
   * Control frames are already written; then the streams take turns, one chunk each, while credit and the bulk window last. A served stream
   * goes to the end of the queue; one that waits for the bulk window keeps its position, so that it is first when the window opens.
   */
  #flush(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
    if (!this.#open) return;
    let drained: Stream[] | undefined;
    for (const stream of this.#sendable) {
      const chunk = stream.take(LINK_WINDOW - this.#bulkInFlight);
      if (chunk === 'blocked') continue;
      this.#sendable.delete(stream);
      if (chunk === 'idle') continue;
      if (chunk.flags & FLAG_BULK) this.#bulkInFlight += chunk.payload.byteLength;
      this.#writer.write(chunk.type, chunk.flags, stream.id, chunk.payload);
      if (chunk.more) this.#sendable.add(stream);
      else (drained ??= []).push(stream);
      if (!this.#batch || this.#writer.length >= CHUNK_BYTES) {
        this.#link.send(this.#writer.take());
        if (!this.#open) return;
      }
    }
    if (this.#writer.length > 0) this.#link.send(this.#writer.take());
    if (drained) for (const stream of drained) stream.taken();
  }

  #read(message: Uint8Array): void {
    if (!this.#open) return;
    try {
      for (const frame of readFrames(message)) {
        this.#handle(frame);
        if (!this.#open) return;
      }
    } catch (error) {
      this.close(CLOSE.protocolError, error instanceof RangeError ? error.message : 'invalid frame');
    }
  }

  #handle({ type, flags, stream: id, payload }: WireFrame): void {
    if (!this.#greeted && type !== TYPE.hello) throw new RangeError('the first frame must be hello');
    switch (type) {
      case TYPE.hello:
        return this.#greet(read(hello, payload));
      case TYPE.open:
        return this.#accept(id, read(opening, payload));
      case TYPE.data:
        if (flags & FLAG_BULK) this.#ackBulk(payload.byteLength);
        return this.#known(id)?.arrived(payload, (flags & FLAG_FIN) !== 0, (flags & FLAG_TEXT) !== 0);
      case TYPE.end: {
        const { code, reason } = read(ending, payload);
        return this.#known(id)?.ended(code, reason);
      }
      case TYPE.reset: {
        const { code, reason } = read(ending, payload);
        return this.#known(id)?.lost(code, reason);
      }
      case TYPE.credit: {
        if (payload.byteLength !== 4) throw new RangeError('a credit frame must have 4 bytes');
        const bytes = new DataView(payload.buffer, payload.byteOffset, 4).getUint32(0);
        if (id !== 0) return this.#known(id)?.credited(bytes);
        if (bytes > this.#bulkInFlight) throw new RangeError('received more credit than was used');
        this.#bulkInFlight -= bytes;
        return this.#flushSoon();
      }
      case TYPE.ping:
        return this.#control(TYPE.pong, 0, NOTHING);
      case TYPE.pong:
        return this.#pings.shift()?.();
    }
  }

  /** The stream of that number; undefined if it is already closed, which the other side may not know yet. */
  #known(id: number): Stream | undefined {
    const stream = this.#streams.get(id);
    if (stream) return stream;
    const opened = this.#isTheirs(id) ? id <= this.#lastPeerId : id > 0 && id < this.#nextId;
    if (!opened) throw new RangeError('received a frame for a stream that was never opened');
    return undefined;
  }

  #isTheirs(id: number): boolean {
    return id > 0 && (id % 2 === 0) === (this.#options.side === 'dialer');
  }

  #greet(theirs: Hello): void {
    if (this.#greeted) throw new RangeError('received hello twice');
    const version = Math.min(theirs.muxVersion, this.#options.hello.muxVersion ?? MUX_VERSION);
    if (version < MIN_MUX_VERSION) throw new RangeError(`multiplexer version ${version} is too old`);
    this.#greeted = true;
    this.#batch = version >= 2;
    this.#settleReady.resolve(theirs);
  }

  #accept(id: number, given: Opening): void {
    if (!this.#isTheirs(id) || id <= this.#lastPeerId) throw new RangeError('stream id already in use');
    this.#lastPeerId = id;
    const stream = new Stream(id, this.#host);
    this.#streams.set(id, stream);
    if (this.#streams.size > MAX_STREAMS) return stream.reset(CLOSE.noGateway, 'too many streams');
    try {
      this.#options.onstream(stream, given);
    } catch (error) {
      stream.reset(CLOSE.internal, error instanceof Error ? error.message : 'could not serve the stream');
    }
  }

  #ackBulk(bytes: number): void {
    this.#bulkReceived += bytes;
    if (this.#bulkReceived < LINK_WINDOW / 4) return;
    this.#control(TYPE.credit, 0, uint32(this.#bulkReceived));
    this.#bulkReceived = 0;
  }

  #end(code: number, reason: string): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#later);
    for (const stream of [...this.#streams.values()])
      stream.lost(code === CLOSE.normal ? CLOSE.goingAway : code, reason || 'the link closed');
    this.#streams.clear();
    this.#sendable.clear();
    this.#pings = [];
    this.#settleReady.reject(new Error(reason || 'the link closed'));
    this.#settleClosed({ code, reason });
  }
}

const encode = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));

/** Parses a control frame; throws a `RangeError` if it is invalid. */
function read<S extends z.ZodType>(schema: S, payload: Uint8Array): z.output<S> {
  try {
    return schema.parse(JSON.parse(decoder.decode(payload)));
  } catch (error) {
    throw new RangeError('invalid control frame', { cause: error });
  }
}

export { STREAM_WINDOW, uint32 };
export type { Opening };
