import { describe, expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { createScript, type TestGateway, createTestGateway, waitFor } from '../../../tests/support/test-gateway.ts';
import { openConnectedRaw, CONNECT_FRAME } from '../../../tests/support/raw-connection.ts';

const MIB = 1024 * 1024;

/** A socket that has connected; the codes of the answers that it gets. */
async function openSocket(gw: TestGateway) {
  const { link, frames } = await openConnectedRaw(gw, { socket: true });
  const codes = (): string[] => frames.flatMap((frame) => (frame.type === 'res' ? (frame.ok ? 'ok' : frame.error.code) : []));
  return {
    async sendRequests(count: number): Promise<string[]> {
      frames.length = 0;
      for (let n = 0; n < count; n++) link.send(`{"type":"req","id":"${n}","method":"health"}`);
      await waitFor(() => codes().length === count);
      // A refusal needs no waiting, and comes first.
      return codes().sort();
    },
  };
}

describe('limits', () => {
  verifies('limits/rate', 'the rate comes from the configuration, for new connections; 0 means unlimited', async () => {
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 60, burst: 3 } });
    const socket = await openSocket(gw);
    expect(await socket.sendRequests(5)).toEqual(['RATE_LIMITED', 'RATE_LIMITED', 'ok', 'ok', 'ok']);
    clock.advance(1000);
    expect(await socket.sendRequests(2)).toEqual(['RATE_LIMITED', 'ok']);
    await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 0, burst: 1 } });
    expect(await (await openSocket(gw)).sendRequests(500)).toEqual(Array(500).fill('ok'));
  });

  verifies('limits/rate', 'invalid frames count as requests, and so does a duplicate id of an active one', async () => {
    const gate = Promise.withResolvers<void>();
    const clock = new FakeClock();
    await using gw = await createTestGateway({ clock, model: createScript([{ wait: gate.promise }]) });
    const { client } = await gw.client();
    await client.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 60, burst: 3 } });
    const collectCodes = async (frame: string, before: string[] = []): Promise<string[]> => {
      const { link, frames } = await openConnectedRaw(gw, { socket: true });
      for (const text of [...before, frame, frame, frame, frame]) link.send(text);
      const codes = (): string[] => frames.flatMap((got) => (got.type === 'res' && !got.ok ? [got.error.code] : []));
      await waitFor(() => codes().length === 4);
      return codes();
    };
    const three = ['INVALID_PARAMS', 'INVALID_PARAMS', 'INVALID_PARAMS', 'RATE_LIMITED'];
    expect(await collectCodes('{"id":"odd"}')).toEqual(three);
    expect(await collectCodes(JSON.stringify(CONNECT_FRAME))).toEqual(three);
    const send = '{"type":"req","id":"1","method":"chat.send","params":{"message":"hi"}}';
    expect(await collectCodes(send, [send])).toEqual(['INVALID_PARAMS', 'INVALID_PARAMS', 'RATE_LIMITED', 'RATE_LIMITED']);
    gate.resolve();
  });

  verifies('limits/response', 'an answer of more than 4 MiB comes through to a reader that has not read yet', async () => {
    await using gw = await createTestGateway();
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'x'.repeat(100_000) });
    for (let n = 0; n < 60; n++) await client.call('chat.send', { message: 'x'.repeat(100_000) });
    let buffered = 0;
    const sentFrames: string[] = [];
    let closed: { code: number; reason: string } | undefined;
    let deliver = (_text: string): void => {};
    gw.gateway.accept(
      {
        get buffered() {
          return buffered;
        },
        send(text) {
          buffered += text.length;
          sentFrames.push(text);
        },
        close: (code = 0, reason = '') => (closed ??= { code, reason }),
        receive: ({ message }) => (deliver = message),
      },
      { principal: 'owner', scopes: ['admin'], challenged: true, socket: true },
    );
    deliver(JSON.stringify(CONNECT_FRAME));
    deliver('{"type":"req","id":"h","method":"chat.history","params":{"sessionId":"main"}}');
    await waitFor(() => sentFrames.some((text) => text.includes('"id":"h"')));
    expect(buffered).toBeGreaterThan(5 * MIB);
    expect(closed).toBeUndefined();
    // The same amount again exceeds the limit.
    for (let n = 0; n < 3 && !closed; n++) {
      deliver(`{"type":"req","id":"h${n}","method":"chat.history","params":{"sessionId":"main"}}`);
      await waitFor(() => closed !== undefined || sentFrames.some((text) => text.includes(`"id":"h${n}"`)));
    }
    expect(closed).toEqual({ code: 1008, reason: 'slow consumer' });
  });

  verifies('events/scope', 'who reads a history follows its session from then on', async () => {
    await using gw = await createTestGateway();
    const owner = await gw.client();
    const reader = await gw.client({ events: 'own' });
    await owner.client.call('chat.send', { message: 'hi', sessionId: 'a' });
    await owner.client.call('chat.send', { message: 'hi', sessionId: 'b' });
    await reader.client.call('chat.history', { sessionId: 'a' });
    await owner.client.call('chat.send', { message: 'more', sessionId: 'b' });
    await owner.client.call('chat.send', { message: 'more', sessionId: 'a' });
    await waitFor(() => reader.events.some(({ event }) => event === 'chat.done'));
    const sessions = reader.events.flatMap(({ event, payload }) => (event.startsWith('chat.') ? [payload.sessionId] : []));
    expect(new Set(sessions)).toEqual(new Set(['a']));
  });
});
