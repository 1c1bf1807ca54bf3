import { describe, expect, it } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { systemClock } from '#shared/async/clock.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { type ModelCall, type Say, type TestGateway, createTestGateway } from '../../../../tests/support/test-gateway.ts';
import { createFakeServer, createStreamResponse, toUnnamedEvents } from '../../../../tests/support/fake-provider-server.ts';

/** Back-off without its waiting. */
const FAST_CLOCK = { ...systemClock, after: (ms: number, callback: () => void) => systemClock.after(ms >= 2000 ? ms : 0, callback) };
const toErrorStep = (status: number, message = `says ${status}`): Say => ({ status, body: JSON.stringify({ error: { message } }) });

/** A gateway whose provider `test` answers as each model's name says, with more models behind the first. */
async function createFallbackGateway(
  stepsByModel: Record<string, readonly Say[] | ((call: ModelCall) => readonly Say[])>,
  fallbacks: readonly string[],
  options: Parameters<typeof createTestGateway>[0] = {},
): Promise<{ gw: TestGateway; getRequestedModels: () => string[]; send: (params?: object) => Promise<Record<string, unknown>> }> {
  const model = (call: ModelCall): readonly Say[] => {
    const steps = stepsByModel[call.body.model] ?? ['?'];
    return typeof steps === 'function' ? steps(call) : steps;
  };
  const gw = await createTestGateway({ clock: FAST_CLOCK, model, ...options });
  const { client } = await gw.client();
  await client.call('config.patch', { patch: { chat: { model: 'test/a', fallbacks: [...fallbacks] } } });
  return {
    gw,
    getRequestedModels: () => gw.calls.map(({ body }) => body.model),
    send: async (params = {}) => client.call('chat.send', { message: 'hi', ...params }),
  };
}

const getHistory = async (gw: TestGateway) => (await (await gw.client()).client.call('chat.history', { sessionId: 'main' })).messages;

