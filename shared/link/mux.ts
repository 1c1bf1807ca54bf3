import { CLOSE } from '../rpc/frames.ts';
import { ending, hello, type Hello, MIN_MUX_VERSION, MUX_VERSION, opening, type Opening } from './hello.ts';
import type { Link } from './link.ts';
import { LINK_WINDOW, STREAM_WINDOW, Stream, type StreamHost } from './stream.ts';
import { CHUNK_BYTES, FLAG_BULK, FLAG_FIN, FLAG_TEXT, FrameWriter, readFrames, TYPE, type WireFrame } from './wire.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });
const NOTHING = new Uint8Array(0);
const MAX_STREAMS = 4096;

export interface MuxOptions {
  /** The dialer numbers its streams 1, 3, 5 …, the acceptor 2, 4, 6 … */
  side: 'dialer' | 'acceptor';
  hello: Omit<Hello, 'muxVersion'> & { muxVersion?: number };
  /** A stream that the other side opened. */
  onstream(stream: Stream, opening: Opening): void;
  /** When to write what was queued: later in the same turn by default, so that answers of one turn share a message. */
  schedule?: (flush: () => void) => void;
}

/**
 * Many streams over one link: `open`, `data`, `end`, `reset`, a byte-credit window per stream, one for bulk on the link, control first,
 * streams served in turn (design.md, "The bridge is a pipe with locks on it"). A peer that breaks the rules closes the link with 1002.
 */
export class Mux {
  /** Resolves with the other side's hello; rejects when the link closes before it. */
  readonly ready: Promise<Hello>;
  /** Resolves when the link is gone; never rejects. */
  readonly closed: Promise<{ code: number; reason: string }>;

  readonly #link: Link<Uint8Array>;
  readonly #options: MuxOptions;
  readonly #schedule: (flush: () => void) => void;
  readonly #streams = new Map<number, Stream>();
  readonly #writer = new FrameWriter();
  #sendable = new Set<Stream>();
  #nextId: number;
  #lastPeerId = 0;
  #batch = false;
  #scheduled = false;
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
      wake: (stream) => {
        this.#sendable.add(stream);
        this.#flushSoon();
      },
      control: (type, id, payload) => this.#control(type, id, payload),
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
    const greeting: Hello = { muxVersion: MUX_VERSION, ...options.hello };
    this.#control(TYPE.hello, 0, encode(greeting));
    this.#flush();
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Opens a stream; data may be sent at once. */
  open(input: Partial<Opening> & { kind: string }): Stream {
    const stream = new Stream(this.#nextId, this.#host);
    this.#nextId += 2;
    if (!this.#open) {
      stream.lost(CLOSE.goingAway, 'the link is closed');
      return stream;
    }
    this.#streams.set(stream.id, stream);
    this.#control(TYPE.open, stream.id, encode(input));
    return stream;
  }

  /** Resolves when the other side's code has answered: a frozen page does not, though its socket still would. */
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

  #control(type: number, stream: number, payload: Uint8Array): void {
    if (!this.#open) return;
    this.#writer.write(type, 0, stream, payload);
    if (this.#batch) this.#flushSoon();
    else this.#link.send(this.#writer.take());
  }

  #flushSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /** Control frames are in the writer already; then the streams in turn, a chunk each, while credit and the bulk window last. */
  #flush(): void {
    if (!this.#open) return;
    let round = this.#sendable;
    while (round.size > 0) {
      this.#sendable = new Set();
      let progress = false;
      for (const stream of round) {
        const chunk = stream.take(LINK_WINDOW - this.#bulkInFlight);
        if (chunk === 'blocked') this.#sendable.add(stream);
        if (typeof chunk === 'string') continue;
        progress = true;
        if (chunk.flags & FLAG_BULK) this.#bulkInFlight += chunk.payload.byteLength;
        this.#writer.write(chunk.type, chunk.flags, stream.id, chunk.payload);
        if (chunk.more) this.#sendable.add(stream);
        if (!this.#batch || this.#writer.length >= CHUNK_BYTES) this.#link.send(this.#writer.take());
      }
      round = this.#sendable;
      if (!progress) break;
    }
    if (this.#writer.length > 0) this.#link.send(this.#writer.take());
  }

  #read(message: Uint8Array): void {
    if (!this.#open) return;
    try {
      for (const frame of readFrames(message)) {
        if (!this.#open) return;
        this.#handle(frame);
      }
    } catch (error) {
      this.close(CLOSE.protocolError, error instanceof Error ? error.message.slice(0, 120) : 'protocol error');
    }
  }

  #handle({ type, flags, stream: id, payload }: WireFrame): void {
    if (!this.#greeted && type !== TYPE.hello) throw new RangeError('the first frame must be hello');
    switch (type) {
      case TYPE.hello:
        return this.#greet(decode(payload));
      case TYPE.open:
        return this.#accept(id, opening.parse(decode(payload)));
      case TYPE.data:
        if (flags & FLAG_BULK) this.#ackBulk(payload.byteLength);
        return this.#streams.get(id)?.arrived(payload, (flags & FLAG_FIN) !== 0, (flags & FLAG_TEXT) !== 0);
      case TYPE.end: {
        const { code, reason } = ending.parse(decode(payload));
        return this.#streams.get(id)?.ended(code, reason);
      }
      case TYPE.reset: {
        const { code, reason } = ending.parse(decode(payload));
        return this.#streams.get(id)?.lost(code, reason);
      }
      case TYPE.credit: {
        if (payload.byteLength !== 4) throw new RangeError('a credit frame has 4 bytes');
        const bytes = new DataView(payload.buffer, payload.byteOffset, 4).getUint32(0);
        if (id === 0) {
          this.#bulkInFlight = Math.max(0, this.#bulkInFlight - bytes);
          return this.#flushSoon();
        }
        return this.#streams.get(id)?.credited(bytes);
      }
      case TYPE.ping:
        return this.#control(TYPE.pong, 0, NOTHING);
      case TYPE.pong:
        return this.#pings.shift()?.();
    }
  }

  #greet(value: unknown): void {
    if (this.#greeted) throw new RangeError('hello came twice');
    const theirs = hello.parse(value);
    const version = Math.min(theirs.muxVersion, this.#options.hello.muxVersion ?? MUX_VERSION);
    if (version < MIN_MUX_VERSION) throw new RangeError(`the multiplexer's version ${version} is too old`);
    this.#greeted = true;
    this.#batch = version >= 2;
    this.#settleReady.resolve(theirs);
  }

  #accept(id: number, given: Opening): void {
    const theirs = this.#options.side === 'dialer' ? id % 2 === 0 : id % 2 === 1;
    if (!theirs || id <= this.#lastPeerId) throw new RangeError('a stream was opened under a number that is not free');
    this.#lastPeerId = id;
    const stream = new Stream(id, this.#host);
    this.#streams.set(id, stream);
    if (this.#streams.size > MAX_STREAMS) stream.reset(CLOSE.noGateway, 'too many streams');
    else this.#options.onstream(stream, given);
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
    for (const stream of [...this.#streams.values()]) stream.lost(code === CLOSE.normal ? CLOSE.goingAway : code, reason || 'the link closed');
    this.#streams.clear();
    this.#settleReady.reject(new Error(reason || 'the link closed'));
    this.#settleClosed({ code, reason });
  }
}

const encode = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));
const decode = (payload: Uint8Array): unknown => JSON.parse(decoder.decode(payload));

export function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

export { STREAM_WINDOW };
export type { Opening };
