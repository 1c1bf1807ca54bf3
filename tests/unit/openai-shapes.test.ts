import type OpenAI from 'openai';
import { expect, expectTypeOf, it } from 'vitest';
import type { z } from '#shared/rpc/zod.ts';
import type { completion, completionChunk } from '../support/openai-shapes/chat-shapes.ts';
import { checkConformance } from '../support/openai-shapes/conformance-check.ts';
import type { responseEvent } from '../support/openai-shapes/event-shapes.ts';
import type { model } from '../support/openai-shapes/list-shapes.ts';
import type { deletedResponse, itemList, response } from '../support/openai-shapes/response-shapes.ts';

/** A completion without annotations: the package has none of files. */
type WithoutAnnotations<T extends { choices: { message: object }[] }> = Omit<T, 'choices'> & {
  choices: (Omit<T['choices'][number], 'message'> & { message: Omit<T['choices'][number]['message'], 'annotations'> })[];
};

it('the shapes are those of the official package', () => {
  expectTypeOf<WithoutAnnotations<z.infer<typeof completion>>>().toExtend<OpenAI.ChatCompletion>();
  expectTypeOf<z.infer<typeof completionChunk>>().toExtend<OpenAI.ChatCompletionChunk>();
  expectTypeOf<z.infer<typeof model>>().toExtend<OpenAI.Model>();
  // `output_text` is made by the package, `access_programs` is not supported, `usage` may be null, and `tools` are those of the request.
  type Response = Omit<OpenAI.Responses.Response, 'output_text' | 'access_programs' | 'usage' | 'tools'>;
  expectTypeOf<z.infer<typeof response>>().toExtend<Response>();
  expectTypeOf<NonNullable<z.infer<typeof response>['usage']>>().toExtend<OpenAI.Responses.ResponseUsage>();
  expectTypeOf<z.infer<typeof responseEvent>['type']>().toExtend<OpenAI.Responses.ResponseStreamEvent['type']>();
  expectTypeOf<z.infer<typeof itemList>>().toExtend<OpenAI.Responses.ResponseItemList>();
  expectTypeOf<z.infer<typeof deletedResponse>['object']>().toEqualTypeOf<'response'>();
});

async function findMismatch(route: string, answer: Response): Promise<string> {
  const [method = '', path = ''] = route.split(' ');
  const misfits = new Set<string>();
  await (await checkConformance({ method, url: `http://perch.test${path}` }, answer, misfits)).text();
  return [...misfits].join('\n');
}
const createStream = (text: string): Response => new Response(text, { headers: { 'content-type': 'text/event-stream' } });

const LISTED_MODEL = { id: 'm', object: 'model', created: 1, owned_by: 'perch' };
const ERROR_BODY = { message: 'No', type: 'not_found', param: null, code: 'not_found' };
const CHUNK = {
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }],
};
const toData = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const REASONING_DELTA = { type: 'response.reasoning_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Hm' };
const toNamedEvent = (value: { type: string; sequence_number?: number }, name = value.type): string => `event: ${name}\n${toData(value)}`;

it('what fits is passed, byte for byte', async () => {
  expect(await findMismatch('GET /v1/models/m', Response.json(LISTED_MODEL))).toBe('');
  expect(await findMismatch('GET /v1/nope', Response.json({ error: ERROR_BODY }, { status: 404 }))).toBe('');
  expect(
    await findMismatch('POST /v1/chat/completions', createStream(`${toData(CHUNK)}${toData({ error: ERROR_BODY })}data: [DONE]\n\n`)),
  ).toBe('');
  expect(await findMismatch('POST /v1/responses', createStream(toNamedEvent({ ...REASONING_DELTA, sequence_number: 0 })))).toBe('');
  const same = await checkConformance(
    { method: 'POST', url: 'http://perch.test/v1/chat/completions' },
    createStream(`: hold\n${toData(CHUNK)}`),
    new Set(),
  );
  expect(await same.text()).toBe(`: hold\n${toData(CHUNK)}`);
});

it.each<[string, string, Response]>([
  ['a field that is not known', 'GET /v1/models/m', Response.json({ ...LISTED_MODEL, context_window: 5 })],
  ['a field that is missing', 'GET /v1/models/m', Response.json({ ...LISTED_MODEL, created: undefined })],
  ['a value that is not in the list', 'GET /v1/models', Response.json({ object: 'models', data: [] })],
  ['an answer where there should be none', 'GET /v1/nope', Response.json({})],
  ['an error without its param', 'GET /v1/models', Response.json({ error: { ...ERROR_BODY, param: undefined } }, { status: 404 })],
  ['an error that is a page', 'GET /v1/models', new Response('<html>', { status: 502 })],
  ['a chunk without its model', 'POST /v1/chat/completions', createStream(toData({ ...CHUNK, model: undefined }))],
  ['what comes behind [DONE]', 'POST /v1/chat/completions', createStream(`data: [DONE]\n\n${toData(CHUNK)}`)],
  ['an event by another name', 'POST /v1/responses', createStream(toNamedEvent({ ...REASONING_DELTA, sequence_number: 0 }, 'message'))],
  ['an event out of order', 'POST /v1/responses', createStream(toNamedEvent({ ...REASONING_DELTA, sequence_number: 1 }))],
  ['an event that is not known', 'POST /v1/responses', createStream(toNamedEvent({ ...REASONING_DELTA, type: 'response.thought' }))],
])('%s is told', async (_what, route, answer) => {
  expect(await findMismatch(route, answer)).toContain(route);
});
