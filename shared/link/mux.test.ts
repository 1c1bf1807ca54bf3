import { describe, expect, it, test } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { CLOSE_CODES } from '../rpc/frames.ts';
import { memoryPair } from './link.ts';
import { Mux } from './mux.ts';
import { LINK_WINDOW_BYTES, STREAM_WINDOW_BYTES } from './stream.ts';
import { testHello, recordStream, MuxPair } from './mux-testing.ts';
import { CHUNK_BYTES, FLAG_BULK, FLAG_FIN, FRAME_TYPE } from './wire.ts';

const decode = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const pattern = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) & 0xff);

describe('streams', () => {
  it('carry texts and bytes both ways, with what they were opened with', () => {
    const pair = new MuxPair();
    const near = pair.dialer.open({
      kind: 'rpc',
      principal: 'owner',
      scopes: ['read'],
      origin: 'http://127.0.0.1:7333',
      headers: { a: 'b' },
    });
    near.send('früh');
    pair.settle();
    const { stream: far, opening } = pair.accepted[0]!;
    expect(opening).toEqual({ kind: 'rpc', principal: 'owner', scopes: ['read'], origin: 'http://127.0.0.1:7333', headers: { a: 'b' } });
    const [atNear, atFar] = [recordStream(near), recordStream(far)];
    far.send(pattern(10));
    far.sendText(new TextEncoder().encode('ß'));
    near.send('');
    pair.settle();
    expect(atFar.messages.map(({ bytes, text }) => [decode(bytes), text])).toEqual([
      ['früh', true],
      ['', true],
    ]);
    expect(atNear.messages).toEqual([
      { bytes: pattern(10), text: false },
      { bytes: new TextEncoder().encode('ß'), text: true },
    ]);
  });

  it('number themselves odd from the dialer and even from the acceptor', () => {
    const pair = new MuxPair();
    pair.settle();
    expect([pair.dialer.open({ kind: 'a' }).id, pair.dialer.open({ kind: 'a' }).id, pair.acceptor.open({ kind: 'b' }).id]).toEqual([
      1, 3, 2,
    ]);
    pair.settle();
    expect(pair.accepted.map(({ stream }) => stream.id).sort()).toEqual([1, 2, 3]);
  });

  it('end after their data, each direction for itself', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    const [atNear, atFar] = [recordStream(near), recordStream(far)];
    near.send(pattern(200_000));
    near.end(1000, 'done');
    near.send('too late');
    pair.settle();
    expect(atFar.end).toEqual({ code: 1000, reason: 'done' });
    expect(atFar.messages).toEqual([{ bytes: pattern(200_000), text: false }]);
    expect(near.closed).toBe(false);
    far.send('still here');
    far.end();
    pair.settle();
    expect(atNear.messages.map(({ bytes }) => decode(bytes))).toEqual(['still here']);
    expect(atNear.end?.code).toBe(1000);
    expect([near.closed, far.closed, pair.dialer.streams, pair.acceptor.streams]).toEqual([true, true, 0, 0]);
  });

  it('that are unhurried wait for something else to go along with, but not for long', async () => {
    const pair = new MuxPair();
    const [first, second] = [pair.open(), pair.open()];
    const [atFirst, atSecond] = [recordStream(first.far), recordStream(second.far)];
    first.near.isLowPriority = true;
    first.near.send('whenever');
    first.near.end();
    await Promise.resolve();
    pair.settle();
    expect(atFirst.messages).toEqual([]);
    second.near.send('now');
    await Promise.resolve();
    pair.settle();
    expect([atFirst.messages.length, atSecond.messages.length, atFirst.end?.code]).toEqual([1, 1, 1000]);
    second.near.isLowPriority = true;
    second.near.reset(1011, 'whenever');
    await expect.poll(() => (pair.settle(), atSecond.reset?.reason)).toBe('whenever');
  });

  it('both end at once', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    const [atNear, atFar] = [recordStream(near), recordStream(far)];
    near.end(1000, 'n');
    far.end(1000, 'f');
    pair.settle();
    expect([atNear.end?.reason, atFar.end?.reason, pair.dialer.streams, pair.acceptor.streams]).toEqual(['f', 'n', 0, 0]);
    expect([atNear.reset, atFar.reset]).toEqual([undefined, undefined]);
  });

  it('are cut by reset, which overtakes what is queued', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    const atFar = recordStream(far);
    near.send('gone');
    near.reset(1011, 'broken');
    near.send('nothing');
    pair.settle();
    expect(atFar).toMatchObject({ messages: [], reset: { code: 1011, reason: 'broken' } });
    expect([near.buffered, near.closed, far.closed, pair.dialer.streams, pair.acceptor.streams]).toEqual([0, true, true, 0, 0]);
  });

  it('pass over what was under way when they were cut', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    recordStream(far);
    far.send('crosses');
    near.reset();
    pair.settle();
    expect([pair.dialerLink.closeEvent, pair.acceptorLink.closeEvent]).toEqual([undefined, undefined]);
  });

  it('keep for a late listener all that came, in order', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    near.send('1');
    near.send(pattern(100_000));
    near.end();
    pair.settle();
    const log = recordStream(far);
    expect(log.messages.map(({ bytes }) => bytes.byteLength)).toEqual([1, 100_000]);
    expect(log.messages[1]?.bytes).toEqual(pattern(100_000));
    expect(log.end?.code).toBe(1000);
  });

  it('say nothing more to a late listener that resets at the first message', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    near.send('1');
    near.send('2');
    pair.settle();
    const received: string[] = [];
    far.receive({
      data: (chunk) => {
        received.push(decode(chunk));
        far.reset();
      },
      end: () => received.push('end'),
      reset: () => received.push('reset'),
    });
    expect(received).toEqual(['1']);
  });

  it('tell when all is handed on, once for each time', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    const atNear = recordStream(near);
    near.send('a');
    near.send('b');
    expect(near.buffered).toBe(2);
    pair.flush();
    expect([near.buffered, atNear.drains]).toEqual([0, 1]);
    near.send(pattern(STREAM_WINDOW_BYTES + 1));
    pair.settle();
    expect([near.buffered, atNear.drains]).toEqual([3, 1]);
    recordStream(far);
    pair.settle();
    expect([near.buffered, atNear.drains]).toEqual([0, 2]);
  });

  it('opening on a closed link resets at once, and open streams get the reason', async () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    const [atNear, atFar] = [recordStream(near), recordStream(far)];
    pair.dialer.close(CLOSE_CODES.normal, 'bye');
    pair.settle();
    expect([atNear.reset, atFar.reset]).toEqual([
      { code: 1001, reason: 'bye' },
      { code: 1001, reason: 'bye' },
    ]);
    expect(await pair.acceptor.closed).toEqual({ code: 1000, reason: 'bye' });
    const late = pair.acceptor.open({ kind: 'rpc' });
    late.send('x');
    expect(recordStream(late).reset).toEqual({ code: CLOSE_CODES.goingAway, reason: 'the link is closed' });
  });

  it('a failed open is reset without affecting others', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    expect(recordStream(pair.dialer.open({ kind: 'x'.repeat(51) })).reset?.code).toBe(CLOSE_CODES.policy);
    expect(recordStream(pair.dialer.open({ kind: 'http', headers: { big: 'x'.repeat(CHUNK_BYTES) } })).reset?.code).toBe(
      CLOSE_CODES.policy,
    );
    const log = recordStream(far);
    near.send('fine');
    pair.settle();
    expect(log.messages).toHaveLength(1);
    expect(pair.open().near.id).toBe(3);
  });

  it('carry reasons of any length without harm', () => {
    const pair = new MuxPair();
    for (const leave of ['end', 'reset'] as const) {
      const { near, far } = pair.open();
      const log = recordStream(far);
      near[leave](4000, '😀'.repeat(2000));
      pair.settle();
      expect(log[leave]?.code).toBe(4000);
      expect(pair.acceptorLink.closeEvent).toBeUndefined();
    }
  });

  it('fall alone when their listener throws', () => {
    const pair = new MuxPair({
      onstream: ({ opening }) => {
        if (opening.kind === 'bad') throw new Error('cannot serve');
      },
    });
    const bad = recordStream(pair.dialer.open({ kind: 'bad' }));
    const { near: one, far: throwing } = pair.open();
    const { near: two, far: sound } = pair.open();
    const [atOne, heard] = [recordStream(one), recordStream(sound)];
    const received: number[] = [];
    throwing.receive({
      data: () => {
        throw new Error('a bug');
      },
      end: () => {},
      reset: (code) => received.push(code),
    });
    one.send('x');
    two.send('y');
    pair.settle();
    expect(bad.reset).toEqual({ code: CLOSE_CODES.internal, reason: 'cannot serve' });
    expect(atOne.reset).toEqual({ code: CLOSE_CODES.internal, reason: 'a bug' });
    expect(received).toEqual([CLOSE_CODES.internal]);
    expect(heard.messages).toHaveLength(1);
    pair.dialer.close();
    expect(pair.dialer.streams).toBe(0);
  });
});

