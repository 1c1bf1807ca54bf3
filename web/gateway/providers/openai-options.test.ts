import { expect, it } from 'vitest';
import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import { collectOutcome, createFakeServer, createStreamResponse, toUnnamedEvents } from '../../../tests/support/fake-provider-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { OpenAiCompatible } from './openai-compatible.ts';
import type { ModelRequest } from './provider.ts';

const DONE = toUnnamedEvents({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }] });

async function sendRequest(rest: Partial<ModelRequest>, kind: ProviderKind = 'openai', refusal?: string) {
  const { fetch, asked } = createFakeServer((_asked, count) =>
    refusal !== undefined && count === 1 ? Response.json({ error: { message: refusal } }, { status: 400 }) : createStreamResponse(DONE),
  );
  const provider = new OpenAiCompatible({ id: 'o', name: 'Server', baseUrl: 'http://server/v1', kind, fetch, clock: systemClock });
  const outcome = await collectOutcome(provider, { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...rest });
  return { ...outcome, bodies: asked.map(({ body }) => body) };
}

const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false };

const tools = [{ name: 'add', description: 'Adds', schema }];

verifies('providers/wishes', 'of a server in the OpenAI format are sent as they are', async () => {
  const { bodies } = await sendRequest({
    tools: [{ name: 'add', description: 'Adds', schema, strict: true }],
    toolChoice: { name: 'add' },
    parallelToolCalls: false,
    responseFormat: { type: 'json_schema', name: 'answer', schema, strict: true },
    topP: 0.5,
    stop: ['END'],
    seed: 7,
    reasoningEffort: 'low',
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
  });
  expect(bodies).toEqual([
    {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'add', description: 'Adds', parameters: schema, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'add' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      top_p: 0.5,
      stop: ['END'],
      seed: 7,
      reasoning_effort: 'low',
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
    },
  ]);
});

it('takes a choice of tools and a format in a word, and the seed by the name that the vendor has for it', async () => {
  for (const toolChoice of ['none', 'auto', 'required'] as const)
    expect((await sendRequest({ tools, toolChoice, responseFormat: { type: 'json_object' } })).bodies).toMatchObject([
      { tool_choice: toolChoice, response_format: { type: 'json_object' } },
    ]);
  const [bare] = (await sendRequest({ toolChoice: 'none', parallelToolCalls: false })).bodies;
  expect(Object.keys(bare ?? {}).sort()).toEqual(['messages', 'model', 'stream', 'stream_options']);
  const [body] = (await sendRequest({ seed: 7 }, 'mistral')).bodies;
  expect([body?.['random_seed'], body && 'seed' in body]).toEqual([7, false]);
});

verifies(
  'providers/wishes',
  'that are meant to the letter are refused where the server refuses, and renamed where it only wants another name',
  async () => {
    const refusal = "Unsupported value: 'temperature' does not support 0.2 with this model.";
    expect(await sendRequest({ temperature: 0.2, exact: true }, 'openai', refusal)).toMatchObject({ error: { status: 400 }, bodies: [{}] });
    expect((await sendRequest({ temperature: 0.2 }, 'openai', refusal)).bodies).toHaveLength(2);
    const name = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    const { bodies, text } = await sendRequest({ maxTokens: 9, temperature: 0.2, exact: true }, 'openai-compatible', name);
    expect([text, bodies[1]?.['max_completion_tokens'], bodies[1]?.['temperature'], bodies[1]?.['max_tokens']]).toEqual([
      'ok',
      9,
      0.2,
      undefined,
    ]);
  },
);

it('sends sound and files as they are where a program sends them', async () => {
  const file = (mimeType: string, filename: string) => ({ type: 'file' as const, mimeType, filename, data: 'AAAA' });
  const content = [file('audio/mpeg', 'a.mp3'), file('application/pdf', 'a.pdf'), file('text/plain', 'a.txt')];
  const [body] = (await sendRequest({ exact: true, messages: [{ role: 'user', content }] })).bodies;
  expect(body?.['messages']).toEqual([
    {
      role: 'user',
      content: [
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
        { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
        { type: 'text', text: expect.stringContaining('File a.txt') },
      ],
    },
  ]);
  const long = btoa('x'.repeat(120_000));
  const [whole] = (
    await sendRequest({ exact: true, messages: [{ role: 'user', content: [{ ...file('text/plain', 'a.txt'), data: long }] }] })
  ).bodies;
  expect(JSON.stringify(whole)).toContain('x'.repeat(120_000));
});
