import { describe, expect, it } from 'vitest';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { toEvents, readData, readError, createUpstreamHttp } from '../../../../tests/support/test-http.ts';
import { completionChunk } from '../../../../tests/support/openai-shapes/chat-shapes.ts';
import { errorResponse } from '../../../../tests/support/openai-shapes/error-shapes.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { ProviderError, UnsupportedOptionError } from '../../providers/provider.ts';
import { toSessionId } from './request-target.ts';

const v1 = createUpstreamHttp();
const hi = [{ role: 'user', content: 'Hi' }];

describe('an agent', () => {
  verifies(['http.chat/completion', 'http.chat/agent-and-direct'], 'answers whole', async () => {
    v1.http.agent = () =>
      toEvents(
        { type: 'text', text: 'Hi' },
        { type: 'usage', usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 } },
        { type: 'finish', reason: 'length' },
      );
    const response = await v1.http.chat({
      ...{ model: 'perch/helper', temperature: 0.3, max_tokens: 5 },
      messages: [{ role: 'developer', content: 'Be brief' }, ...hi],
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      object: 'chat.completion',
      created: expect.closeTo(Date.now() / 1000, -2),
      model: 'perch/helper',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, logprobs: null, finish_reason: 'length' }],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    });
    expect(v1.http.runs).toMatchObject([
      {
        agentId: 'helper',
        principal: 'owner',
        sessionId: undefined,
        generationOptions: { temperature: 0.3, maxTokens: 5 },
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ]);
  });

  verifies('http.chat/stream', 'streams chunks, role first, one [DONE]', async () => {
    const response = await v1.http.chat({ model: 'main', messages: hi, stream: true, stream_options: { include_usage: true } });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const data = await readData(response);
    expect(data.filter((each) => each === '[DONE]')).toHaveLength(1);
    expect(data.at(-1)).toBe('[DONE]');
    const chunks = data.slice(0, -1).map((each) => completionChunk.parse(JSON.parse(each)));
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: 'Hel' },
      { content: 'lo' },
      {},
      undefined,
    ]);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, null, 'stop', undefined]);
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(chunks.at(-1)?.usage).toMatchObject({ completion_tokens: 1 });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  verifies('http.chat/ignored', 'names fields without effect in a header and the log, and answers', async () => {
    const body = {
      ...{ model: 'main', messages: hi, logprobs: true, top_k: 5, logit_bias: { 5: 1 }, odd: [1], service_tier: 'flex', store: true },
      ...{ 'x,\r\ny': 1, top_logprobs: 0, user: 'alice', tools: [{ type: 'web_search' }] },
    };
    const response = await v1.http.chat(body);
    expect(response.status).toBe(200);
    const fields = ['logprobs', 'top_k', 'logit_bias', 'odd', 'service_tier', 'store', 'x___y', 'tools[0]'];
    expect(response.headers.get('x-perch-ignored')).toBe(fields.join(', '));
    expect(v1.http.noted).toContainEqual({ level: 'info', message: 'Request fields without effect', fields });
    const streamed = await v1.http.chat({ model: 'main', messages: hi, stream: true, top_k: 5 });
    expect(streamed.headers.get('x-perch-ignored')).toBe('top_k');
    expect((await v1.http.chat({ model: 'main', messages: hi })).headers.get('x-perch-ignored')).toBeNull();
  });

  it('answers without a wish that its model does not support', async () => {
    v1.http.agent = ({ generationOptions }) =>
      toEvents(
        generationOptions.seed === undefined
          ? { type: 'text', text: 'Hi' }
          : new RpcError('INTERNAL_ERROR', 'no', {}, { cause: new UnsupportedOptionError('seed', 'No seeds.') }),
        { type: 'finish', reason: 'stop' },
      );
    const response = await v1.http.chat({ model: 'main', messages: hi, seed: 1, temperature: 0.2 });
    expect([response.status, response.headers.get('x-perch-ignored')]).toEqual([200, 'seed']);
    expect(v1.http.runs.at(-1)?.generationOptions).toMatchObject({ temperature: 0.2 });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['several choices', { n: 2 }, 'n'],
    ['a forced tool that is not there', { tool_choice: { type: 'function', function: { name: 't' } } }, 'tool_choice'],
    ['a forced tool of a type that is left out', { tools: [{ type: 'web_search' }], tool_choice: 'required' }, 'tool_choice'],
    ['a forced function of the older form', { functions: [{ name: 't' }], function_call: { name: 't' } }, 'function_call'],
    ['sound as the answer', { modalities: ['text', 'audio'] }, 'modalities'],
    ['a format that is not known', { response_format: { type: 'grammar' } }, 'response_format.type'],
  ])('refuses %s', async (_what, more, param) => {
    const response = await v1.http.chat({ model: 'main', messages: hi, ...more });
    expect([response.status, (await readError(response)).param]).toEqual([400, param]);
  });

  it('gives calls of the caller’s tools to the caller', async () => {
    const tools = [{ type: 'function', function: { name: 't', parameters: {} } }];
    v1.http.agent = () => toEvents({ type: 'tool_call', call: { id: 'c', tool: 't', args: {} } }, { type: 'finish', reason: 'tool_calls' });
    const response = await v1.http.chat({ model: 'main', messages: hi, tools, user: 'alice' });
    expect(await response.json()).toMatchObject({
      choices: [{ message: { tool_calls: [{ id: 'c', function: { name: 't' } }] }, finish_reason: 'tool_calls' }],
    });
    // Each request contains the whole conversation.
    expect(v1.http.runs.at(-1)).toMatchObject({ sessionId: undefined, tools: [{ name: 't' }] });
    const inSession = await v1.http.chat({ model: 'main', messages: hi, tools }, { headers: { 'x-perch-session': 's' } });
    expect([inSession.status, (await readError(inSession)).param]).toEqual([400, 'tools']);
  });

  it('continues the session that is named', async () => {
    await v1.http.chat({ model: 'main', messages: hi, user: 'alice' });
    await v1.http.chat({ model: 'main', messages: hi, user: 'bob' }, { headers: { 'x-perch-session': 'trip_1' } });
    await v1.http.chat({ model: 'main', messages: hi, user: 'a@b.c' });
    expect(v1.http.runs.map(({ sessionId }) => sessionId)).toEqual(['alice', 'trip_1', toSessionId('a@b.c')]);
    expect(toSessionId('a@b.c')).toMatch(/^a_b_c-[0-9a-f]{8}$/);
    expect(toSessionId('a@b.c')).not.toBe(toSessionId('a.b@c'));
    expect(toSessionId('ü'.repeat(900))).toMatch(/^[A-Za-z0-9_-]{1,128}$/);
    const bad = await v1.http.chat({ model: 'main', messages: hi }, { headers: { 'x-perch-session': '../x' } });
    expect([bad.status, (await readError(bad)).param]).toEqual([400, 'x-perch-session']);
  });

  it('gets pictures and files', async () => {
    const content = [
      { type: 'text', text: 'See' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,AAAA' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    ];
    await v1.http.chat({ model: 'main', messages: [{ role: 'user', content }] });
    expect(v1.http.runs[0]?.messages[0]?.content).toEqual([
      { type: 'text', text: 'See' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'file', mimeType: 'text/plain', data: 'AAAA', filename: 'a.txt' },
      { type: 'file', mimeType: 'audio/mpeg', data: 'AAAA', filename: 'audio.mp3' },
    ]);
  });

  it.each<[string, Error, number, string]>([
    [
      'its provider failing',
      new RpcError('INTERNAL_ERROR', 'Upstream broke off', { retryable: true }, { cause: new ProviderError('x') }),
      502,
      'api_error',
    ],
    [
      'a request that its provider refuses',
      new RpcError('INTERNAL_ERROR', 'Upstream refused', {}, { cause: new ProviderError('No such parameter', { status: 400 }) }),
      400,
      'invalid_request_error',
    ],
    [
      'a request that is too large for its provider',
      new RpcError('INTERNAL_ERROR', 'Upstream refused', {}, { cause: new ProviderError('too large', { status: 413 }) }),
      413,
      'invalid_request_error',
    ],
    [
      'a key that its provider refuses, with 400',
      new RpcError('INTERNAL_ERROR', 'no key', {}, { cause: new ProviderError('no key', { status: 400, isRequestFault: false }) }),
      502,
      'api_error',
    ],
    ['a rate limit', new RpcError('RATE_LIMITED', 'slow down', { retryAfterMs: 1500 }), 429, 'rate_limited'],
    ['a missing model', new RpcError('NOT_FOUND', 'There is no model "x".'), 404, 'model_not_found'],
    ['bad params', new RpcError('INVALID_PARAMS', 'message: must not contain NUL'), 400, 'invalid_request_error'],
    ['a gateway that drains', new RpcError('INTERNAL_ERROR', 'goes away', { retryable: true }), 503, 'unavailable'],
    ['a stop by somebody', new RpcError('ABORTED', 'stopped'), 499, 'aborted'],
    ['a fault of ours', new TypeError('secret detail'), 500, 'api_error'],
  ])('%s has its status, or its error in the stream', async (_what, thrown, status, type) => {
    for (const stream of [false, true]) {
      v1.http.agent = () => toEvents(thrown);
      const response = await v1.http.chat({ model: 'main', messages: hi, stream });
      expect([response.status, (await readError(response)).type]).toEqual([status, type]);
      if (status === 429) expect(response.headers.get('retry-after')).toBe('2');
    }
    v1.http.agent = () => toEvents({ type: 'text', text: 'Hel' }, thrown);
    const data = await readData(await v1.http.chat({ model: 'main', messages: hi, stream: true }));
    expect(data.at(-1)).toBe('[DONE]');
    expect(data.filter((each) => each === '[DONE]')).toHaveLength(1);
    expect(errorResponse.parse(JSON.parse(data.at(-2) ?? '')).error).toMatchObject({ type });
    expect(data.join()).not.toContain('secret detail');
  });
});