describe('credit', () => {
  verifies('mux/credit', 'a stalled reader holds up no other stream, and nothing grows beyond its window', () => {
    const pair = new MuxPair();
    const stalled = pair.open();
    const live = pair.open();
    const [atStalled, atLive] = [recordStream(stalled.far, { release: false }), recordStream(live.far)];
    stalled.near.send(new Uint8Array(8 * 1024 * 1024));
    for (let i = 0; i < 200; i++) live.near.send(pattern(100_000));
    pair.settle();
    expect(atStalled.chunks.reduce((sum, size) => sum + size, 0)).toBe(STREAM_WINDOW_BYTES);
    expect(stalled.near.buffered).toBe(8 * 1024 * 1024 - STREAM_WINDOW_BYTES);
    expect(atLive.messages).toHaveLength(200);
    for (const { bytes } of atLive.messages) expect(Buffer.compare(bytes, pattern(100_000))).toBe(0);
    stalled.far.release(STREAM_WINDOW_BYTES);
    pair.settle();
    expect(atStalled.chunks.reduce((sum, size) => sum + size, 0)).toBe(2 * STREAM_WINDOW_BYTES);
  });

  verifies('mux/credit', '16 MB over many streams goes in chunks of 64 KB with 1 MiB in flight, and small messages overtake it', () => {
    const pair = new MuxPair();
    const streams = Array.from({ length: 32 }, () => pair.open());
    const order: string[] = [];
    streams.forEach(({ far }, i) => {
      far.receive({
        data(chunk, fin) {
          order.push(`bulk ${i}`);
          far.release(chunk.byteLength);
          if (fin) order.push(`done ${i}`);
        },
        end: () => {},
        reset: () => {},
      });
    });
    const talk = pair.open();
    talk.far.receive({
      data(chunk) {
        order.push(decode(chunk));
        talk.far.release(chunk.byteLength);
      },
      end: () => {},
      reset: () => {},
    });
    pair.dialerLink.frames.length = 0;
    for (const { near } of streams) near.send(new Uint8Array(512 * 1024), { bulk: true });
    pair.flush();
    const underWay = pair.dialerLink.frames
      .filter(({ flags }) => flags & FLAG_BULK)
      .reduce((sum, { payload }) => sum + payload.byteLength, 0);
    expect(underWay).toBe(LINK_WINDOW_BYTES);
    expect(Math.max(...pair.dialerLink.frames.map(({ payload }) => payload.byteLength))).toBe(CHUNK_BYTES);
    talk.near.send('small');
    pair.dialer.open({ kind: 'control' });
    pair.settle();
    const at = order.indexOf('small');
    expect(at).toBeLessThanOrEqual(LINK_WINDOW_BYTES / CHUNK_BYTES);
    expect(order.filter((event) => event.startsWith('done'))).toHaveLength(32);
    // Round robin: the bulk window has 16 chunks, so streams 16 to 31 come before any stream's second chunk.
    expect(
      order
        .filter((event) => event.startsWith('bulk'))
        .slice(0, 32)
        .sort(),
    ).toEqual(streams.map((_, i) => `bulk ${i}`).sort());
    expect(pair.accepted.at(-1)?.opening.kind).toBe('control');
  });

  it('serves streams that wait for the bulk window before those that were served', () => {
    const pair = new MuxPair();
    const streams = Array.from({ length: 20 }, () => pair.open());
    for (const { far } of streams) recordStream(far);
    pair.dialerLink.frames.length = 0;
    for (const { near } of streams) near.send(new Uint8Array(STREAM_WINDOW_BYTES), { bulk: true });
    pair.settle();
    const turns = pair.dialerLink.frames.filter(({ type }) => type === FRAME_TYPE.data).map(({ stream }) => stream);
    const ids = streams.map(({ near }) => near.id);
    for (let round = 0; round < 4; round++) expect(turns.slice(round * 20, round * 20 + 20).sort((a, b) => a - b)).toEqual(ids);
  });

  it('releasing more than was received has no effect', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    const log = recordStream(far, { release: false });
    near.send(new Uint8Array(100_000));
    pair.settle();
    far.release(100_000);
    far.release(10_000_000);
    near.send(new Uint8Array(1000));
    pair.settle();
    expect([pair.dialerLink.closeEvent, log.messages.length]).toEqual([undefined, 2]);
  });

  it('does not let a stream of a closed half hold the link', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    const log = recordStream(far);
    far.end();
    near.send(new Uint8Array(4 * 1024 * 1024));
    near.end();
    pair.settle();
    expect([log.messages[0]?.bytes.byteLength, pair.dialer.streams]).toEqual([4 * 1024 * 1024, 0]);
  });

  it('bounds what comes before anyone listens, also messages without bytes', () => {
    const pair = new MuxPair();
    const { near, far } = pair.open();
    const atNear = recordStream(near);
    for (let i = 0; i < 5000; i++) near.send('');
    pair.settle();
    expect(atNear.reset?.code).toBe(CLOSE_CODES.policy);
    expect(recordStream(far).reset?.code).toBe(CLOSE_CODES.policy);
  });
});

