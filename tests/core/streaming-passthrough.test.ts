import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import type { FakeHost } from '../../bridge/server/tests/fake-host.ts';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/test-bridge.ts';
import type { UsageRecord } from '../../web/gateway/storage/vault-interface.ts';
import { verifies } from '../requirements.ts';
import { type BridgedGateway, createBridgedGateway } from '../support/bridged-gateway.ts';
import { waitFor } from '../support/test-gateway.ts';
import { readData } from '../support/test-http.ts';
import { checkedFetch } from '../support/openai-shapes/checked-fetch.ts';
import { startUpstream, type Upstream, UPSTREAM_TEXT } from '../test-upstream.ts';

// Answers of a model through the whole core and a real bridge, with real sockets all the way: the bridge gives the upstream's bytes to
// the caller, the core decides and keeps the books.

const TEXT = UPSTREAM_TEXT.join('');
const KEY = 'sk-test-of-splices';
const messages = [{ role: 'user' as const, content: 'Hi' }];

let upstream: Upstream;
let bridge: TestBridge;
let gw: BridgedGateway;
let host: FakeHost;
beforeAll(async () => {
  upstream = await startUpstream({ apiKey: KEY });
  bridge = await startTestBridge({ timing: { receiptsMs: 20 } }, checkedFetch);
  gw = await createBridgedGateway({ egress: true });
  await setProvider(upstream.url);
  const { client } = await gw.client();
  // Streams are counted here: nothing else may have one.
  await client.call('config.patch', { patch: { workspaces: { mirror: false } } });
  client.close();
  host = await gw.attach(bridge);
});
afterAll(async () => {
  await bridge?.[Symbol.asyncDispose]();
  await gw?.[Symbol.asyncDispose]();
  await upstream?.close();
});

async function setProvider(baseUrl: string, id = 'up', name = 'Upstream'): Promise<void> {
  const { client } = await gw.client();
  await client.call('config.patch', { patch: { providers: { [id]: { baseUrl, name, apiKey: KEY } } } });
  client.close();
}

const postCompletion = (model: string, more: object = {}, init: RequestInit = {}): Promise<Response> =>
  bridge.http('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: `up/${model}`, messages, stream: true, ...more }),
    ...init,
  });

const getDataKinds = (data: string[]): string[] =>
  data.map((each) => (each.startsWith('{"error"') ? 'error' : each === '[DONE]' ? each : 'chunk'));
