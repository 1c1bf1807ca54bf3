import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Link, LinkEvents } from '#shared/link/link.ts';
import { CLOSE } from '#shared/rpc/frames.ts';
import { z } from '#shared/rpc/zod.ts';
import type { LinkSeal } from './link-seal.ts';

/** Kinds of sealed messages. A message larger than the server's limit is sent in parts. */
const KIND = { whole: 0, part: 1, close: 2, beat: 3 } as const;
/** Bytes that sealing adds to a message. */
const OVERHEAD = 17;
const MAX_MESSAGE = 4 * 1024 * 1024;

const ending = z.object({ code: z.number().int(), reason: z.string().max(1000) });

/** Keep-alive interval, and the time of silence after which the peer is given up, in milliseconds. */
export const LINK_TIMES = { beatMs: 750, silentMs: 3000 };

export interface NatsLinkOptions {
  nc: NatsConnection;
  seal: LinkSeal;
  /** Subject of the other side. */
  to: string;
  /** Incoming messages. The link ends the subscription. */
  from: Subscription;
  times?: typeof LINK_TIMES;
}

/**
 * A link over two subjects of a NATS connection. Closes on anything but the other side's next message, on silence, and when the connection
 * ends: a link never continues after a gap. NATS does not apply back-pressure; the multiplexer limits the data in flight.
 */
export class NatsLink implements Link<Uint8Array> {
  readonly buffered = 0;
  /** Resolves when the link has ended. Never rejects. */
  readonly ended: Promise<{ code: number; reason: string }>;
  readonly #options: NatsLinkOptions;
  readonly #maxBytes: number;
  readonly #settle: (end: { code: number; reason: string }) => void;
  readonly #timer: NodeJS.Timeout;
  #events: LinkEvents<Uint8Array> | undefined;
  #early: Uint8Array[] = [];
  #end: { code: number; reason: string } | undefined;
  #parts: Uint8Array[] = [];
  #size = 0;
  #heardAt = performance.now();

  constructor(options: NatsLinkOptions) {
    this.#options = options;
    const { nc, times: { beatMs, silentMs } = LINK_TIMES } = options;
    this.#maxBytes = (nc.info?.max_payload ?? 1_048_576) - OVERHEAD;
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
    this.ended = promise;
    this.#settle = resolve;
    this.#timer = setInterval(() => {
      this.#put(KIND.beat);
      if (performance.now() - this.#heardAt < silentMs) return;
      // This process itself may have been suspended, so read pending messages first.
      setImmediate(() => {
        if (performance.now() - this.#heardAt >= silentMs) this.#over(CLOSE.goingAway, 'the other bridge stopped responding');
      });
    }, beatMs);
    this.#timer.unref();
    void nc.closed().then(() => this.#over(CLOSE.goingAway, 'the connection to the cluster was lost'));
  }

  send(message: Uint8Array): void {
    let rest = message;
    while (rest.byteLength > this.#maxBytes) {
      this.#put(KIND.part, rest.subarray(0, this.#maxBytes));
      rest = rest.subarray(this.#maxBytes);
    }
    this.#put(KIND.whole, rest);
  }

  close(code: number = CLOSE.normal, reason = ''): void {
    this.#put(KIND.close, Buffer.from(JSON.stringify({ code, reason: reason.slice(0, 500) })));
    this.#over(code, reason);
  }

  receive(events: LinkEvents<Uint8Array>): void {
    this.#events = events;
    for (const message of this.#early.splice(0)) events.message(message);
    if (this.#end) events.close(this.#end.code, this.#end.reason);
  }

  /** Handles a message of the subscription. Returns whether it was the other side's. */
  arrived(sealed: Uint8Array): boolean {
    if (this.#end) return false;
    const opened = this.#options.seal.open(sealed);
    if (!opened) {
      this.close(CLOSE.protocolError, 'a message was lost or is not from the other bridge');
      return false;
    }
    this.#heardAt = performance.now();
    const { kind, bytes } = opened;
    if (kind === KIND.whole || kind === KIND.part) this.#take(bytes, kind === KIND.whole);
    else if (kind === KIND.close) {
      const { code, reason } = ending.catch({ code: CLOSE.goingAway, reason: '' }).parse(jsonOf(bytes));
      this.#over(code, reason);
    }
    return true;
  }

  #take(bytes: Uint8Array, isLast: boolean): void {
    this.#size += bytes.byteLength;
    if (this.#size > MAX_MESSAGE) return this.close(CLOSE.tooBig, 'message too large');
    this.#parts.push(bytes);
    if (!isLast) return;
    const message = this.#parts.length === 1 ? bytes : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    if (this.#events) this.#events.message(message);
    else this.#early.push(message);
  }

  #put(kind: number, bytes: Uint8Array = new Uint8Array(0)): void {
    const { nc, seal, to } = this.#options;
    if (this.#end) return;
    try {
      nc.publish(to, seal.seal(kind, bytes));
    } catch {
      this.#over(CLOSE.goingAway, 'the connection to the cluster was lost');
    }
  }

  #over(code: number, reason: string): void {
    if (this.#end) return;
    this.#end = { code, reason };
    clearInterval(this.#timer);
    if (!this.#options.nc.isClosed()) this.#options.from.unsubscribe();
    this.#events?.close(code, reason);
    this.#settle(this.#end);
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
