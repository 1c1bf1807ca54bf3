import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { systemClock } from '#shared/async/clock.ts';
import { writeEvent } from '#shared/http/messages-api.ts';
import { SseScanner, writeSse } from '#shared/http/sse.ts';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { verifies } from '../requirements.ts';
import { type BridgedGateway, createBridgedGateway } from '../support/bridged-gateway.ts';
import { readData } from '../support/test-http.ts';

// The limit of what all streams together hold, through the whole core and a real bridge, with real sockets all the way.

const MB = 1024 * 1024;
const EARLY = 'early';
const LATE = 'late';
/** A part of an event that is counted, and more than what is left. */
const LARGE_PART = `data: {"a":"${'x'.repeat(3 * MB)}`;
/** Starts of answers, by path. */
const STARTS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': writeSse(JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] })),
  '/v1/messages': [
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  ]
    .map((event) => writeEvent(event))
    .join(''),
};
const user = { role: 'user', content: 'Hi' };

/** All kinds of streams: those that the bridge passes on, and those that the core translates. */
const STREAMS: [name: string, path: string, body: (when: string) => object][] = [
  ['a chat completion', '/v1/chat/completions', (when) => ({ model: `up/${when}`, messages: [user] })],
  ['a chat completion of Anthropic’s model', '/v1/chat/completions', (when) => ({ model: `claude/${when}`, messages: [user] })],
  ['a message', '/v1/messages', (when) => ({ model: `claude/${when}`, max_tokens: 9, messages: [user] })],
  ['a message of another vendor’s model', '/v1/messages', (when) => ({ model: `up/${when}`, max_tokens: 9, messages: [user] })],
  ['a response', '/v1/responses', (when) => ({ model: `up/${when}`, input: 'Hi' })],
];

/** A server whose answers stop within a large event, first or after some text, as the model's name says. */
async function startStallingServer() {
  const server = createServer(async (request, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { model } = JSON.parse(body) as { model: string };
    const start = model === EARLY ? '' : (STARTS[new URL(request.url ?? '', 'http://up.test').pathname] ?? '');
    response.on('error', () => {});
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    if (start !== '') response.write(start);
    setImmediate(() => response.write(LARGE_PART));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Holds all but 2 MiB of what streams may hold. The buffer doubles with the last byte, so that half of it is never touched. */
function holdMemory(): SseScanner {
  const scanner = new SseScanner(Infinity);
  scanner.push(new Uint8Array(127 * MB));
  scanner.push(new Uint8Array(1));
  return scanner;
}

let upstream: Awaited<ReturnType<typeof startStallingServer>>;
let bridge: TestBridge;
let gw: BridgedGateway;
let held: SseScanner;
beforeAll(async () => {
  upstream = await startStallingServer();
  bridge = await startTestBridge();
  // Retries do not wait.
  gw = await createBridgedGateway({
    egress: true,
    clock: { ...systemClock, after: (ms, callback) => systemClock.after(ms >= 2000 ? ms : 0, callback) },
  });
  const { client } = await gw.client();
  const providers = { up: { baseUrl: upstream.url }, claude: { kind: 'anthropic' as const, baseUrl: upstream.url, apiKey: 'k' } };
  await client.call('config.patch', { patch: { workspaces: { mirror: false }, providers } });
  client.close();
  await gw.attach(bridge);
  held = holdMemory();
});
afterAll(async () => {
  held?.close();
  await bridge?.[Symbol.asyncDispose]();
  await gw?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

describe('beyond what all streams together may hold', () => {
  for (const [name, path, toBody] of STREAMS)
    verifies('providers/large-events', `${name} is a 503 before the first byte, and ends with an error after it`, async () => {
      const post = (when: string): Promise<Response> =>
        bridge.http(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...toBody(when), stream: true }),
        });
      const refused = await post(EARLY);
      expect([refused.status, refused.headers.get('content-type')]).toEqual([503, expect.stringContaining('application/json')]);
      expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('too many large responses') } });
      const broken = await post(LATE);
      expect(broken.status).toBe(200);
      const data = (await readData(broken)).filter((each) => each !== '[DONE]');
      expect(data.join('\n')).toContain('Hello');
      expect(data.at(-1)).toContain('too many large responses');
      // Bytes that were read no longer count.
      const small = new SseScanner();
      expect(small.push(new Uint8Array(1.5 * MB))).toEqual([]);
      small.close();
    });
});