const getContent = (data: string): string =>
  (JSON.parse(data) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '';

/** Whether the answer that was asked for last went past the core. */
const wasPassedThrough = (): boolean => gw.splicedCalls.some((call) => call === gw.forwardedCalls.at(-1));

/** The usage of the call that was spliced last, once it is stored. */
async function getUsage(splice = gw.forwardedCalls.at(-1)): Promise<UsageRecord> {
  let found: UsageRecord | undefined;
  await waitFor(async () => (found = (await gw.vault.usage.since(0)).find(({ id }) => id === splice?.id)) !== undefined, 'the receipt');
  if (!found) throw new Error('there is none');
  return found;
}

/** A server whose responses the test writes itself. */
async function startManualServer(
  write: (response: ServerResponse, request: IncomingMessage) => void,
  contentType = 'text/event-stream',
): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    request.resume();
    response.on('error', () => {});
    response.writeHead(200, { 'content-type': contentType });
    write(response, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await setProvider(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, 'own', 'Own');
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const CHUNK_FIELDS = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x' };
const toChunk = (content: string, finish: string | null = null, index = 0): string =>
  `data: ${JSON.stringify({ ...CHUNK_FIELDS, choices: [{ index, delta: { content }, finish_reason: finish }] })}\n\n`;

describe('a streamed answer', () => {
  it.each(['normal', 'split-1', 'split-5', 'slow-1', 'deltas-500'])('of %s goes past the core, with exactly one [DONE]', async (mode) => {
    const response = await postCompletion(mode);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const data = await readData(response);
    expect(data.filter((each) => each === '[DONE]')).toHaveLength(1);
    expect(data.at(-1)).toBe('[DONE]');
    const text = data.slice(0, -1).map(getContent).join('');
    expect(text).toBe(mode.startsWith('deltas') ? Array.from({ length: 500 }, (_, i) => `w${i} `).join('') : TEXT);
    await waitFor(wasPassedThrough);
    expect(await getUsage()).toMatchObject({
      provider: 'up',
      model: `up/${mode}`,
      principal: 'owner',
      sessionKey: null,
      usage: { totalTokens: 18 },
    });
  });

  verifies('http.chat/splice-bytes', 'keeps every byte, comments included, and has the upstream’s usage', async () => {
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
    const sent = `: hold on\r\n\r\nid: 7\r\nevent: message\r\n${toChunk('ä').trim()}\r\n\r\n: still here\n\n${toChunk('', 'stop')}data: ${JSON.stringify({ ...CHUNK_FIELDS, choices: [], usage })}\n\n`;
    await using _ = await startManualServer((response) => response.end(`${sent}data: [DONE]\n\n`));
    expect(await (await postCompletion('', { model: 'own/x', stream_options: { include_usage: true } })).text()).toBe(
      `${sent}data: [DONE]\n\n`,
    );
    expect((await getUsage()).usage).toEqual({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
  });

  it('that has no [DONE], no last empty line, or several choices, is whole', async () => {
    for (const [sent, n, events] of [
      [toChunk('a') + toChunk('', 'stop'), 1, 2],
      [toChunk('a') + toChunk('', 'stop').trim(), 1, 2],
      [toChunk('a') + toChunk('', 'stop') + toChunk('b', null, 1) + toChunk('', 'stop', 1), 2, 4],
    ] as const) {
      await using _ = await startManualServer((response) => response.end(sent));
      expect(getDataKinds(await readData(await postCompletion('', { model: 'own/x', n })))).toEqual([
        ...Array<string>(events).fill('chunk'),
        '[DONE]',
      ]);
    }
  });

  it('is buffered if the upstream ignores `stream`, and the other way round', async () => {
    const data = await readData(await postCompletion('whole'));
    expect([data.length, getContent(data[0] ?? ''), data.at(-1)]).toEqual([2, TEXT, '[DONE]']);
    // A server that streams although it was not asked to.
    await using _ = await startManualServer((response) => response.end(toChunk('a') + toChunk('b', 'stop')));
    const completion = (await (await postCompletion('', { model: 'own/x', stream: false })).json()) as {
      choices: { message: { content: string } }[];
    };
    expect(completion.choices[0]?.message.content).toBe('ab');
    expect(wasPassedThrough()).toBe(false);
  });

  verifies(
    'http.chat/stream-error',
    'an upstream that fails midway leaves an error object, then one [DONE], over a splice too',
    async () => {
      for (const mode of ['cut', 'cut-event', 'reset', 'garbage', 'error-inside']) {
        const data = await readData(await postCompletion(mode));
        expect(getDataKinds(data), mode).toEqual(['chunk', 'error', '[DONE]']);
        expect(JSON.parse(data[1] ?? ''), mode).toMatchObject({
          error: { type: 'api_error', message: expect.stringContaining('Upstream') },
        });
        await waitFor(wasPassedThrough);
        expect((await getUsage()).usage.outputTokens, mode).toBe(1);
      }
    },
  );

  verifies('http/errors', 'an upstream that fails before its first event, over a splice too', async () => {
    for (const [mode, status, type] of [
      ['error-401', 502, 'api_error'],
      ['error-400', 400, 'invalid_request_error'],
      ['error-413', 413, 'invalid_request_error'],
      ['unknown', 404, 'model_not_found'],
      ['html', 502, 'api_error'],
      ['empty', 502, 'api_error'],
      ['huge', 502, 'api_error'],
    ] as const) {
      const response = await postCompletion(mode);
      expect({ mode, status: response.status, body: await response.json() }).toMatchObject({ mode, status, body: { error: { type } } });
    }
    expect(wasPassedThrough()).toBe(false);
  });

  it('is tried again where the upstream fails in a way that may pass', async () => {
    upstream.queue.push('hangup', 'error-500');
    const data = await readData(await postCompletion('normal'));
    expect(data.slice(0, -1).map(getContent).join('')).toBe(TEXT);
  });

  it('that sends nothing after the finish reason does not delay the end', async () => {
    expect(getDataKinds(await readData(await postCompletion('stall-end')))).toEqual(['chunk', 'chunk', '[DONE]']);
  });

  verifies('http.chat/openai-client', 'is read by the openai package, usage and tool calls too', async () => {
    const openai = new OpenAI({ baseURL: `${bridge.url}/v1`, apiKey: bridge.token, maxRetries: 0, fetch: checkedFetch });
    let text = '';
    let tokens = 0;
    const stream = await openai.chat.completions.create({
      model: 'up/normal',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const part of stream) {
      text += part.choices[0]?.delta.content ?? '';
      tokens = part.usage?.total_tokens ?? tokens;
    }
    expect([text, tokens]).toEqual([TEXT, 18]);
    const final = await openai.chat.completions.stream({ model: 'up/tool', messages }).finalChatCompletion();
    expect(final.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'get_weather', arguments: '{"city":"Köln"}' } }]);
    await waitFor(wasPassedThrough);
  });

  verifies('http.chat/splice-bytes', 'hands each event on before the next one is there', async () => {
    const answering = Promise.withResolvers<ServerResponse>();
    await using _ = await startManualServer((response) => answering.resolve(response));
    const pending = postCompletion('', { model: 'own/x' });
    const response = await answering.promise;
    response.write(toChunk('one'));
    const reader = (await pending).body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe(toChunk('one'));
    // An incomplete event waits for its rest.
    response.write(toChunk('two') + toChunk('three').slice(0, 20));
    expect((await reader?.read())?.value).toBe(toChunk('two'));
    response.write(toChunk('three').slice(20));
    expect((await reader?.read())?.value).toBe(toChunk('three'));
    response.end(toChunk('', 'stop'));
    expect((await reader?.read())?.value).toBe(`${toChunk('', 'stop')}data: [DONE]\n\n`);
  });
});

describe('a buffered answer', () => {
  const toCompletion = (more: object = {}): string =>
    JSON.stringify({
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model: 'x' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hé', refusal: null }, logprobs: null, finish_reason: 'stop' }],
      ...more,
    });
  const postBody = (body: string, token = bridge.token): Promise<Response> =>
    bridge.http('/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body, token });

  verifies('http.chat/splice-bytes', 'goes past the core as it is, and its usage is that of the upstream', async () => {
    const answer = ` ${toCompletion({ usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }, system_fingerprint: 'fp' })}\n`;
    await using _ = await startManualServer(
      (response) => (response.write(answer.slice(0, 50)), response.end(answer.slice(50))),
      'text/plain',
    );
    const response = await postCompletion('', { model: 'own/x', stream: false });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(response.headers.get('x-request-id')).toMatch(/./);
    expect(await response.text()).toBe(answer);
    await waitFor(wasPassedThrough);
    expect(await getUsage()).toMatchObject({
      model: 'own/x',
      principal: 'owner',
      usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 },
    });
    await waitFor(() => host.mux.streams === 0);
  });

  verifies('http.chat/thoughts-in-text', 'has its thoughts apart, also the next of a kind, streamed or not', async () => {
    const message = { role: 'assistant', content: '<think>plan</think>\n\nHello', refusal: null };
    await using _ = await startManualServer((response, request) => {
      let receivedBody = '';
      request.on('data', (data: Buffer) => (receivedBody += String(data)));
      request.on('end', () => {
        if (!JSON.parse(receivedBody).stream)
          return response.end(toCompletion({ choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }] }));
        const pieces = ['<thi', 'nk>pl', 'an</think', '>\n\nHel', 'lo'].map((piece) => toChunk(piece)).join('');
        response.end(`${pieces}${toChunk('', 'stop')}data: [DONE]\n\n`);
      });
    });
    for (let turn = 0; turn < 2; turn++) {
      const answer = await (await postCompletion('', { model: 'own/x', stream: false })).json();
      expect(answer).toMatchObject({ choices: [{ message: { content: 'Hello', reasoning_content: 'plan' } }] });
      const data = await readData(await postCompletion('', { model: 'own/x' }));
      expect(data.at(-1)).toBe('[DONE]');
      const deltas = data
        .slice(0, -1)
        .map((each) => (JSON.parse(each) as { choices: { delta: Record<string, string> }[] }).choices[0]?.delta);
      expect(deltas.map((delta) => delta?.['reasoning_content'] ?? '').join('')).toBe('plan');
      expect(deltas.map((delta) => delta?.['content'] ?? '').join('')).toBe('Hello');
    }
  });

  verifies('http.chat/thoughts-in-text', 'of a model that never starts them is detected from its second answer on', async () => {
    await using _ = await startManualServer((response) =>
      response.end(`${toChunk('plan')}${toChunk('</think>Hello')}${toChunk('', 'stop')}data: [DONE]\n\n`),
    );
    const contentAfter = async (): Promise<string> =>
      (await readData(await postCompletion('', { model: 'own/x' })))
        .slice(0, -1)
        .map((data) => getContent(data) ?? '')
        .join('');
    expect(await contentAfter()).toBe('planHello');
    await waitFor(wasPassedThrough);
    await waitFor(async () => (await contentAfter()) === 'Hello');
  });

  it('without figures is counted by an estimate', async () => {
    await using _ = await startManualServer((response) => response.end(toCompletion()));
    await (await postCompletion('', { model: 'own/x', stream: false })).text();
    expect((await getUsage()).usage).toMatchObject({ outputTokens: 1, estimated: true });
  });

  verifies('http.chat/splice-request', 'is asked for with the caller\u2019s own bytes, but for the model\u2019s name', async () => {
    const seenKeys: string[] = [];
    await using _ = await startManualServer(
      (response, request) => void text(request).then((body) => (seenKeys.push(body), response.end(toCompletion()))),
    );
    const of = (model: string): string =>
      `{ "messages" : [{"role":"user","content":"Hé \\"model\\": \\"own/x\\" 😀"}],\n "top_p": 1.0, "model"\t: ${model} , "x": {"deep": [1e2]} }`;
    expect((await postBody(of('"own\\/x"'))).status).toBe(200);
    expect(seenKeys).toEqual([of('"x"')]);
    // If the position of the name is ambiguous, the upstream request still contains the same.
    const hidden = '{"mod\\u0065l":"own/x","messages":[{"role":"user","content":"a","model":"own/x"}]}';
    expect((await postBody(hidden)).status).toBe(200);
    expect(JSON.parse(seenKeys[1] ?? '')).toEqual({ ...(JSON.parse(hidden) as object), model: 'x' });
    const large = JSON.stringify({ model: 'own/x', messages: [{ role: 'user', content: 'x'.repeat(300_000) }] });
    expect((await postBody(large)).status).toBe(200);
    expect(seenKeys[2]).toBe(large.replace('own/x', 'x'));
  });

  verifies('http/errors', 'that tells of an error, is a page, or no JSON, is explained by the core', async () => {
    for (const answer of ['{"error":{"message":"no room"}}', '<html>hi</html>', '{"choices":', '', '[]']) {
      await using _ = await startManualServer((response) => response.end(answer));
      const response = await postCompletion('', { model: 'own/x', stream: false });
      expect({ answer, status: response.status, body: await response.json() }).toMatchObject({
        status: 502,
        body: { error: { type: 'api_error' } },
      });
      expect(wasPassedThrough(), answer).toBe(false);
    }
    for (const [mode, status] of [
      ['error-401', 502],
      ['error-400', 400],
      ['unknown', 404],
    ] as const)
      expect((await postCompletion(mode, { stream: false })).status, mode).toBe(status);
  });

  it('that is large goes through the core', async () => {
    const answer = toCompletion({ system_fingerprint: 'x'.repeat(600_000) });
    await using _ = await startManualServer((response) => response.end(answer));
    expect(await (await postCompletion('', { model: 'own/x', stream: false })).text()).toBe(answer);
    expect(wasPassedThrough()).toBe(false);
  });

  it('is tried again where the upstream fails in a way that may pass', async () => {
    upstream.queue.push('hangup', 'error-500');
    const { choices } = (await (await postCompletion('normal', { stream: false })).json()) as {
      choices: { message: { content: string } }[];
    };
    expect(choices[0]?.message.content).toBe(TEXT);
    await waitFor(wasPassedThrough);
  });

  verifies('http/hang-up', 'that nobody waits for any more ends the upstream’s work', async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    await using _ = await startManualServer((response) => (response.write('{'), arrived.resolve(response)));
    const abort = new AbortController();
    const aborting = expect(postCompletion('', { model: 'own/x', stream: false }, { signal: abort.signal })).rejects.toThrow();
    const closed = once(await arrived.promise, 'close');
    abort.abort();
    await Promise.all([aborting, closed]);
    await waitFor(() => host.mux.streams === 0);
  });
});

