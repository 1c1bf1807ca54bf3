import { describe, expect, it } from 'vitest';
import { contracts } from '#shared/rpc/methods/index.ts';
import { verifies } from '../../../tests/requirements.ts';
import { createTestGateway } from '../../../tests/support/test-gateway.ts';
import {
  type ProviderRequest,
  toNamedEvents,
  createFakeServer,
  createStreamResponse,
  toUnnamedEvents,
} from '../../../tests/support/fake-provider-server.ts';

const KEY = 'sk-secret-of-the-owner';
const USAGE = { input_tokens: 600, cache_read_input_tokens: 400, output_tokens: 1 };

const toMessageResponse = (blocks: object[], stop: string) =>
  toNamedEvents(
    { type: 'message_start', message: { usage: USAGE } },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 100 } },
    { type: 'message_stop' },
  );

const toTextResponse = (value: string) => toMessageResponse([{ type: 'text', text: value }], 'end_turn');
const TIME_CALL = { type: 'tool_use', id: 'toolu_1', name: 'current_time', input: {} };
const THINKING_BLOCK = { type: 'thinking', thinking: 'Hmm', signature: 'c2lnbmVk' };

/** Each vendor's server, that greets. */
function respondAsVendor(asked: ProviderRequest): Response {
  const { url, method } = asked;
  if (method === 'GET') return Response.json({ object: 'list', data: [{ id: 'm' }], models: [{ name: 'models/m' }] });
  if (url.includes('anthropic')) return createStreamResponse(toTextResponse('Hello'));
  if (url.includes('googleapis'))
    return createStreamResponse(toUnnamedEvents({ candidates: [{ content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] }));
  return createStreamResponse(toUnnamedEvents({ choices: [{ delta: { content: 'Hello' }, finish_reason: 'stop' }] }));
}

async function createClaudeGateway(answer: (asked: ProviderRequest, count: number) => Response) {
  const { fetch, asked } = createFakeServer(answer);
  const gw = await createTestGateway({ fetch, useGuide: true });
  const { client, events } = await gw.client();
  await client.call('config.patch', {
    patch: { providers: { claude: { kind: 'anthropic', apiKey: KEY } }, chat: { model: 'claude/claude-opus-5-5' } },
  });
  const v1 = (body: object): Promise<Response> =>
    gw.gateway.fetch(
      new Request('http://127.0.0.1:7333/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
      {
        id: 'owner',
        scopes: ['admin'],
      },
    );
  return { gw, client, events, asked, v1 };
}

verifies('models.catalog/kinds', 'every kind that the configuration takes, with its address and whether it wants a key', async () => {
  await using gw = await createTestGateway({ useGuide: true });
  const { client } = await gw.client();
  const { kinds } = contracts['models.catalog'].result.parse(await client.call('models.catalog', {}));
  expect(kinds.map(({ id, needsKey }) => `${id}${needsKey ? ' key' : ''}`)).toEqual([
    'openai-compatible',
    'openai key',
    'anthropic key',
    'google key',
    'openrouter key',
    'mistral key',
    'groq key',
    'deepseek key',
    'xai key',
    'ollama',
    'lmstudio',
  ]);
  for (const { id, baseUrl } of kinds) {
    const value = baseUrl === null ? { kind: id, baseUrl: 'http://any.test/v1' } : { kind: id };
    await client.call('config.set', { key: `providers.p-${id}`, value });
  }
});

verifies('models.probe/kinds', 'each answers, or says why not; its key is in no answer', async () => {
  const { fetch, asked } = createFakeServer((one) =>
    one.headers['authorization'] === 'Bearer bad' ? new Response('no', { status: 401 }) : respondAsVendor(one),
  );
  await using gw = await createTestGateway({ fetch, useGuide: true });
  const { client, events } = await gw.client();
  const { kinds } = await client.call('models.catalog', {});
  for (const { id, baseUrl } of kinds) {
    const own = baseUrl === null ? { baseUrl: 'http://any.test/v1' } : {};
    await client.call('config.set', { key: `providers.${id}`, value: { kind: id, apiKey: KEY, ...own } });
    expect(await client.call('models.probe', { model: `${id}/m` }), id).toEqual({ available: true, latency: expect.any(Number) });
    const { models, pricesAsOf } = await client.call('models.list', {});
    expect(
      models.some(({ key }) => key === `${id}/m`),
      id,
    ).toBe(true);
    expect(pricesAsOf === null, id).toBe(id === 'openai-compatible');
  }
  expect((await client.call('models.providers', {})).providers.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
    'guide ready',
    ...kinds.map(({ id }) => `${id} ready`),
  ]);
  await client.call('config.set', { key: 'providers.groq.apiKey', value: 'bad' });
  expect(await client.call('models.probe', { model: 'groq/m' })).toMatchObject({ available: false, error: expect.stringContaining('401') });
  expect(asked.some(({ url }) => url.includes(KEY))).toBe(false);
  expect(JSON.stringify([await client.call('models.providers', {}), await client.call('config.get', {}), events])).not.toContain(KEY);
});

describe('a run with Anthropic', () => {
  verifies('usage/cost', 'its tools run side by side, its thoughts go back, and what it cost is counted', async () => {
    const { gw, client, events, asked } = await createClaudeGateway((_asked, count) =>
      createStreamResponse(
        count === 1
          ? toMessageResponse([THINKING_BLOCK, { ...TIME_CALL }, { ...TIME_CALL, id: 'toolu_2' }], 'tool_use')
          : toTextResponse('It is noon'),
      ),
    );
    await using _gw = gw;
    const done = await client.call('chat.send', { message: 'What time is it?' });
    expect(asked).toHaveLength(2);
    const messages = asked[1]?.body?.['messages'] as { role: string; content: { type: string }[] }[];
    expect(messages.map(({ role, content }) => `${role} ${content.map(({ type }) => type).join()}`)).toEqual([
      'user text',
      'assistant thinking,tool_use,tool_use',
      'user tool_result,tool_result',
    ]);
    expect(
      events.flatMap(({ event, payload }) =>
        event.startsWith('chat.tool_') && event !== 'chat.tool_pending' ? [`${event} ${String(payload.toolCallId)}`] : [],
      ),
    ).toEqual(['chat.tool_call toolu_1', 'chat.tool_call toolu_2', 'chat.tool_result toolu_1', 'chat.tool_result toolu_2']);
    // Twice 600 at 4 dollars, 400 at 0.2 and 100 at 20 for a million.
    const cost = 0.00896;
    expect(done.usage).toEqual({ inputTokens: 2000, outputTokens: 200, totalTokens: 2200, cacheReadTokens: 800, cost });
    expect(await client.call('usage.get', {})).toMatchObject({ calls: 1, estimatedCost: cost, byProvider: { claude: { cost } } });
    const stored = await client.call('chat.history', { sessionId: 'main' });
    expect(stored.messages.flatMap(({ reasoning }) => reasoning?.text ?? [])).toEqual(['Hmm']);
    expect(JSON.stringify(stored)).not.toContain(THINKING_BLOCK.signature);
    expect(gw.faults).toEqual([]);
  });

  it('by /v1, streamed and whole; what changes the meaning is refused by name, the rest ignored', async () => {
    const { gw, client, asked, v1 } = await createClaudeGateway((_asked, count) =>
      count === 1 ? new Response('busy', { status: 529 }) : createStreamResponse(toTextResponse('Hello')),
    );
    await using _gw = gw;
    const body = { model: 'claude/claude-opus-5-5', messages: [{ role: 'user', content: 'hi' }] };
    const whole = await v1(body);
    expect(await whole.json()).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 400 } },
    });
    expect(asked).toHaveLength(2);
    const stream = await (await v1({ ...body, stream: true, top_p: 1, tool_choice: 'auto', response_format: { type: 'text' } })).text();
    expect(stream).toContain('"content":"Hello"');
    expect(stream.match(/data: \[DONE\]/g)).toHaveLength(1);
    const refused = await v1({ ...body, tool_choice: 'required' });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { type: 'invalid_request_error', param: 'tool_choice' } }]);
    for (const [name, value] of Object.entries({ presence_penalty: 1, seed: 1, logprobs: true })) {
      const ignored = await v1({ ...body, [name]: value });
      expect([ignored.status, ignored.headers.get('x-perch-ignored')], name).toEqual([200, name]);
      await ignored.text();
    }
    const { estimatedCost, calls } = await client.call('usage.get', {});
    expect([estimatedCost, calls]).toEqual([expect.closeTo(0.0224, 9), 5]);
  });
});
