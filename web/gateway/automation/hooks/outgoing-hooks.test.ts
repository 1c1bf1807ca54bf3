import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { HookEvent } from '#shared/rpc/methods/hook-contracts.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createScript, createScriptedModel, createTestGateway, type Say, waitFor } from '../../../../tests/support/test-gateway.ts';
import { type Fetch, type FetchInit, FetchRefusedError } from '../../ports/fetch.ts';

const HOUR_MS = 3_600_000;

interface Received {
  url: string;
  init: FetchInit;
}

/** A receiver of events at `receiver.test`, beside a scripted model. `answer` gets the number of the request. */
function createReceiver(answer: (count: number, init: FetchInit) => Response | Promise<Response>, steps: readonly Say[] = ['Hello']) {
  const received: Received[] = [];
  const model = createScriptedModel(createScript(steps));
  const fetch: Fetch = async (url, init) => {
    if (!url.includes('receiver.test')) return model.fetch(url, init);
    received.push({ url, init });
    return answer(received.length, init);
  };
  return { fetch, received };
}

const createHook = (client: GatewayClient, name: string, events: HookEvent[], more: { withText?: boolean; allowPrivate?: boolean } = {}) =>
  client.call('hooks.create', { hook: { direction: 'out', name, url: 'https://receiver.test/in', events, ...more } });
const listCalls = async (client: GatewayClient, name: string) => (await client.call('hooks.deliveries', { name })).deliveries;
const waitForState = (client: GatewayClient, name: string, state: string): Promise<unknown> =>
  waitFor(async () => (await listCalls(client, name))[0]?.state === state, state);

function isSignedWith(secret: string, { init: { headers = {}, body = '' } }: Received): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signed = createHmac('sha256', key).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64');
  return (headers['webhook-signature'] ?? '').split(' ').includes(`v1,${signed}`);
}

