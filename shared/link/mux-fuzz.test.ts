import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { MUX_VERSION } from './hello.ts';
import { Mux } from './mux.ts';
import { STREAM_WINDOW_BYTES, type Stream } from './stream.ts';
import { encodeFrames, testHello, MuxPair, createStepPair } from './mux-testing.ts';
import { FRAME_TYPE } from './wire.ts';

const LONG = process.env.PERCH_LONG === '1';
const hello = encodeFrames({ type: FRAME_TYPE.hello, payload: { ...testHello, muxVersion: MUX_VERSION } });

/** Frames with a sound header and anything inside: gets deeper than bytes at random. */
const likelyFrame = fc.record({
  type: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 255 })),
  flags: fc.integer({ min: 0, max: 255 }),
  stream: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 0xffff_ffff })),
  payload: fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.constantFrom('{"kind":"rpc"}', '{"code":1000,"reason":""}', '\0\0\0\x08', ''),
    fc.constant(JSON.stringify({ ...testHello, muxVersion: 2 })),
    fc.json(),
  ),
});
const hostile = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.array(likelyFrame, { maxLength: 6 }).map((frames) => encodeFrames(...frames)),
);

describe('fuzz', () => {
  verifies(
    'mux/fuzz',
    'more than 10,000 hostile messages are ignored or close the link with 1002, and never throw',
    () => {
      let messages = 0;
      let closed = 0;
      const session = fc.record({
        greeted: fc.boolean(),
        sent: fc.array(hostile, { minLength: 5, maxLength: 12 }),
        side: fc.constantFrom('dialer', 'acceptor'),
      });
      fc.assert(
        fc.property(session, ({ greeted, sent, side }) => {
          const [attacker, link] = createStepPair();
          attacker.record = false;
          attacker.receive({ message: () => {}, close: () => {} });
          const mux = new Mux(link, {
            side,
            hello: testHello,
            schedule: (flush) => flush(),
            onstream: (stream) => {
              stream.receive({ data: (chunk) => stream.release(chunk.byteLength), end: () => stream.end(), reset: () => {} });
              stream.send('welcome');
            },
          });
          mux.open({ kind: 'rpc' }).send('mine');
          if (greeted) attacker.send(hello);
          for (const message of sent) {
            attacker.send(message);
            messages++;
          }
          while (link.step());
          while (attacker.step());
          if (attacker.closeEvent) {
            closed++;
            expect(attacker.closeEvent.code).toBe(1002);
            expect(mux.streams).toBe(0);
          } else expect(mux.streams).toBeGreaterThan(0);
        }),
        { numRuns: LONG ? 50_000 : 3_000 },
      );
      expect(messages).toBeGreaterThan(10_000);
      expect(closed).toBeGreaterThan(0);
    },
    120_000,
  );

  verifies(
    'mux/fuzz',
    'whatever is done on many streams, in whatever pieces the link brings it: order, content, boundaries and ends hold',
    () => {
      fc.assert(
        fc.property(versions, fc.array(operation, { minLength: 20, maxLength: 150 }), (muxVersions, operations) => {
          const run = new Model(muxVersions);
          for (const each of operations) run.apply(each);
          run.finish();
        }),
        { numRuns: LONG ? 5_000 : 300 },
      );
    },
    120_000,
  );
});

const versions = fc.record({ dialerVersion: fc.integer({ min: 1, max: 2 }), acceptorVersion: fc.integer({ min: 1, max: 2 }) });
const pick = fc.nat({ max: 1000 });
const size = fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 2000 }) }, { weight: 1, arbitrary: fc.integer({ min: 60_000, max: 700_000 }) });
const operation = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('open' as const), by: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('send' as const), pick, size, text: fc.boolean(), bulk: fc.boolean(), fin: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('stall' as const, 'take' as const, 'listen' as const), pick }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('deliver' as const), toDialer: fc.boolean(), count: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('flush' as const) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

interface MessagePart {
  bytes: Uint8Array;
  text: boolean;
}

/** One end of a stream, and what must come out at the other. */
interface StreamEnd {
  stream: Stream;
  other: StreamEnd | undefined;
  sent: MessagePart[];
  open: MessagePart | undefined;
  endSent: boolean;
  wasCut: boolean;
  listening: boolean;
  stalled: boolean;
  heldBytes: number;
  received: MessagePart[];
  partial: Uint8Array[];
  ended: boolean;
  wasReset: boolean;
}

class Model {
  readonly #pair: MuxPair;
  readonly #ends: StreamEnd[] = [];
  /** Errors that listeners found: a stream treats their exceptions as its own failure. */
  readonly #faults: string[] = [];
  #counter = 0;

  constructor(muxVersions: { dialerVersion: number; acceptorVersion: number }) {
    this.#pair = new MuxPair(muxVersions);
    this.#pair.dialerLink.record = this.#pair.acceptorLink.record = false;
  }

