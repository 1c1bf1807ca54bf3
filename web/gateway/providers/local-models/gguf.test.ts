import { describe, expect } from 'vitest';
import { ggufPort } from '#shared/ports/gguf-port.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { z } from '#shared/rpc/zod.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeBridge, createCapability } from '../../../../tests/support/fake-bridge.ts';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';
import { installSharedExtra } from '../../../../tests/support/gguf-extra.ts';
import { createGgufHome, TINY_MODEL } from '../../../../tests/support/gguf-home.ts';

const { extra, missing } = await installSharedExtra();
const KEY = `gguf/${TINY_MODEL}`;
const completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }), finish_reason: z.string() })),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }),
});

async function createFixture() {
  const at = createGgufHome(extra);
  const bridge = new FakeBridge(createCapability(ggufPort, at.gguf.handlers));
  const gw = await createTestGateway({ bridge, useGuide: true });
  const { client, events } = await gw.client();
  const v1 = (path: string, body: object): Promise<Response> =>
    gw.gateway.fetch(
      new Request(`http://127.0.0.1:7333/v1/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
      { id: 'owner', scopes: ['admin'] },
    );
  return {
    ...{ at, bridge, client, events, v1 },
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await at[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(missing !== undefined)(`models of the bridge's disk${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  verifies('gguf/provider', 'they are listed as they come and go, with their context, and cost nothing', async () => {
    await using world_ = await createFixture();
    const { at, bridge, client } = world_;
    const listed = async () => contracts['models.list'].result.parse(await client.call('models.list', {})).models.map(({ key }) => key);
    expect(await listed()).toEqual(['guide/guide']);
    at.add();
    at.put('perch/tiny/cut.gguf', new Uint8Array(100));
    const { models } = contracts['models.list'].result.parse(await client.call('models.list', {}));
    expect(models.find(({ key }) => key === KEY)).toMatchObject({
      provider: 'gguf',
      model_id: TINY_MODEL,
      display_name: 'tiny',
      context_window: 2048,
      supports_vision: false,
      cost_per_1m_input: 0,
    });
    expect(models).toHaveLength(2);
    const { providers } = contracts['models.providers'].result.parse(await client.call('models.providers', {}));
    expect(providers.find(({ id }) => id === 'gguf')).toMatchObject({ kind: 'gguf', state: 'ready', models: 1, discovered: true });
    bridge.detach();
    expect(await listed()).toEqual(['guide/guide']);
    await expect(client.call('models.probe', { model: KEY })).resolves.toMatchObject({ available: false, error: /needs the bridge/ });
  });

  verifies('gguf/provider', 'an agent answers with one', async () => {
    await using world_ = await createFixture();
    const { at, client, events } = world_;
    at.add(TINY_MODEL, { contextSize: 1024 });
    const agents = { main: { systemPrompt: 'Be short.', tools: { allow: [] } } };
    await client.call('config.patch', { patch: { chat: { model: KEY }, agents } });
    const done = contracts['chat.send'].result.parse(await client.call('chat.send', { message: 'Hi' }));
    expect(done.usage.inputTokens).toBeGreaterThan(10);
    expect(done.usage.estimated).toBeUndefined();
    expect(done.usage.cost).toBe(0);
    expect(events.filter(({ event }) => event === 'chat.delta').length).toBeGreaterThan(1);
  });

  verifies('gguf/provider', 'programs ask them by /v1: streamed, as JSON, embeddings', async () => {
    await using world_ = await createFixture();
    const { at, v1 } = world_;
    at.add();
    const hi = { model: KEY, messages: [{ role: 'user', content: 'Hi' }], seed: 1 };
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'], additionalProperties: false };
    const parsedCompletion = completion.parse(
      await (await v1('chat/completions', { ...hi, response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } })).json(),
    );
    expect(z.strictObject({ ok: z.boolean() }).safeParse(JSON.parse(parsedCompletion.choices[0]?.message.content ?? '')).success).toBe(
      true,
    );
    expect(parsedCompletion.usage.prompt_tokens).toBeGreaterThan(5);
    const streamed = await (await v1('chat/completions', { ...hi, stream: true, max_tokens: 5 })).text();
    expect(streamed.match(/"content":"[^"]/g)?.length ?? 0).toBeGreaterThan(0);
    expect(streamed).toContain('"finish_reason":"length"');
    expect(streamed.trimEnd().endsWith('data: [DONE]')).toBe(true);
    const vectors = z
      .object({ data: z.array(z.object({ embedding: z.array(z.number()) })), usage: z.object({ prompt_tokens: z.number() }) })
      .parse(await (await v1('embeddings', { model: KEY, input: ['a', 'b'] })).json());
    expect(vectors.data.map(({ embedding }) => embedding.length)).toEqual([64, 64]);
  });

  verifies('gguf/provider', 'what they cannot do is 400 by its name', async () => {
    await using world_ = await createFixture();
    const { at, v1 } = world_;
    at.add();
    const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }];
    const picture = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
    const format = (schema: object) => ({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } });
    const refused: [param: string, path: string, more: object][] = [
      ['tool_choice', 'chat/completions', { tools, tool_choice: 'required' }],
      ['response_format', 'chat/completions', { tools, ...format({ type: 'object' }) }],
      ['response_format', 'chat/completions', format({ type: 'integer', minimum: 1 })],
      ['messages', 'chat/completions', { messages: [{ role: 'user', content: picture }] }],
      ['messages', 'chat/completions', { messages: [{ role: 'user', content: 'x'.repeat(9000) }] }],
      ['dimensions', 'embeddings', { input: 'a', dimensions: 3 }],
      ['input', 'embeddings', { input: [1, 2] }],
    ];
    for (const [param, path, more] of refused) {
      const response = await v1(path, {
        model: KEY,
        ...(path === 'embeddings' ? {} : { messages: [{ role: 'user', content: 'Hi' }] }),
        ...more,
      });
      expect([response.status, await response.json()], param).toMatchObject([
        400,
        { error: { param: expect.stringContaining(param) as string } },
      ]);
    }
    expect((await v1('chat/completions', { model: 'gguf/a/b/c.gguf', messages: [{ role: 'user', content: 'Hi' }] })).status).toBe(404);
  });
});
