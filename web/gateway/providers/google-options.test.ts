import { expect, it } from 'vitest';
import { collectOutcome, createFakeServer, createStreamResponse, toUnnamedEvents } from '../../../tests/support/fake-provider-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { systemClock } from '#shared/async/clock.ts';
import { Google } from './google.ts';
import type { ModelRequest } from './provider.ts';

const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
const add = { name: 'add', description: 'Adds', schema };
const OK_STREAM = toUnnamedEvents({ candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] });

async function sendRequest(rest: Partial<ModelRequest>) {
  const { fetch, asked } = createFakeServer(() => createStreamResponse(OK_STREAM));
  const provider = new Google({ id: 'g', name: 'Google', baseUrl: 'https://g/v1beta', apiKey: 'k', fetch, clock: systemClock });
  const request = { model: 'gemini-3.8-flash', messages: [{ role: 'user' as const, content: 'Hi' }], exact: true, ...rest };
  return { ...(await collectOutcome(provider, request)), bodies: asked.map(({ body }) => body) };
}

verifies('providers/wishes', 'reach Gemini: format, sampling, stops, seed, penalties', async () => {
  const { bodies } = await sendRequest({
    maxTokens: 50,
    temperature: 1.5,
    topP: 0.5,
    stop: ['END'],
    seed: 7,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    responseFormat: { type: 'json_schema', name: 'sum', schema, strict: true },
  });
  expect(bodies).toEqual([
    {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: {
        temperature: 1.5,
        maxOutputTokens: 50,
        topP: 0.5,
        stopSequences: ['END'],
        seed: 7,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        responseMimeType: 'application/json',
        responseJsonSchema: schema,
      },
    },
  ]);
  const told = { ...schema, description: 'Two numbers.' };
  const described = await sendRequest({ responseFormat: { type: 'json_schema', name: 'sum', description: 'The sum.', schema: told } });
  expect(described.bodies[0]?.['generationConfig']).toMatchObject({
    responseJsonSchema: { ...schema, description: 'The sum.\nTwo numbers.' },
  });
  expect((await sendRequest({ responseFormat: { type: 'json_object' } })).bodies[0]?.['generationConfig']).toEqual({
    responseMimeType: 'application/json',
  });
});

it.each<[Partial<ModelRequest>, object | undefined]>([
  [{}, undefined],
  [{ toolChoice: 'none', parallelToolCalls: false }, { mode: 'NONE' }],
  [{ toolChoice: 'auto' }, { mode: 'AUTO' }],
  [{ toolChoice: 'required' }, { mode: 'ANY' }],
  [{ toolChoice: { name: 'add' } }, { mode: 'ANY', allowedFunctionNames: ['add'] }],
  [{ tools: [{ ...add, strict: true }] }, { mode: 'VALIDATED' }],
])('of tools, %o is told as %o', async (wish, calling) => {
  const { bodies } = await sendRequest({ tools: [add], ...wish });
  expect(bodies[0]?.['toolConfig']).toEqual(calling && { functionCallingConfig: calling });
  expect(bodies[0]?.['tools']).toEqual([{ functionDeclarations: [{ name: 'add', description: 'Adds', parametersJsonSchema: schema }] }]);
});

it.each<[string, ModelRequest['reasoningEffort'], object | undefined]>([
  ['gemini-3.8-flash', 'minimal', { thinkingLevel: 'minimal', includeThoughts: true }],
  ['gemini-3-pro-preview', 'high', { thinkingLevel: 'high', includeThoughts: true }],
  ['gemini-2.5-flash', 'low', { thinkingBudget: 1024, includeThoughts: true }],
  ['models/gemini-2.5-pro', 'high', { thinkingBudget: 24_576, includeThoughts: true }],
  ['gemini-2.5-flash', 'none', { thinkingBudget: 0, includeThoughts: false }],
  ['gemini-2.0-flash', 'none', undefined],
])('%s thinks as hard as %s', async (model, reasoningEffort, thinkingConfig) => {
  expect((await sendRequest({ model, reasoningEffort })).bodies[0]?.['generationConfig']).toEqual(thinkingConfig && { thinkingConfig });
});

verifies('providers/wishes', 'that Gemini cannot honour are refused by name, and nobody is asked', async () => {
  const cases: [keyof ModelRequest, Partial<ModelRequest>][] = [
    ['parallelToolCalls', { tools: [add], parallelToolCalls: false }],
    ['reasoningEffort', { reasoningEffort: 'xhigh' }],
    ['reasoningEffort', { reasoningEffort: 'none' }],
    ['reasoningEffort', { model: 'gemini-2.0-flash', reasoningEffort: 'low' }],
    [
      'messages',
      { messages: [{ role: 'user', content: [{ type: 'file', mimeType: 'application/zip', data: 'AAAA', filename: 'a.zip' }] }] },
    ],
  ];
  for (const [field, wish] of cases)
    expect(await sendRequest(wish), field).toMatchObject({ error: { name: 'UnsupportedOptionError', field, status: 400 }, bodies: [] });
  const sound = { type: 'file' as const, mimeType: 'audio/wav', data: 'AAAA', filename: 'a.wav' };
  expect((await sendRequest({ messages: [{ role: 'user', content: [sound] }], parallelToolCalls: false })).bodies).toMatchObject([
    { contents: [{ parts: [{ inlineData: { mimeType: 'audio/wav', data: 'AAAA' } }] }] },
  ]);
});

it('sends all that a program says, which may begin with the assistant', async () => {
  const { bodies } = await sendRequest({
    messages: [
      { role: 'assistant', content: 'Welcome' },
      { role: 'user', content: 'Hi' },
    ],
  });
  expect(bodies[0]?.['contents']).toEqual([
    { role: 'user', parts: [{ text: '…' }] },
    { role: 'model', parts: [{ text: 'Welcome' }] },
    { role: 'user', parts: [{ text: 'Hi' }] },
  ]);
});