  apply(step: Operation): void {
    if (step.do === 'open') return this.#openStream(step.by);
    if (step.do === 'flush') return void this.#pair.flush();
    if (step.do === 'deliver') {
      const link = step.toDialer ? this.#pair.dialerLink : this.#pair.acceptorLink;
      for (let i = 0; i < step.count && link.step(); i++) this.#pairAccepted();
      return;
    }
    const end = this.#ends[step.pick % Math.max(1, this.#ends.length)];
    if (!end) return;
    if (step.do === 'send') return this.#send(end, step);
    if (step.do === 'listen') return this.#listen(end);
    if (step.do === 'stall') end.stalled = true;
    else if (step.do === 'take') this.#releaseHeld(end);
    else if (step.do === 'end') this.#end(end);
    else {
      end.wasCut = true;
      end.stream.reset(4001, 'cut');
    }
  }

  /** Everybody listens and takes, all ends: then both sides must have heard everything, and nothing may be left. */
  finish(): void {
    for (const end of this.#ends) {
      this.#listen(end);
      this.#releaseHeld(end);
    }
    for (const end of [...this.#ends]) this.#end(end);
    this.#settle();
    for (const end of [...this.#ends]) {
      this.#listen(end);
      this.#releaseHeld(end);
      this.#end(end);
    }
    this.#settle();
    expect(this.#faults).toEqual([]);
    expect([this.#pair.dialerLink.closeEvent, this.#pair.acceptorLink.closeEvent]).toEqual([undefined, undefined]);
    expect([this.#pair.dialer.streams, this.#pair.acceptor.streams]).toEqual([0, 0]);
    for (const end of this.#ends) {
      expect(end.stream.buffered).toBe(0);
      const sent = end.other?.sent ?? [];
      const cut = end.wasCut || (end.other?.wasCut ?? false);
      if (cut) expect(end.received.length).toBeLessThanOrEqual(sent.length);
      else expect(end.received.length).toBe(sent.length);
      end.received.forEach((part, i) => {
        expect(part.text).toBe(sent[i]?.text);
        expect(Buffer.compare(part.bytes, sent[i]?.bytes ?? new Uint8Array())).toBe(0);
      });
      if (!cut) expect([end.ended, end.wasReset, end.partial.length]).toEqual([true, false, 0]);
      else expect(end.wasCut || end.ended || end.wasReset).toBe(true);
    }
  }

  #settle(): void {
    this.#pair.settle();
    this.#pairAccepted();
    this.#pair.settle();
  }

  #openStream(byDialer: boolean): void {
    const mux = byDialer ? this.#pair.dialer : this.#pair.acceptor;
    this.#ends.push(newEnd(mux.open({ kind: 'any' })));
  }

  /** Pairs accepted streams with the ends that opened them. */
  #pairAccepted(): void {
    for (const { stream } of this.#pair.accepted.splice(0)) {
      const opener = this.#ends.find((end) => end.stream.id === stream.id);
      if (!opener) throw new Error('a stream came that nobody opened');
      const end = newEnd(stream);
      end.other = opener;
      opener.other = end;
      this.#ends.push(end);
    }
  }

  #send(end: StreamEnd, part: { size: number; text: boolean; bulk: boolean; fin: boolean }): void {
    if (end.endSent || end.stream.closed) return;
    // The parts of one message are of one kind.
    const text = end.open?.text ?? part.text;
    const bytes = new Uint8Array(part.size).fill(text ? 97 + (this.#counter++ % 26) : this.#counter++ & 0xff);
    const fin = part.fin;
    if (text && fin && !part.bulk) end.stream.sendText(bytes, fin);
    else if (text) end.stream.send(new TextDecoder().decode(bytes), { fin, bulk: part.bulk });
    else end.stream.send(bytes, { fin, bulk: part.bulk });
    const message = { text, bytes: end.open ? Buffer.concat([end.open.bytes, bytes]) : bytes };
    if (fin) end.sent.push(message);
    end.open = fin ? undefined : message;
  }

  #end(end: StreamEnd): void {
    if (end.endSent || end.stream.closed) return;
    if (end.open) this.#send(end, { size: 1, text: end.open.text, bulk: false, fin: true });
    end.endSent = true;
    end.stream.end(1000, 'done');
  }

  #releaseHeld(end: StreamEnd): void {
    end.stalled = false;
    const held = end.heldBytes;
    end.heldBytes = 0;
    end.stream.release(held);
  }

  #listen(end: StreamEnd): void {
    if (end.listening) return;
    end.listening = true;
    end.stream.receive({
      data: (chunk, fin, text) => {
        if (end.ended || end.wasReset) this.#faults.push('data after the last word');
        end.partial.push(chunk.slice());
        if (end.stalled) end.heldBytes += chunk.byteLength;
        else end.stream.release(chunk.byteLength);
        if (end.heldBytes > STREAM_WINDOW_BYTES) this.#faults.push('more than the window is held');
        if (!fin) return;
        end.received.push({ bytes: Buffer.concat(end.partial), text });
        end.partial = [];
      },
      end: (code) => {
        if (code !== 1000 || end.ended || end.wasReset) this.#faults.push(`end with ${code}`);
        end.ended = true;
      },
      reset: (code) => {
        if (code !== 4001 || end.wasReset) this.#faults.push(`reset with ${code}`);
        end.wasReset = true;
      },
    });
  }
}

const newEnd = (stream: Stream): StreamEnd => ({
  stream,
  other: undefined,
  sent: [],
  open: undefined,
  endSent: false,
  wasCut: false,
  listening: false,
  stalled: false,
  heldBytes: 0,
  received: [],
  partial: [],
  ended: false,
  wasReset: false,
});
