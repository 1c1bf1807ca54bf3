import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT, UPSTREAM_USAGE } from '../test-upstream.ts';
import { hasCurl, type Perch, startPerch } from './perch-process.ts';
import { createOpenai } from './openai-client.ts';
import { addProvider, connectOutside } from './outside-client.ts';

// One gateway in its managed Chromium, no tab open; programs call it from outside.
let perch: Perch;
let upstream: Upstream;
let openai: OpenAI;

beforeAll(async () => {
  upstream = await startUpstream({ models: ['normal', 'slow', 'stall', 'cut'], apiKey: 'sk-test' });
  perch = await startPerch();
  openai = createOpenai(perch);
  using outside = await connectOutside(perch);
  await addProvider(outside.client, upstream.url, 'sk-test');
});
afterAll(async () => {
  await perch?.[Symbol.asyncDispose]();
  await upstream?.close();
});

const text = UPSTREAM_TEXT.join('');

describe('the openai package', () => {
  verifies(
    ['http.chat/openai-client', 'http.chat/completion', 'http.chat/agent-and-direct'],
    'an agent and a model, not streamed',
    async () => {
      const agent = await openai.chat.completions.create({
        model: 'perch/main',
        messages: [{ role: 'user', content: 'How do I add a model?' }],
      });
      expect(agent).toMatchObject({
        object: 'chat.completion',
        model: 'perch/main',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant' } }],
      });
      expect(agent.choices[0]?.message.content).toContain('Settings');
      expect(agent.usage?.total_tokens).toBeGreaterThan(0);
      const direct = await openai.chat.completions.create({ model: 'local/normal', messages: [{ role: 'user', content: 'hi' }], seed: 7 });
      expect(direct.choices[0]?.message.content).toBe(text);
      expect(direct.usage).toMatchObject({ total_tokens: UPSTREAM_USAGE.total_tokens });
      expect(upstream.requests.findLast(({ path }) => path.endsWith('/chat/completions'))).toMatchObject({
        body: { model: 'normal', seed: 7 },
        headers: { authorization: 'Bearer sk-test' },
      });
    },
  );

  verifies('http/request-id', 'is in the package’s responses and errors', async () => {
    const ask = { model: 'local/normal', messages: [{ role: 'user' as const, content: 'hi' }] };
    const headers = { 'x-request-id': 'trip-7' };
    expect((await openai.chat.completions.create(ask))._request_id).toMatch(/^req_[0-9a-f]{32}$/);
    expect((await openai.chat.completions.create(ask, { headers }))._request_id).toBe('trip-7');
    const { response } = await openai.chat.completions.create({ ...ask, stream: true }, { headers }).withResponse();
    await response.body?.cancel();
    expect(response.headers.get('x-request-id')).toBe('trip-7');
    await expect(openai.chat.completions.create({ ...ask, model: 'nowhere/x' }, { headers })).rejects.toMatchObject({
      requestID: 'trip-7',
    });
  });

  verifies(['http.chat/openai-client', 'http.chat/stream'], 'streamed', async () => {
    for (const [model, expectedStatus] of [
      ['local/normal', text],
      ['perch/main', ''],
    ] as const) {
      const stream = await openai.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
        stream_options: { include_usage: true },
      });
      let got = '';
      let usage = 0;
      const finishes: string[] = [];
      for await (const chunk of stream) {
        expect(chunk.object).toBe('chat.completion.chunk');
        got += chunk.choices[0]?.delta.content ?? '';
        if (chunk.choices[0]?.finish_reason) finishes.push(chunk.choices[0].finish_reason);
        usage += chunk.usage?.total_tokens ?? 0;
      }
      expect(finishes).toEqual(['stop']);
      expect(usage).toBeGreaterThan(0);
      if (expectedStatus) expect(got).toBe(expectedStatus);
      else expect(got).toContain('guide');
    }
  });

  verifies(['http.chat/openai-client', 'http.models/list'], 'models.list has agents and models', async () => {
    const ids: string[] = [];
    for await (const model of openai.models.list()) ids.push(model.id);
    expect(ids).toEqual(expect.arrayContaining(['perch/main', 'guide/guide', 'local/normal']));
  });

  verifies('http/hang-up', 'a caller that leaves ends the upstream’s work', async () => {
    const before = upstream.requests.length;
    const stream = await openai.chat.completions.create({ model: 'local/slow', messages: [{ role: 'user', content: 'x' }], stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    const request = upstream.requests.slice(before).find(({ path }) => path.endsWith('/chat/completions'));
    await request?.closed;
    expect(request?.hungUp).toBe(true);
  });

  verifies(['http.chat/stream-error', 'http/errors'], 'an upstream that breaks off, a model that is not there, a bad key', async () => {
    const stream = await openai.chat.completions.create({ model: 'local/cut', messages: [{ role: 'user', content: 'x' }], stream: true });
    const failure = await (async () => {
      for await (const _chunk of stream) continue;
    })().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OpenAI.APIError);
    await expect(
      openai.chat.completions.create({ model: 'nobody/none', messages: [{ role: 'user', content: 'x' }] }),
    ).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    const stranger = createOpenai(perch, 'wrong');
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, type: 'unauthorized' });
  });
});

