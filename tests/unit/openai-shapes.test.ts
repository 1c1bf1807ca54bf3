import type OpenAI from 'openai';
import { expect, expectTypeOf, it } from 'vitest';
import type { z } from '#shared/rpc/zod.ts';
import type { completion, completionChunk } from '../support/openai-shapes/chat.ts';
import { conforming } from '../support/openai-shapes/conforming.ts';
import type { responseEvent } from '../support/openai-shapes/events.ts';
import type { model } from '../support/openai-shapes/lists.ts';
import type { deleted, itemList, response } from '../support/openai-shapes/responses.ts';

it('the shapes are those of the official package', () => {
  expectTypeOf<z.infer<typeof completion>>().toExtend<OpenAI.ChatCompletion>();
  expectTypeOf<z.infer<typeof completionChunk>>().toExtend<OpenAI.ChatCompletionChunk>();
  expectTypeOf<z.infer<typeof model>>().toExtend<OpenAI.Model>();
  // `output_text` is made by the package, `access_programs` is not supported, `usage` may be null, and `tools` are those of the request.
  type Response = Omit<OpenAI.Responses.Response, 'output_text' | 'access_programs' | 'usage' | 'tools'>;
  expectTypeOf<z.infer<typeof response>>().toExtend<Response>();
  expectTypeOf<NonNullable<z.infer<typeof response>['usage']>>().toExtend<OpenAI.Responses.ResponseUsage>();
  expectTypeOf<z.infer<typeof responseEvent>['type']>().toExtend<OpenAI.Responses.ResponseStreamEvent['type']>();
  expectTypeOf<z.infer<typeof itemList>>().toExtend<OpenAI.Responses.ResponseItemList>();
  expectTypeOf<z.infer<typeof deleted>['object']>().toEqualTypeOf<'response'>();
});

async function told(route: string, answer: Response): Promise<string> {
  const [method = '', path = ''] = route.split(' ');
  const misfits = new Set<string>();
  await (await conforming({ method, url: `http://perch.test${path}` }, answer, misfits)).text();
  return [...misfits].join('\n');
}
const stream = (text: string): Response => new Response(text, { headers: { 'content-type': 'text/event-stream' } });

const listed = { id: 'm', object: 'model', created: 1, owned_by: 'perch' };
const error = { message: 'No', type: 'not_found', param: null, code: 'not_found' };
const chunk = {
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }],
};
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = { type: 'response.reasoning_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Hm' };
const named = (value: { type: string; sequence_number?: number }, name = value.type): string => `event: ${name}\n${data(value)}`;

it('what fits is passed, byte for byte', async () => {
  expect(await told('GET /v1/models/m', Response.json(listed))).toBe('');
  expect(await told('GET /v1/nope', Response.json({ error }, { status: 404 }))).toBe('');
  expect(await told('POST /v1/chat/completions', stream(`${data(chunk)}${data({ error })}data: [DONE]\n\n`))).toBe('');
  expect(await told('POST /v1/responses', stream(named({ ...delta, sequence_number: 0 })))).toBe('');
  const same = await conforming(
    { method: 'POST', url: 'http://perch.test/v1/chat/completions' },
    stream(`: hold\n${data(chunk)}`),
    new Set(),
  );
  expect(await same.text()).toBe(`: hold\n${data(chunk)}`);
});

it.each<[string, string, Response]>([
  ['a field that is not known', 'GET /v1/models/m', Response.json({ ...listed, context_window: 5 })],
  ['a field that is missing', 'GET /v1/models/m', Response.json({ ...listed, created: undefined })],
  ['a value that is not in the list', 'GET /v1/models', Response.json({ object: 'models', data: [] })],
  ['an answer where there should be none', 'GET /v1/nope', Response.json({})],
  ['an error without its param', 'GET /v1/models', Response.json({ error: { ...error, param: undefined } }, { status: 404 })],
  ['an error that is a page', 'GET /v1/models', new Response('<html>', { status: 502 })],
  ['a chunk without its model', 'POST /v1/chat/completions', stream(data({ ...chunk, model: undefined }))],
  ['what comes behind [DONE]', 'POST /v1/chat/completions', stream(`data: [DONE]\n\n${data(chunk)}`)],
  ['an event by another name', 'POST /v1/responses', stream(named({ ...delta, sequence_number: 0 }, 'message'))],
  ['an event out of order', 'POST /v1/responses', stream(named({ ...delta, sequence_number: 1 }))],
  ['an event that is not known', 'POST /v1/responses', stream(named({ ...delta, type: 'response.thought' }))],
])('%s is told', async (_what, route, answer) => {
  expect(await told(route, answer)).toContain(route);
});