describe('outgoing hooks', () => {
  verifies('hooks/send', 'send signed events, with texts only if they may', async () => {
    const { fetch, received } = createReceiver(() => new Response(null, { status: 204 }));
    await using gw = await createTestGateway({ fetch });
    const { client } = await gw.client();
    const { secret } = await createHook(client, 'ids', ['run.completed', 'job.completed']);
    await createHook(client, 'texts', ['run.completed'], { withText: true });
    await client.call('chat.send', { sessionId: 'main', message: 'Hi' });
    await waitForState(client, 'ids', 'completed');
    await waitForState(client, 'texts', 'completed');
    const events = received.map(({ init }) => JSON.parse(init.body ?? '') as { type: string; data: { text?: string; sessionId: string } });
    expect(events).toHaveLength(2);
    expect(events[0]).toMatchObject({
      type: 'run.completed',
      timestamp: expect.any(String) as string,
      data: { agentId: 'main', sessionId: 'main' },
    });
    expect(events.map(({ data }) => data.text)).toEqual(expect.arrayContaining([undefined, 'Hello']));
    expect(received.filter((request) => isSignedWith(secret, request))).toHaveLength(1);
    const { jobId } = await client.call('cron.add', { cron: '0 0 1 1 *', message: 'Report' });
    await client.call('cron.run', { id: jobId });
    await waitFor(
      async () => (await listCalls(client, 'ids')).some(({ event, state }) => event === 'job.completed' && state === 'completed'),
      'the job',
    );
    const job = received
      .map(({ init }) => JSON.parse(init.body ?? '') as { type: string; data: object })
      .find(({ type }) => type === 'job.completed');
    expect(job?.data).toMatchObject({ jobId, name: 'Report', status: 'completed' });
    expect(gw.faults).toEqual([]);
  });

  verifies('hooks/retry', 'send a failed event again with the same ID, until the receiver accepts it', async () => {
    const clock = new FakeClock();
    const answers = [
      () => new Response(null, { status: 500 }),
      () => Promise.reject(new TypeError('connection refused')),
      () => new Response(null, { status: 429, headers: { 'retry-after': '120' } }),
      () => new Response('ok', { status: 200 }),
    ];
    const { fetch, received } = createReceiver((count) => answers[count - 1]?.() ?? new Response());
    await using gw = await createTestGateway({ fetch, clock });
    const { client } = await gw.client();
    await createHook(client, 'a', ['run.completed']);
    const { call } = await client.call('hooks.test', { name: 'a' });
    expect(call).toMatchObject({ state: 'waiting', attempts: 1, status: 500, nextAttemptAt: clock.now() + 5_000 });
    for (const [attempts, waitMs] of [
      [2, 5_000],
      [3, 10_000],
      [4, 120_000],
    ] as const) {
      await clock.waitForTimer(waitMs);
      clock.advance(waitMs);
      await waitFor(async () => (await listCalls(client, 'a'))[0]?.attempts === attempts, `attempt ${attempts}`);
    }
    expect((await listCalls(client, 'a'))[0]).toMatchObject({ state: 'completed', status: 200, error: null, nextAttemptAt: null });
    expect(new Set(received.map(({ init }) => init.headers?.['webhook-id'])).size).toBe(1);
    expect(new Set(received.map(({ init }) => init.headers?.['webhook-timestamp'])).size).toBe(4);
  });

  verifies('hooks/retry', 'give up after a day, list the event as failed and send it again on request', async () => {
    const clock = new FakeClock();
    let isUp = false;
    const { fetch, received } = createReceiver(() => new Response(null, { status: isUp ? 200 : 503 }));
    await using gw = await createTestGateway({ fetch, clock });
    const { client } = await gw.client();
    await createHook(client, 'a', ['run.completed']);
    await client.call('hooks.test', { name: 'a' });
    for (let attempts = 1; attempts < 200; attempts++) {
      await waitFor(async () => (await listCalls(client, 'a'))[0]?.attempts === attempts, `attempt ${attempts}`);
      const [call] = await listCalls(client, 'a');
      if (call?.state === 'failed') break;
      const waitMs = (call?.nextAttemptAt ?? 0) - clock.now();
      await clock.waitForTimer(waitMs);
      clock.advance(waitMs);
    }
    const [failed] = (await client.call('hooks.deliveries', { state: 'failed' })).deliveries;
    expect(failed).toMatchObject({ error: 'The receiver answered with status 503.', nextAttemptAt: null });
    expect((failed?.endedAt ?? 0) - (failed?.at ?? 0)).toBeGreaterThan(23 * HOUR_MS);
    isUp = true;
    await client.call('hooks.resend', { id: failed?.id ?? '' });
    await waitForState(client, 'a', 'completed');
    expect(new Set(received.map(({ init }) => init.headers?.['webhook-id'])).size).toBe(1);
    await expect(client.call('hooks.resend', { id: failed?.id ?? '' })).rejects.toThrow('Only a failed call');
  });

  verifies('hooks/retry', 'stop waiting for a receiver that does not answer', async () => {
    const clock = new FakeClock();
    const { fetch } = createReceiver(
      (_count, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        }),
    );
    await using gw = await createTestGateway({ fetch, clock });
    const { client } = await gw.client();
    await createHook(client, 'a', ['run.completed']);
    const testing = client.call('hooks.test', { name: 'a' });
    await clock.waitForTimer(10_000);
    clock.advance(10_000);
    expect((await testing).call).toMatchObject({
      state: 'waiting',
      error: expect.stringContaining('did not answer within 10 seconds') as string,
    });
  });

  verifies('hooks/address', 'do not follow redirects, and turn a hook off whose receiver is gone', async () => {
    const answers = [
      () => new Response(null, { status: 307, headers: { location: 'http://127.0.0.1/' } }),
      () => new Response(null, { status: 410 }),
    ];
    const { fetch, received } = createReceiver((count) => answers[count - 1]?.() ?? new Response());
    await using gw = await createTestGateway({ fetch });
    const { client } = await gw.client();
    await createHook(client, 'a', ['run.completed']);
    expect((await client.call('hooks.test', { name: 'a' })).call).toMatchObject({
      state: 'failed',
      status: 307,
      error: expect.stringContaining('not followed') as string,
    });
    expect((await client.call('hooks.test', { name: 'a' })).call).toMatchObject({ state: 'failed', status: 410 });
    const [hook] = (await client.call('hooks.list', {})).hooks;
    expect(hook).toMatchObject({ enabled: false, problem: expect.stringContaining('410') as string });
    expect(received).toHaveLength(2);
    await expect(client.call('hooks.test', { name: 'a' })).rejects.toThrow('turned off');
    expect((await client.call('hooks.update', { name: 'a', enabled: true })).hook).toMatchObject({ problem: null });
  });

  verifies('hooks/address', 'request private addresses only if a person has allowed them', async () => {
    const { fetch, received } = createReceiver((_count, { namedBy }) => {
      if (namedBy !== undefined) throw new FetchRefusedError('10.0.0.1 is not on the public internet (private)');
      return new Response();
    });
    await using gw = await createTestGateway({ fetch });
    const { client } = await gw.client();
    await createHook(client, 'a', ['run.completed']);
    expect((await client.call('hooks.test', { name: 'a' })).call).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('not on the public internet') as string,
    });
    expect(received[0]?.init.namedBy).toBe('https://hooks.invalid');
    await client.call('hooks.update', { name: 'a', allowPrivate: true, url: 'http://receiver.test/in' });
    expect((await client.call('hooks.test', { name: 'a' })).call).toMatchObject({ state: 'completed' });
    expect(received[1]?.init.namedBy).toBeUndefined();
    for (const url of ['ftp://receiver.test/', 'https://user:secret@receiver.test/', 'receiver.test', ''])
      await expect(client.call('hooks.update', { name: 'a', url })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    await expect(client.call('hooks.update', { name: 'a', allowPrivate: false })).rejects.toThrow('https://');
    await expect(client.call('hooks.update', { name: 'a', events: ['everything'] })).rejects.toThrow('run.completed');
  });

  verifies('hooks/rotation', 'sign with both secrets for a day after a rotation', async () => {
    const clock = new FakeClock();
    const { fetch, received } = createReceiver(() => new Response());
    await using gw = await createTestGateway({ fetch, clock });
    const { client } = await gw.client();
    const { secret: first } = await createHook(client, 'a', ['run.completed']);
    const { secret: second } = await client.call('hooks.rotate', { name: 'a' });
    await client.call('hooks.test', { name: 'a' });
    clock.advance(25 * HOUR_MS);
    await client.call('hooks.test', { name: 'a' });
    expect(received.map((request) => [isSignedWith(first, request), isSignedWith(second, request)])).toEqual([
      [true, true],
      [false, true],
    ]);
  });
});