describe('any WebSocket client', () => {
  verifies(
    ['headless/serves', 'chat.send/streams', 'sessions.list/entries', 'chat.history/messages'],
    'protocol 3 with no tab open',
    async () => {
      using outside = await connectOutside(perch);
      const { client, events } = outside;
      expect(await client.call('health', {})).toMatchObject({ status: 'ok' });
      const done = await client.call('chat.send', { message: 'hi', sessionId: 'e2e', model: 'local/normal' });
      expect(done).toMatchObject({ completed: true, usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18, cacheReadTokens: 3 } });
      expect(events.flatMap(({ event, payload }) => (event === 'chat.delta' ? [payload.delta] : [])).join('')).toBe(text);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      const { messages } = await client.call('chat.history', { sessionId: 'e2e' });
      expect(messages.map(({ role, content }) => [role, content])).toEqual([
        ['user', 'hi'],
        ['assistant', text],
      ]);
      const { sessions } = await client.call('sessions.list', {});
      expect(sessions.find(({ sessionId }) => sessionId === 'e2e')).toMatchObject({
        agentId: 'main',
        file: 'e2e.jsonl',
        path: 'main/e2e.jsonl',
        messageCount: 2,
      });
    },
  );

  verifies(
    ['chat.abort/aborts', 'chat.abort/reaches-provider', 'chat.abort/keeps-partial'],
    'through every hop to the upstream',
    async () => {
      using outside = await connectOutside(perch);
      const { client, events } = outside;
      const before = upstream.requests.length;
      const pendingSend = client.call('chat.send', { message: 'hi', sessionId: 'stop', model: 'local/stall' });
      pendingSend.catch(() => {});
      await waitFor(() => events.some(({ event }) => event === 'chat.delta'));
      expect(await client.call('chat.abort', { sessionId: 'stop' })).toMatchObject({ aborted: true });
      await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
      const request = upstream.requests.slice(before).find(({ path }) => path.endsWith('/chat/completions'));
      await request?.closed;
      expect(request?.hungUp).toBe(true);
      const { messages } = await client.call('chat.history', { sessionId: 'stop' });
      expect(messages[1]).toMatchObject({ aborted: true });
    },
  );

  verifies('runs/belongs-to-session', 'the socket goes, the run ends and is stored', async () => {
    const first = await connectOutside(perch);
    first.client.call('chat.send', { message: 'hi', sessionId: 'left', model: 'local/slow' }).catch(() => {});
    await waitFor(() => first.events.some(({ event }) => event === 'chat.delta'));
    first.client.close();
    using second = await connectOutside(perch);
    await waitFor(async () => (await second.client.call('chat.history', { sessionId: 'left' })).messages.length === 2);
  });

  verifies('providers/keys', 'a provider’s key is in no answer', async () => {
    using outside = await connectOutside(perch);
    const { value } = await outside.client.call('config.get', {});
    expect(JSON.stringify(value)).not.toContain('sk-test');
    expect(value).toMatchObject({ providers: { local: { apiKey: '***' } } });
    expect(JSON.stringify(await outside.client.call('models.providers', {}))).not.toContain('sk-test');
    expect(perch.output.stderr + perch.output.stdout).not.toContain('sk-test');
  });
});

if (!hasCurl) test.skip('cli/three-lines: curl is not installed here', () => {});
else
  verifies('cli/three-lines', 'the curl works when pasted into a shell', async () => {
    const { stdout } = await promisify(execFile)('sh', ['-c', perch.curl]);
    expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion' });
  });
