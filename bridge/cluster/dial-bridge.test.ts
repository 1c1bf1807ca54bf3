import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import { STREAM_WINDOW_BYTES } from '#shared/link/stream.ts';
import { verifies } from '../../tests/requirements.ts';
import { waitFor } from '../../tests/support/test-gateway.ts';
import { hasNats, createNatsServer, type TestNats } from '../sync/tests/nats-server.ts';
import { acceptBridges, dialBridge, isGone } from './dial-bridge.ts';
import { createDialContext, DIAL_SUBJECT, type LinkPair, createLinkPair, recordTraffic } from './tests/links.ts';

if (!hasNats) test.skip('cluster.links: nats-server is not installed here', () => {});
describe.runIf(hasNats)('links between bridges over NATS', () => {
  verifies('cluster.links/streams', 'streams go both ways, text and bytes, larger than a message of the server may be', async () => {
    await using nats = await createNatsServer({ config: 'max_payload: 20000' });
    const received: { bytes: number; text: boolean }[] = [];
    await using pair = await createLinkPair(nats, {
      onstream(stream) {
        let bytes = 0;
        stream.receive({
          data(chunk, fin, text) {
            bytes += chunk.byteLength;
            stream.release(chunk.byteLength);
            if (!fin) return;
            received.push({ bytes, text });
            bytes = 0;
          },
          end: (code, reason) => {
            stream.send('answer');
            stream.end(code, reason);
          },
          reset: () => {},
        });
      },
    });
    const stream = pair.a.mux.open({ kind: 'rpc' });
    const back: unknown[] = [];
    stream.receive({
      data: (chunk, _fin, text) => void back.push([Buffer.from(chunk).toString(), text]),
      end: (code, reason) => void back.push([code, reason]),
      reset: (code) => void back.push(code),
    });
    stream.send('ä'.repeat(500_000));
    stream.send(randomBytes(100_000));
    stream.send(new Uint8Array(0));
    stream.end(CLOSE_CODES.handingOver, 'enough');
    await waitFor(() => back.length === 2, 'the end of the answer');
    expect(received).toEqual([
      { bytes: 1_000_000, text: true },
      { bytes: 100_000, text: false },
      { bytes: 0, text: false },
    ]);
    expect(back).toEqual([
      ['answer', true],
      [CLOSE_CODES.handingOver, 'enough'],
    ]);
  });

  verifies(
    'cluster.links/sealed',
    'who is in the account sees no text, and cannot dial, put in, play back or leave out a message',
    async () => {
      const texts: string[] = [];
      const openings: string[] = [];
      const serve = (nats: TestNats): Promise<LinkPair> =>
        createLinkPair(nats, {
          onstream(stream, { principal }) {
            openings.push(principal);
            stream.receive({ data: (chunk) => void texts.push(Buffer.from(chunk).toString()), end() {}, reset() {} });
          },
        });
      const sendText = async (pair: LinkPair, text: string): Promise<void> => {
        pair.a.mux.open({ kind: 'rpc', principal: 'somebody-known' }).send(text);
        await waitFor(() => texts.includes(text), text);
      };
      for (const attack of ['foreign', 'played back', 'of the other direction', 'left out'] as const) {
        await using nats = await createNatsServer();
        await using operator = await recordTraffic(nats);
        await using pair = await serve(nats);
        await sendText(pair, `before: ${attack}`);
        const sentText = Buffer.concat(operator.messages.map(({ data }) => data)).toString('latin1');
        expect(sentText).not.toMatch(/before|somebody-known|rpc/);
        const subjects = [...new Set(operator.messages.filter(({ subject }) => subject.includes('.l.')).map(({ subject }) => subject))];
        expect(subjects).toHaveLength(2);
        const linkMessages = operator.messages.filter(({ subject }) => subject.includes('.l.'));
        const last = linkMessages.at(-1);
        const other = linkMessages.findLast(({ subject }) => subject !== last?.subject);
        if (!last || !other) throw new Error('nothing was seen');
        if (attack === 'foreign') for (const subject of subjects) operator.nc.publish(subject, randomBytes(100));
        if (attack === 'played back') operator.nc.publish(last.subject, last.data);
        if (attack === 'of the other direction') operator.nc.publish(last.subject, other.data);
        // Simulates that the server lost the next message.
        if (attack === 'left out') {
          const { publish } = pair.a.nc;
          pair.a.nc.publish = () => void (pair.a.nc.publish = publish);
          pair.a.mux.open({ kind: 'rpc', principal: 'lost' }).send('lost');
          await waitFor(() => pair.a.nc.publish === publish, 'the message that is lost');
          pair.a.mux.open({ kind: 'rpc', principal: 'after' }).send('after');
        }
        const ends = await Promise.all([pair.a.mux.closed, pair.b.mux.closed]);
        expect(
          ends.map(({ code }) => code),
          attack,
        ).toEqual([CLOSE_CODES.protocolError, CLOSE_CODES.protocolError]);
      }
      expect(openings).toEqual(Array(4).fill('somebody-known'));
    },
  );

  verifies(
    'cluster.links/dialling',
    'a bridge without the key is refused, and nothing sent by a dialling bridge can be replayed elsewhere',
    async () => {
      await using nats = await createNatsServer();
      await using operator = await recordTraffic(nats);
      const links: unknown[] = [];
      const host = await nats.operator();
      const stop = acceptBridges(createDialContext(host), 'b', (link) => links.push(link));
      await host.flush();
      const stranger = createDialContext(operator.nc, undefined, randomBytes(32).toString('base64url'));
      // The vault's name is derived from the key, so a bridge with another key must be told the subject.
      await expect(
        operator.nc.request(DIAL_SUBJECT, stranger.seal.seal(Buffer.from('{}'), `dial ${DIAL_SUBJECT}`), { timeout: 300 }),
      ).rejects.toThrow(/timeout/i);
      const friend = await nats.operator();
      const link = await dialBridge(createDialContext(friend), 'b');
      await waitFor(() => links.length === 1, 'the link of who has the key');
      const dialled = operator.messages.find(({ subject, data }) => subject === DIAL_SUBJECT && data.byteLength > 100);
      if (!dialled) throw new Error('nobody was seen to dial');
      const { data } = await operator.nc.request(DIAL_SUBJECT, dialled.data, { timeout: 2000 });
      expect(data.byteLength).toBeGreaterThan(100);
      const linkMessages = operator.messages.filter(({ subject }) => subject.includes('.l.'));
      // The replaying attacker does not know the new link's subject, and old messages can't be decrypted on any other link.
      for (const { subject, data: sealed } of linkMessages) operator.nc.publish(subject, sealed);
      await operator.nc.flush();
      await host.flush();
      expect(links).toHaveLength(1);
      link.close();
      stop();
      await Promise.all([host.close(), friend.close()]);
    },
  );

  verifies(
    'cluster.links/ends',
    'a link ends with its connection or if the other bridge goes silent; a live bridge is not dropped',
    async () => {
      await using nats = await createNatsServer();
      const times = { beatMs: 50, silentMs: 400 };
      {
        await using pair = await createLinkPair(nats, { onstream: () => {}, times });
        expect(await isGone(createDialContext(pair.a.nc), 'b')).toBe(false);
        const cut: number[] = [];
        pair.a.mux.open({ kind: 'rpc' }).receive({ data() {}, end() {}, reset: (code) => void cut.push(code) });
        await pair.b.nc.close();
        expect((await pair.a.mux.closed).reason).toBe('the other bridge stopped responding');
        expect((await pair.b.mux.closed).reason).toBe('the connection to the cluster was lost');
        expect(cut).toEqual([CLOSE_CODES.goingAway]);
        expect(await isGone(createDialContext(pair.a.nc), 'b')).toBe(true);
      }
      await using pair = await createLinkPair(nats, { onstream: () => {}, times });
      await nats.stop();
      const ends = await Promise.all([pair.a.mux.closed, pair.b.mux.closed]);
      expect(ends.map(({ reason }) => reason)).toEqual(Array(2).fill('the connection to the cluster was lost'));
    },
  );

  verifies('cluster.links/ends', 'a link outlives a pause of both processes', async () => {
    await using nats = await createNatsServer();
    const received: string[] = [];
    await using pair = await createLinkPair(nats, {
      onstream: (stream) => stream.receive({ data: (chunk) => void received.push(Buffer.from(chunk).toString()), end() {}, reset() {} }),
      times: { beatMs: 50, silentMs: 400 },
    });
    for (let at = 0; at < 3; at++) {
      for (const until = performance.now() + 600; performance.now() < until;);
      await setImmediate();
    }
    pair.a.mux.open({ kind: 'rpc' }).send('still there');
    await Promise.race([waitFor(() => received.length === 1), pair.a.mux.closed.then(({ reason }) => Promise.reject(new Error(reason)))]);
  });

  verifies('cluster.links/slow', 'a hundred streams without a reader buffer at most their credit, and do not block others', async () => {
    await using nats = await createNatsServer();
    let arrived = 0;
    await using pair = await createLinkPair(nats, {
      onstream(stream, { principal }) {
        stream.receive({
          data(chunk, fin) {
            if (principal === 'slow') arrived += chunk.byteLength;
            else {
              stream.release(chunk.byteLength);
              if (fin) stream.send('done');
            }
          },
          end() {},
          reset() {},
        });
      },
    });
    const total = 4 * STREAM_WINDOW_BYTES;
    const slow = Array.from({ length: 100 }, () => pair.a.mux.open({ kind: 'rpc', principal: 'slow' }));
    for (const stream of slow) for (let sent = 0; sent < total; sent += 32_768) stream.send(new Uint8Array(32_768));
    const quick = pair.a.mux.open({ kind: 'rpc', principal: 'quick' });
    let answers = 0;
    quick.receive({ data: () => void answers++, end() {}, reset() {} });
    await waitFor(() => arrived === 100 * STREAM_WINDOW_BYTES, 'all that the credit lets through', 20_000);
    for (let at = 0; at < 50; at++) {
      quick.send('a'.repeat(1000));
      await waitFor(() => answers === at + 1, 'an answer');
    }
    await pair.a.nc.flush();
    await pair.b.nc.flush();
    expect(arrived).toBe(100 * STREAM_WINDOW_BYTES);
    expect(slow.every(({ buffered }) => buffered === total - STREAM_WINDOW_BYTES)).toBe(true);
  });
});
