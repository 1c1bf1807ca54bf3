import { describe, expect, it } from 'vitest';
import { MUX_VERSION } from './hello.ts';
import { Mux } from './mux.ts';
import { STREAM_WINDOW_BYTES, type Stream } from './stream.ts';
import { encodeFrames, testHello, recordStream, createStepPair, type StepLink } from './mux-testing.ts';
import { FLAG_BULK, MAX_PAYLOAD_BYTES, FRAME_TYPE, encodeUint32 } from './wire.ts';

const hello = { type: FRAME_TYPE.hello, payload: { ...testHello, muxVersion: MUX_VERSION } };
const open = (stream: number) => ({ type: FRAME_TYPE.open, stream, payload: { kind: 'rpc' } });
const data = (stream: number, size: number, flags = 0) => ({ type: FRAME_TYPE.data, stream, flags, payload: new Uint8Array(size) });
const end = (stream: number) => ({ type: FRAME_TYPE.end, stream, payload: { code: 1000, reason: '' } });

/** An acceptor, and the hand of an attacker who holds the other end. */
function createAttackedMux(): { attacker: StepLink; mux: Mux; accepted: Stream[]; send(message: Uint8Array): void } {
  const [attacker, link] = createStepPair();
  const accepted: Stream[] = [];
  const mux = new Mux(link, {
    side: 'acceptor',
    hello: testHello,
    onstream: (stream) => accepted.push(stream),
    schedule: (flush) => flush(),
  });
  const send = (message: Uint8Array): void => {
    attacker.send(message);
    link.step();
  };
  attacker.record = false;
  attacker.receive({ message: () => {}, close: () => {} });
  return { attacker, mux, accepted, send };
}

const header = (type: number, length: number): Uint8Array => {
  const bytes = new Uint8Array(10);
  bytes[0] = type;
  new DataView(bytes.buffer).setUint32(6, length);
  return bytes;
};

const breaches: Record<string, Uint8Array[]> = {
  'a header cut short': [new Uint8Array(9)],
  'a frame cut short': [header(FRAME_TYPE.hello, 5)],
  'a frame too large': [header(99, MAX_PAYLOAD_BYTES + 1)],
  'no hello first': [encodeFrames(open(1))],
  'hello that is no JSON': [encodeFrames({ type: FRAME_TYPE.hello, payload: '{' })],
  'hello that is no UTF-8': [encodeFrames({ type: FRAME_TYPE.hello, payload: new Uint8Array([0xff, 0xfe]) })],
  'hello of another shape': [encodeFrames({ type: FRAME_TYPE.hello, payload: { muxVersion: 'two' } })],
  'version 0': [encodeFrames({ type: FRAME_TYPE.hello, payload: { ...testHello, muxVersion: 0 } })],
  'a second hello': [encodeFrames(hello, hello)],
  'an opening that is no JSON': [encodeFrames(hello, { type: FRAME_TYPE.open, stream: 1, payload: 'kind' })],
  'an opening without kind': [encodeFrames(hello, { type: FRAME_TYPE.open, stream: 1, payload: {} })],
  'an opening with scopes that are none': [
    encodeFrames(hello, { type: FRAME_TYPE.open, stream: 1, payload: { kind: 'rpc', scopes: ['root'] } }),
  ],
  'a number of ours': [encodeFrames(hello, open(2))],
  'number 0': [encodeFrames(hello, open(0))],
  'a number used twice': [encodeFrames(hello, open(1), open(1))],
  'a number used again after its stream': [
    encodeFrames(hello, open(1), { type: FRAME_TYPE.reset, stream: 1, payload: { code: 1, reason: '' } }),
    encodeFrames(open(1)),
  ],
  'a number that is less than the last': [encodeFrames(hello, open(5), open(3))],
  'data for a stream never opened': [encodeFrames(hello, data(7, 1))],
  'data for one of ours never opened': [encodeFrames(hello, data(2, 1))],
  'data for stream 0': [encodeFrames(hello, data(0, 1))],
  'an end of nothing': [encodeFrames(hello, end(9))],
  'a reset that says nothing': [encodeFrames(hello, open(1), { type: FRAME_TYPE.reset, stream: 1, payload: 'null' })],
  'data after the end': [encodeFrames(hello, open(1), end(1), data(1, 1))],
  'two ends': [encodeFrames(hello, open(1), end(1), end(1))],
  'data beyond credit': [encodeFrames(hello, open(1), data(1, STREAM_WINDOW_BYTES), data(1, 1))],
  'bulk beyond credit': [encodeFrames(hello, open(1), data(1, STREAM_WINDOW_BYTES + 1, FLAG_BULK))],
  'credit of 3 bytes': [encodeFrames(hello, open(1), { type: FRAME_TYPE.credit, stream: 1, payload: new Uint8Array(3) })],
  'credit that was not used': [encodeFrames(hello, open(1), { type: FRAME_TYPE.credit, stream: 1, payload: encodeUint32(1) })],
  'credit for bulk that was not used': [encodeFrames(hello, { type: FRAME_TYPE.credit, payload: encodeUint32(1) })],
};

describe('a peer that violates the protocol', () => {
  it.each(Object.entries(breaches))('is closed with 1002: %s', async (_name, messages) => {
    const { attacker, mux, accepted, send } = createAttackedMux();
    accepted.length = 0;
    for (const message of messages) send(message);
    const { code, reason } = await mux.closed;
    expect(code).toBe(1002);
    expect(reason).not.toBe('');
    while (attacker.step());
    expect(attacker.closeEvent?.code).toBe(1002);
    for (const stream of accepted) expect(stream.closed).toBe(true);
    expect(mux.streams).toBe(0);
    // Nothing that comes later has any effect.
    send(encodeFrames(hello, open(101)));
    expect(mux.streams).toBe(0);
  });

  it('is heard up to the breach, and its streams are cut', async () => {
    const { mux, accepted, send } = createAttackedMux();
    send(encodeFrames(hello, open(1)));
    const log = recordStream(accepted[0]!);
    send(encodeFrames({ ...data(1, 3), flags: 1 }, hello, { ...data(1, 3), flags: 1 }));
    expect(log.messages).toHaveLength(1);
    expect(log.reset?.code).toBe(1002);
    expect((await mux.closed).code).toBe(1002);
  });
});

describe('ignored frames', () => {
  it('frames of unknown types, also before they could mean anything, and unknown flags', () => {
    const { mux, accepted, send, attacker } = createAttackedMux();
    send(encodeFrames(hello, { type: 200, flags: 255, stream: 12345, payload: 'from the future' }, open(1), data(1, 5, 0xf9)));
    expect(recordStream(accepted[0]!).messages).toHaveLength(1);
    expect([mux.streams, attacker.waiting > 0, attacker.closeEvent]).toEqual([1, true, undefined]);
  });

  it('empty parts of messages, any number of them', () => {
    const { accepted, send, mux } = createAttackedMux();
    send(encodeFrames(hello, open(1)));
    for (let i = 0; i < 100; i++) send(encodeFrames(...Array.from({ length: 1000 }, () => data(1, 0))));
    const log = recordStream(accepted[0]!);
    expect([log.chunks.length, mux.streams]).toEqual([0, 1]);
  });

  it('pongs nobody asked for, empty link messages, and new keys in hello', async () => {
    const { mux, send } = createAttackedMux();
    send(new Uint8Array(0));
    send(encodeFrames({ type: FRAME_TYPE.hello, payload: { ...testHello, muxVersion: 7, colour: 'blue' } }, { type: FRAME_TYPE.pong }));
    expect((await mux.ready).muxVersion).toBe(7);
  });
});
