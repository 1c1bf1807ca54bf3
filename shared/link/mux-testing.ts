import type { Hello, Opening } from './hello.ts';
import type { Link, LinkEvents } from './link.ts';
import { Mux } from './mux.ts';
import type { Stream } from './stream.ts';
import { FrameWriter, readFrames, type WireFrame } from './wire.ts';

// For tests: nothing moves until the test steps it, so that order and amounts can be checked.

export const testHello: Omit<Hello, 'muxVersion'> = { portsVersion: 1, schemaVersion: 1, build: 'test', capabilities: [] };

/**
 * One end of a link whose messages arrive when `step` is called. Overwrites each message's bytes afterwards, to reveal receivers that keep
 * them.
 */
export class StepLink implements Link<Uint8Array> {
  peer!: StepLink;
  readonly buffered = 0;
  /** Sizes of all messages sent here. */
  readonly sent: number[] = [];
  /** The frames of all messages sent here, with copies of their payloads where `record` is on. */
  readonly frames: WireFrame[] = [];
  record = true;
  closeEvent: { code: number; reason: string } | undefined;
  #events: LinkEvents<Uint8Array> | undefined;
  #inbox: (Uint8Array | { code: number; reason: string })[] = [];

  get waiting(): number {
    return this.#inbox.length;
  }

  send(message: Uint8Array): void {
    if (this.closeEvent) return;
    this.sent.push(message.byteLength);
    if (this.record) for (const frame of readFrames(message.slice())) this.frames.push(frame);
    this.peer.#inbox.push(message.slice());
  }

  close(code = 1000, reason = ''): void {
    if (this.closeEvent) return;
    this.closeEvent = { code, reason };
    this.peer.#inbox.push({ code, reason });
  }

  receive(events: LinkEvents<Uint8Array>): void {
    this.#events = events;
  }

  /** Delivers the next message sent by the other end; returns false if there is none. */
  step(): boolean {
    const message = this.#inbox.shift();
    if (message === undefined) return false;
    if (this.closeEvent) return true;
    if (message instanceof Uint8Array) {
      this.#events?.message(message);
      message.fill(0xff);
    } else {
      this.closeEvent = message;
      this.#events?.close(message.code, message.reason);
    }
    return true;
  }
}

export function createStepPair(): [StepLink, StepLink] {
  const a = new StepLink();
  const b = new StepLink();
  a.peer = b;
  b.peer = a;
  return [a, b];
}

interface AcceptedStream {
  stream: Stream;
  opening: Opening;
}

/** Two multiplexers whose writing and delivery the test controls. */
export class MuxPair {
  readonly dialer: Mux;
  readonly acceptor: Mux;
  readonly dialerLink: StepLink;
  readonly acceptorLink: StepLink;
  readonly accepted: AcceptedStream[] = [];
  #flushes: (() => void)[] = [];

  constructor({
    dialerVersion = 2,
    acceptorVersion = 2,
    onstream,
  }: { dialerVersion?: number; acceptorVersion?: number; onstream?: (accepted: AcceptedStream) => void } = {}) {
    [this.dialerLink, this.acceptorLink] = createStepPair();
    const schedule = (flush: () => void): void => void this.#flushes.push(flush);
    this.dialer = new Mux(this.dialerLink, {
      side: 'dialer',
      hello: { ...testHello, muxVersion: dialerVersion },
      schedule,
      onstream: (stream, opening) => this.accepted.push({ stream, opening }),
    });
    this.acceptor = new Mux(this.acceptorLink, {
      side: 'acceptor',
      hello: { ...testHello, muxVersion: acceptorVersion },
      schedule,
      onstream: (stream, opening) => {
        this.accepted.push({ stream, opening });
        onstream?.({ stream, opening });
      },
    });
  }

  /** Writes queued frames; returns false if there were none. */
  flush(): boolean {
    const due = this.#flushes;
    this.#flushes = [];
    for (const flush of due) flush();
    return due.length > 0;
  }

  /** Until nothing moves any more. */
  settle(): void {
    while (this.flush() || this.acceptorLink.step() || this.dialerLink.step());
  }

  /** Like `settle`, for code that also needs microtasks and tasks. */
  async settleAsync(until: () => boolean, rounds = 10_000): Promise<void> {
    for (let round = 0; round < rounds && !until(); round++) {
      this.settle();
      await new Promise((resolve) => setTimeout(resolve));
    }
    if (!until()) throw new Error('what was waited for did not come');
  }

  /** Opens a stream and returns both ends. */
  open(kind = 'rpc'): { near: Stream; far: Stream } {
    const near = this.dialer.open({ kind });
    this.settle();
    const far = this.accepted.at(-1)?.stream;
    if (far?.id !== near.id) throw new Error('the stream did not arrive');
    return { near, far };
  }
}

interface StreamLog {
  messages: { bytes: Uint8Array; text: boolean }[];
  chunks: number[];
  end?: { code: number; reason: string };
  reset?: { code: number; reason: string };
  drains: number;
}

/** Listens to a stream; with `release` false it takes nothing, as a stalled reader. */
export function recordStream(stream: Stream, { release = true, onend }: { release?: boolean; onend?: () => void } = {}): StreamLog {
  const log: StreamLog = { messages: [], chunks: [], drains: 0 };
  let parts: Uint8Array[] = [];
  stream.receive({
    data(chunk, fin, text) {
      parts.push(chunk.slice());
      log.chunks.push(chunk.byteLength);
      if (release) stream.release(chunk.byteLength);
      if (!fin) return;
      log.messages.push({ bytes: concatBytes(parts), text });
      parts = [];
    },
    end(code, reason) {
      log.end = { code, reason };
      onend?.();
    },
    reset: (code, reason) => void (log.reset = { code, reason }),
    drain: () => void log.drains++,
  });
  return log;
}

function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.byteLength;
  }
  return joined;
}

/** A link message of hand-made frames. */
export function encodeFrames(
  ...specs: { type: number; flags?: number; stream?: number; payload?: Uint8Array | string | object }[]
): Uint8Array {
  const writer = new FrameWriter();
  for (const { type, flags = 0, stream = 0, payload = '' } of specs) writer.write(type, flags, stream, toBytes(payload));
  return writer.take();
}

function toBytes(payload: Uint8Array | string | object): Uint8Array {
  if (payload instanceof Uint8Array) return payload;
  return new TextEncoder().encode(typeof payload === 'string' ? payload : JSON.stringify(payload));
}