describe('the link', () => {
  verifies('mux/versions', 'version 1 gets one frame in each message, version 2 many; both ways', async () => {
    for (const [dialerVersion, acceptorVersion] of [
      [1, 2],
      [2, 1],
      [1, 1],
      [2, 2],
      [2, 9],
    ] as const) {
      const pair = new MuxPair({ dialerVersion, acceptorVersion });
      pair.settle();
      expect([(await pair.dialer.ready).muxVersion, (await pair.acceptor.ready).muxVersion]).toEqual([acceptorVersion, dialerVersion]);
      const streams = Array.from({ length: 5 }, () => pair.open());
      const logs = streams.flatMap(({ near, far }) => [recordStream(near), recordStream(far)]);
      for (const link of [pair.dialerLink, pair.acceptorLink]) link.sent.length = link.frames.length = 0;
      for (const { near, far } of streams) {
        near.send('up');
        far.send(pattern(300_000));
        near.end();
        far.end();
      }
      pair.settle();
      expect(logs.map(({ messages, end }) => [messages.length, end?.code])).toEqual(logs.map(() => [1, 1000]));
      for (const link of [pair.dialerLink, pair.acceptorLink]) {
        if (Math.min(dialerVersion, acceptorVersion) === 1) expect(link.sent.length).toBe(link.frames.length);
        else expect(link.sent.length).toBeLessThan(link.frames.length);
      }
    }
  });

  it('puts the frames of one turn into one message', () => {
    const pair = new MuxPair();
    const streams = Array.from({ length: 64 }, () => pair.open());
    pair.dialerLink.sent.length = 0;
    for (const { near } of streams) near.send('hi');
    pair.settle();
    expect(pair.dialerLink.sent).toHaveLength(1);
  });

  it('answers a ping by code', async () => {
    const pair = new MuxPair();
    pair.settle();
    let answers = 0;
    const pings = [pair.dialer.ping(), pair.dialer.ping()].map((ping) => ping.then(() => answers++));
    pair.flush();
    await Promise.resolve();
    expect(answers).toBe(0);
    pair.settle();
    await Promise.all(pings);
    expect(answers).toBe(2);
  });

  it('rejects ready when it closes before hello', async () => {
    const [near] = memoryPair<Uint8Array>();
    const mux = new Mux(near, { side: 'dialer', hello: testHello, onstream: () => {} });
    mux.close(1000, 'never mind');
    await expect(mux.ready).rejects.toThrow('never mind');
    expect(await mux.closed).toEqual({ code: 1000, reason: 'never mind' });
    mux.close();
  });

  it('refuses more than 4096 streams one by one', () => {
    const pair = new MuxPair();
    pair.settle();
    const streams = Array.from({ length: 4097 }, () => pair.dialer.open({ kind: 'rpc' }));
    const last = recordStream(streams.at(-1)!);
    pair.settle();
    expect(last.reset).toEqual({ code: CLOSE_CODES.noGateway, reason: 'too many streams' });
    expect([pair.acceptor.streams, pair.accepted.length]).toEqual([4096, 4096]);
  });

  test('data carries FIN on the last chunk of a message alone', () => {
    const pair = new MuxPair();
    const { near } = pair.open();
    pair.dialerLink.frames.length = 0;
    near.send(new Uint8Array(150_000));
    pair.settle();
    expect(pair.dialerLink.frames.map(({ flags, payload }) => [flags & FLAG_FIN, payload.byteLength])).toEqual([
      [0, 65536],
      [0, 65536],
      [1, 18928],
    ]);
  });
});