describe('a caller', () => {
  verifies('http/hang-up', 'who leaves a spliced answer ends the upstream’s work, and what came so far is counted', async () => {
    const before = upstream.requests.length;
    const abort = new AbortController();
    const response = await postCompletion('endless', {}, { signal: abort.signal });
    const reader = response.body?.getReader();
    for (let read = 0; read < 3; read++) await reader?.read();
    abort.abort();
    const request = upstream.requests[before];
    await request?.closed;
    expect(request?.hungUp).toBe(true);
    expect((await getUsage()).usage.outputTokens).toBeGreaterThan(0);
    await waitFor(() => host.mux.streams === 0);
  });

  verifies('http.chat/splice-back-pressure', 'who does not read holds the upstream back', async () => {
    let written = 0;
    const hungUp = Promise.withResolvers<void>();
    await using _ = await startManualServer((response) => {
      const event = toChunk('x'.repeat(64 * 1024));
      const write = (): void => {
        while (!response.destroyed && written < 512 * 1024 * 1024) {
          written += event.length;
          if (!response.write(event)) return void response.once('drain', write);
        }
        response.end();
      };
      response.on('close', hungUp.resolve);
      write();
    });
    const { port, host: name } = new URL(bridge.url);
    const socket = connect(Number(port), '127.0.0.1');
    const body = JSON.stringify({ model: 'own/x', messages, stream: true });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: ${name}\r\nAuthorization: Bearer ${bridge.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'readable');
    let before = -1;
    for (let rounds = 0; rounds < 500 && before !== written; rounds++) {
      before = written;
      for (let i = 0; i < 5; i++) await readData(await postCompletion('normal'));
    }
    // The kernel's buffers of two loopback connections take some megabytes each.
    expect(written).toBeLessThan(32 * 1024 * 1024);
    socket.destroy();
    await hungUp.promise;
  });
});

