import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Link, LinkEvents } from '#shared/link/link.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import { z } from '#shared/rpc/zod.ts';
import type { LinkSeal } from './link-seal.ts';

/** Kinds of sealed messages. A message larger than the server's limit is sent in parts. */
const MESSAGE_KIND = { whole: 0, part: 1, close: 2, beat: 3 } as const;
/** Bytes that sealing adds to a message. */
const SEAL_OVERHEAD_BYTES = 17;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const endingSchema = z.object({ code: z.number().int(), reason: z.string().max(1000) });

/** Keep-alive interval, and the time of silence after which the peer is given up, in milliseconds. */
export const LINK_TIMES = { beatMs: 750, silentMs: 3000 };

interface NatsLinkOptions {
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
  #earlyMessages: Uint8Array[] = [];
  #end: { code: number; reason: string } | undefined;
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** Intervals since the other side's last message. Counted, not timed: while this process is suspended, no interval passes. */
  #silentBeats = 0;

  constructor(options: NatsLinkOptions) {
    this.#options = options;
    const { nc, times: { beatMs, silentMs } = LINK_TIMES } = options;
    this.#maxBytes = (nc.info?.max_payload ?? 1_048_576) - SEAL_OVERHEAD_BYTES;
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
    this.ended = promise;
    this.#settle = resolve;
    this.#timer = setInterval(() => {
      this.#publish(MESSAGE_KIND.beat);
      if (++this.#silentBeats * beatMs >= silentMs) this.#finish(CLOSE_CODES.goingAway, 'the other bridge stopped responding');
    }, beatMs);
    this.#timer.unref();
    void nc.closed().then(() => this.#finish(CLOSE_CODES.goingAway, 'the connection to the cluster was lost'));
  }

  send(message: Uint8Array): void {
    let remaining = message;
    while (remaining.byteLength > this.#maxBytes) {
      this.#publish(MESSAGE_KIND.part, remaining.subarray(0, this.#maxBytes));
      remaining = remaining.subarray(this.#maxBytes);
    }
    this.#publish(MESSAGE_KIND.whole, remaining);
  }

  close(code: number = CLOSE_CODES.normal, reason = ''): void {
    this.#publish(MESSAGE_KIND.close, Buffer.from(JSON.stringify({ code, reason: reason.slice(0, 500) })));
    this.#finish(code, reason);
  }

  receive(events: LinkEvents<Uint8Array>): void {
    this.#events = events;
    for (const message of this.#earlyMessages.splice(0)) events.message(message);
    if (this.#end) events.close(this.#end.code, this.#end.reason);
  }

  /** Handles a message of the subscription. Returns whether it was the other side's. */
  arrived(sealed: Uint8Array): boolean {
    if (this.#end) return false;
    const opened = this.#options.seal.open(sealed);
    if (!opened) {
      this.close(CLOSE_CODES.protocolError, 'a message was lost or is not from the other bridge');
      return false;
    }
    this.#silentBeats = 0;
    const { kind, bytes } = opened;
    if (kind === MESSAGE_KIND.whole || kind === MESSAGE_KIND.part) this.#handleMessage(bytes, kind === MESSAGE_KIND.whole);
    else if (kind === MESSAGE_KIND.close) {
      const { code, reason } = endingSchema.catch({ code: CLOSE_CODES.goingAway, reason: '' }).parse(parseJson(bytes));
      this.#finish(code, reason);
    }
    return true;
  }

  #handleMessage(bytes: Uint8Array, isLast: boolean): void {
    this.#size += bytes.byteLength;
    if (this.#size > MAX_MESSAGE_BYTES) return this.close(CLOSE_CODES.tooBig, 'message too large');
    this.#chunks.push(bytes);
    if (!isLast) return;
    const message = this.#chunks.length === 1 ? bytes : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#size = 0;
    if (this.#events) this.#events.message(message);
    else this.#earlyMessages.push(message);
  }

  #publish(kind: number, bytes: Uint8Array = new Uint8Array(0)): void {
    const { nc, seal, to } = this.#options;
    if (this.#end) return;
    try {
      nc.publish(to, seal.seal(kind, bytes));
    } catch {
      this.#finish(CLOSE_CODES.goingAway, 'the connection to the cluster was lost');
    }
  }

  #finish(code: number, reason: string): void {
    if (this.#end) return;
    this.#end = { code, reason };
    clearInterval(this.#timer);
    if (!this.#options.nc.isClosed()) this.#options.from.unsubscribe();
    this.#events?.close(code, reason);
    this.#settle(this.#end);
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
