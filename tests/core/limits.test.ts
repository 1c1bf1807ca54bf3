import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { FakeClock } from '../support/clock.ts';
import { script, type TestGateway, testGateway, until } from '../support/gateway.ts';
import { connected, CONNECT } from '../support/raw.ts';

const MIB = 1024 * 1024;

/** A socket that has connected; the codes of the answers that it gets. */
async function socketOf(gw: TestGateway) {
  const { link, frames } = await connected(gw, { socket: true });
  const codes = (): string[] => frames.flatMap((frame) => (frame.type === 'res' ? (frame.ok ? 'ok' : frame.error.code) : []));
  return {
    async ask(count: number): Promise<string[]> {
      frames.length = 0;
      for (let n = 0; n < count; n++) link.send(`{"type":"req","id":"${n}","method":"health"}`);
      await until(() => codes().length === count);
      // A refusal needs no waiting, and comes first.
      return codes().sort();
    },
  };
}

describe('limits', () => {
  verifies('limits/rate', 'the rate comes from the configuration, for new connections; 0 means unlimited', async () => {
    const clock = new FakeClock();
    await using gw = await testGateway({ clock });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 60, burst: 3 } });
    const socket = await socketOf(gw);
    expect(await socket.ask(5)).toEqual(['RATE_LIMITED', 'RATE_LIMITED', 'ok', 'ok', 'ok']);
    clock.advance(1000);
    expect(await socket.ask(2)).toEqual(['RATE_LIMITED', 'ok']);
    await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 0, burst: 1 } });
    expect(await (await socketOf(gw)).ask(500)).toEqual(Array(500).fill('ok'));
  });

  verifies('limits/rate', 'invalid frames count as requests, and so does a duplicate id of an active one', async () => {
    const gate = Promise.withResolvers<void>();
    const clock = new FakeClock();
    await using gw = await testGateway({ clock, model: script([{ wait: gate.promise }]) });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 60, burst: 3 } });
    const codesOf = async (frame: string, before: string[] = []): Promise<string[]> => {
      const { link, frames } = await connected(gw, { socket: true });
      for (const text of [...before, frame, frame, frame, frame]) link.send(text);
      const codes = (): string[] => frames.flatMap((got) => (got.type === 'res' && !got.ok ? [got.error.code] : []));
      await until(() => codes().length === 4);
      return codes();
    };
    const three = ['INVALID_PARAMS', 'INVALID_PARAMS', 'INVALID_PARAMS', 'RATE_LIMITED'];
    expect(await codesOf('{"id":"odd"}')).toEqual(three);
    expect(await codesOf(JSON.stringify(CONNECT))).toEqual(three);
    const send = '{"type":"req","id":"1","method":"chat.send","params":{"message":"hi"}}';
    expect(await codesOf(send, [send])).toEqual(['INVALID_PARAMS', 'INVALID_PARAMS', 'RATE_LIMITED', 'RATE_LIMITED']);
    gate.resolve();
  });

  verifies('limits/response', 'an answer of more than 4 MiB comes through to a reader that has not read yet', async () => {
    await using gw = await testGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'x'.repeat(100_000) });
    for (let n = 0; n < 60; n++) await client.call('chat.send', { message: 'x'.repeat(100_000) });
    let buffered = 0;
    const sent: string[] = [];
    let closed: { code: number; reason: string } | undefined;
    let deliver = (_text: string): void => {};
    gw.gateway.accept(
      {
        get buffered() {
          return buffered;
        },
        send(text) {
          buffered += text.length;
          sent.push(text);
        },
        close: (code = 0, reason = '') => (closed ??= { code, reason }),
        receive: ({ message }) => (deliver = message),
      },
      { principal: 'owner', scopes: ['admin'], challenged: true, socket: true },
    );
    deliver(JSON.stringify(CONNECT));
    deliver('{"type":"req","id":"h","method":"chat.history","params":{"sessionId":"main"}}');
    await until(() => sent.some((text) => text.includes('"id":"h"')));
    expect(buffered).toBeGreaterThan(5 * MIB);
    expect(closed).toBeUndefined();
    // The same amount again exceeds the limit.
    for (let n = 0; n < 3 && !closed; n++) {
      deliver(`{"type":"req","id":"h${n}","method":"chat.history","params":{"sessionId":"main"}}`);
      await until(() => closed !== undefined || sent.some((text) => text.includes(`"id":"h${n}"`)));
    }
    expect(closed).toEqual({ code: 1008, reason: 'slow consumer' });
  });

  verifies('events/scope', 'who reads a history follows its session from then on', async () => {
    await using gw = await testGateway();
    const owner = await gw.client();
    const reader = await gw.client({ events: 'own' });
    await owner.client.call('chat.send', { message: 'hi', sessionId: 'a' });
    await owner.client.call('chat.send', { message: 'hi', sessionId: 'b' });
    await reader.client.call('chat.history', { sessionId: 'a' });
    await owner.client.call('chat.send', { message: 'more', sessionId: 'b' });
    await owner.client.call('chat.send', { message: 'more', sessionId: 'a' });
    await until(() => reader.events.some(({ event }) => event === 'chat.done'));
    const sessions = reader.events.flatMap(({ event, payload }) => (event.startsWith('chat.') ? [payload.sessionId] : []));
    expect(new Set(sessions)).toEqual(new Set(['a']));
  });
});