describe('a host', () => {
  const goings: [string, () => void][] = [
    ['dies', () => host.die()],
    ['hands over', () => host.mux.close(CLOSE_CODES.handingOver, 'another one serves')],
  ];
  for (const [what, go] of goings)
    verifies(
      ['http.chat/splice-host', 'http.chat/receipts'],
      `that ${what} does not end active answers; the next host receives their usage`,
      async () => {
        const answering = Promise.withResolvers<ServerResponse>();
        await using _ = await startManualServer((response) => answering.resolve(response));
        const pending = postCompletion('', { model: 'own/x' });
        const response = await answering.promise;
        response.write(toChunk('one '));
        const text = (await pending).text();
        const splice = gw.forwardedCalls.at(-1);
        const hostLeft = once(bridge.bridge.hosts, 'leave');
        go();
        await hostLeft;
        response.end(`${toChunk('two')}${toChunk('', 'stop')}data: [DONE]\n\n`);
        expect(await text).toBe(`${toChunk('one ')}${toChunk('two')}${toChunk('', 'stop')}data: [DONE]\n\n`);
        expect((await gw.vault.usage.since(0)).map(({ id }) => id)).not.toContain(splice?.id);
        host = await gw.attach(bridge);
        expect(await getUsage(splice)).toMatchObject({ model: 'own/x', usage: { outputTokens: 2, estimated: true } });
      },
    );

  it('that is gone does not keep a caller from hanging up on the upstream', async () => {
    const answering = Promise.withResolvers<ServerResponse>();
    await using _ = await startManualServer((response) => answering.resolve(response));
    const abort = new AbortController();
    const pending = postCompletion('', { model: 'own/x' }, { signal: abort.signal });
    const response = await answering.promise;
    const closed = once(response, 'close');
    response.write(toChunk('one '));
    await pending;
    const hostLeft = once(bridge.bridge.hosts, 'leave');
    host.die();
    await hostLeft;
    abort.abort();
    await closed;
    host = await gw.attach(bridge);
    await getUsage();
  });

  it('that is gone when the upstream breaks off leaves an answer that is cut', async () => {
    const answering = Promise.withResolvers<ServerResponse>();
    await using _ = await startManualServer((response) => answering.resolve(response));
    const pending = postCompletion('', { model: 'own/x' });
    const response = await answering.promise;
    response.write(toChunk('one '));
    const text = (await pending).text();
    const hostLeft = once(bridge.bridge.hosts, 'leave');
    host.die();
    await hostLeft;
    response.end();
    await expect(text).rejects.toThrow();
    host = await gw.attach(bridge);
    await getUsage();
  });

  verifies('http.chat/receipts', 'that rejects a receipt gets it again, and duplicates count once', async () => {
    const keep = gw.gateway.storeReceipts;
    let tries = 0;
    gw.gateway.storeReceipts = async (receipt) => {
      await keep(receipt);
      // The record is stored, but the bridge gets an error.
      if (++tries < 3) throw new Error('the disk is full');
    };
    try {
      await readData(await postCompletion('normal'));
      await waitFor(() => tries >= 3);
    } finally {
      gw.gateway.storeReceipts = keep;
    }
    const id = gw.forwardedCalls.at(-1)?.id;
    expect((await gw.vault.usage.since(0)).filter((record) => record.id === id)).toHaveLength(1);
  });
});