describe('fallbacks', () => {
  verifies('chat/fallbacks', 'the next model answers after three tries, and is named; one terminal event', async () => {
    const { gw, getRequestedModels, send } = await createFallbackGateway({ a: [toErrorStep(503)], b: ['From b'] }, ['test/b', 'test/c']);
    await using _gw = gw;
    const { events } = await gw.client();
    await send();
    expect(getRequestedModels()).toEqual(['a', 'a', 'a', 'b']);
    expect(await getHistory(gw)).toMatchObject([{ role: 'user' }, { content: 'From b', model: 'test/b' }]);
    expect(events.filter(({ event }) => event === 'chat.done' || event === 'chat.error')).toHaveLength(1);
    const { byModel } = contracts['usage.get'].result.parse(await (await gw.client()).client.call('usage.get', {}));
    expect(Object.keys(byModel)).toEqual(['test/b']);
    expect(gw.faults).toEqual([]);
  });

  verifies('chat/fallbacks', 'at once for a bad key, a model that is gone, an empty or a broken answer', async () => {
    for (const say of [[toErrorStep(401)], [toErrorStep(403)], [toErrorStep(404)], [toErrorStep(402)]] satisfies Say[][]) {
      const { gw, getRequestedModels, send } = await createFallbackGateway({ a: say, b: ['From b'] }, ['test/b']);
      await using _gw = gw;
      await send();
      expect(getRequestedModels()).toEqual(['a', 'b']);
    }
    const { gw, getRequestedModels, send } = await createFallbackGateway({ a: [{ cut: true }], b: ['From b'] }, ['test/b']);
    await using _gw = gw;
    await send();
    expect(getRequestedModels()).toEqual(['a', 'a', 'a', 'b']);
  });

  verifies('chat/fallbacks', 'are never used for an invalid request, or after visible output', async () => {
    for (const status of [400, 413, 422]) {
      const { gw, getRequestedModels, send } = await createFallbackGateway({ a: [toErrorStep(status, 'context too long')] }, ['test/b']);
      await using _gw = gw;
      await expect(send()).rejects.toMatchObject({ message: expect.stringContaining('context too long') });
      expect(new Set(getRequestedModels())).toEqual(new Set(['a']));
    }
    const { gw, getRequestedModels, send } = await createFallbackGateway({ a: ['Hel', { cut: true }] }, ['test/b']);
    await using _gw = gw;
    await expect(send()).rejects.toMatchObject({ message: expect.stringContaining('closed the connection') });
    expect(getRequestedModels()).toEqual(['a']);
    expect(await getHistory(gw)).toMatchObject([{ role: 'user' }, { content: 'Hel', model: 'test/a', error: { code: 'INTERNAL_ERROR' } }]);
  });

  verifies('chat/fallbacks', 'where the chain ends, one sentence has all the reasons', async () => {
    const { gw, getRequestedModels, send } = await createFallbackGateway(
      { a: [toErrorStep(401, 'wrong')], b: [toErrorStep(500, 'sick')] },
      ['test/b', 'test/a', 'none/x', 'test/b'],
    );
    await using _gw = gw;
    await expect(send()).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      extra: { retryable: true },
      message:
        'All models failed: test rejected the API key (HTTP 401): wrong; test failed (HTTP 500): sick; No model with key "none/x". Call models.list to list the available models.',
    });
    expect(getRequestedModels()).toEqual(['a', 'b', 'b', 'b']);
    const alone = await createFallbackGateway({ a: [toErrorStep(401, 'wrong')] }, []);
    await using _alone = alone.gw;
    await expect(alone.send()).rejects.toMatchObject({
      message: 'test rejected the API key (HTTP 401): wrong',
      extra: { details: { status: 401 } },
    });
  });

  it('an agent has its own chain; the guide may end it', async () => {
    const { gw, getRequestedModels, send } = await createFallbackGateway({ a: [toErrorStep(401)] }, ['test/b']);
    await using _gw = gw;
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'own', config: { model: 'test/a', fallbacks: ['guide/guide'] } });
    await send({ agentId: 'own', message: 'How do I add a model?' });
    expect(getRequestedModels()).toEqual(['a']);
    const { messages } = await client.call('chat.history', { agentId: 'own', sessionId: 'main' });
    expect(messages.at(-1)).toMatchObject({ model: 'guide/guide', usage: { cost: 0 } });
  });

  it('in the middle of a run the calls that were made stay, and each model is counted', async () => {
    const { gw, getRequestedModels, send } = await createFallbackGateway(
      {
        a: ({ body }) =>
          body.messages.some(({ role }) => role === 'tool') ? [toErrorStep(401)] : [{ tool: 'current_time', args: {}, id: 'c1' }],
        b: ['It is noon'],
      },
      ['test/b'],
    );
    await using _gw = gw;
    const { client, events } = await gw.client();
    await send();
    expect(getRequestedModels()).toEqual(['a', 'a', 'b']);
    expect(gw.calls[2]?.body.messages.slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1' },
    ]);
    expect(await getHistory(gw)).toMatchObject([
      { role: 'user' },
      { toolCalls: [{ id: 'c1' }], model: 'test/a' },
      { role: 'tool', toolCallId: 'c1' },
      { content: 'It is noon', model: 'test/b' },
    ]);
    expect(events.filter(({ event }) => event === 'chat.tool_call' || event === 'chat.tool_result')).toHaveLength(2);
    const { byModel } = await client.call('usage.get', {});
    expect(Object.keys(byModel).sort()).toEqual(['test/a', 'test/b']);
  });
});

describe('the wait between tries', () => {
  /** A server that asks for half a minute once, and then says hello. */
  async function createBusyOnceGateway() {
    const clock = new FakeClock();
    const { fetch, asked } = createFakeServer(({ method }, count) => {
      if (method === 'POST' && count === 1) return new Response('busy', { status: 429, headers: { 'retry-after': '30' } });
      return createStreamResponse(toUnnamedEvents({ choices: [{ delta: { content: 'Hello' }, finish_reason: 'stop' }] }));
    });
    const gw = await createTestGateway({ clock, fetch, silenceMs: 1000 });
    const { client, events } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'hi' });
    pendingSend.catch(() => {});
    await clock.waitForTimer(30_000);
    return { gw, clock, client, events, sent: pendingSend, asked };
  }

  verifies('chat/tries', 'lasts as long as the provider asks, and does not count as its silence', async () => {
    const { gw, clock, sent, asked } = await createBusyOnceGateway();
    await using _gw = gw;
    clock.advance(29_999);
    expect(asked).toHaveLength(1);
    clock.advance(1);
    expect(await sent).toMatchObject({ completed: true });
    expect(asked).toHaveLength(2);
  });

  verifies('chat/tries', 'ends at once with the run', async () => {
    const { gw, client, events, sent, asked } = await createBusyOnceGateway();
    await using _gw = gw;
    await client.call('chat.abort', { sessionId: 'main' });
    await expect(sent).rejects.toMatchObject({ code: 'ABORTED' });
    expect(asked).toHaveLength(1);
    expect(events.filter(({ event }) => event === 'chat.done' || event === 'chat.error')).toHaveLength(1);
  });
});