verifies('http.chat/true-usage', 'a key’s spliced calls are counted by the upstream’s own figures', async () => {
  const { client } = await gw.client();
  const { key, secret } = await client.call('keys.create', { name: 'Program' });
  client.close();
  const body = JSON.stringify({ model: 'up/normal', messages, stream: true });
  const response = await bridge.http('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    token: secret,
  });
  const text = await response.text();
  expect([response.status, text.includes('total_tokens'), text.includes(TEXT.slice(0, 3))]).toEqual([200, false, true]);
  expect(upstream.requests.at(-1)?.body).toMatchObject({ stream_options: { include_usage: true } });
  const used = await getUsage();
  expect(used).toMatchObject({ principal: `key:${key.id}`, usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 } });
  expect(used.usage.estimated).toBeUndefined();
});

it('ends at once when the key that asked for it is revoked', async () => {
  const { client } = await gw.client();
  const { key, secret } = await client.call('keys.create', { name: 'Program' });
  const body = JSON.stringify({ model: 'up/endless', messages, stream: true });
  const before = upstream.requests.length;
  const response = await bridge.http('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    token: secret,
  });
  const cut = expect(response.text()).rejects.toThrow();
  await client.call('keys.revoke', { id: key.id });
  client.close();
  await cut;
  const request = upstream.requests[before];
  await request?.closed;
  expect(request?.hungUp).toBe(true);
  expect((await getUsage()).principal).toBe(`key:${key.id}`);
});

it('the provider’s key goes to the upstream, and into no log', async () => {
  await readData(await postCompletion('normal'));
  expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(bridge.lines.join('\n')).not.toContain(KEY);
});
