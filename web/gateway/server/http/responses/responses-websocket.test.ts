import { once } from 'node:events';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { MAX_BODY_BYTES } from '#shared/http/body-limits.ts';
import { startTestBridge, type TestBridge } from '../../../../../bridge/server/tests/test-bridge.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { type BridgedGateway, createBridgedGateway } from '../../../../../tests/support/bridged-gateway.ts';
import { type ModelScript, createScript, waitFor } from '../../../../../tests/support/test-gateway.ts';
import { responseEvent } from '../../../../../tests/support/openai-shapes/event-shapes.ts';

// WebSockets at `/v1/responses` through the whole core and a real bridge.

interface ServerEvent extends Record<string, unknown> {
  type: string;
  response?: { id: string; status: string; store: boolean; output: { content?: { text: string }[] }[] };
  error?: { code: string | null; message: string; param: string | null; type: string; headers?: Record<string, string> };
}

let model: ModelScript;
let bridge: TestBridge;
let gw: BridgedGateway;
beforeAll(async () => {
  bridge = await startTestBridge();
  gw = await createBridgedGateway({ model: (call, count) => model(call, count) });
  await gw.attach(bridge);
});
afterAll(async () => {
  await bridge?.[Symbol.asyncDispose]();
  await gw?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  model = createScript(['Hel', 'lo']);
  gw.calls.length = 0;
});

const ENDS = new Set(['response.completed', 'response.failed', 'response.incomplete', 'error']);

/** A client whose messages are read one turn at a time. */
class SocketClient implements AsyncDisposable {
  readonly socket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly events: ServerEvent[] = [];
  #read = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.events.push(JSON.parse((data as Buffer).toString()) as ServerEvent));
    this.closed = once(socket, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }));
  }

  static async open(token = bridge.token): Promise<SocketClient> {
    const url = `${bridge.url.replace('http', 'ws')}/v1/responses`;
    const client = new SocketClient(new WebSocket(url, { headers: { authorization: `Bearer ${token}` } }));
    await once(client.socket, 'open');
    return client;
  }

  create(body: object): void {
    this.socket.send(JSON.stringify({ type: 'response.create', model: 'test/scripted', ...body }));
  }

  /** Events up to the next end of a turn. */
  async turn(): Promise<ServerEvent[]> {
    const from = this.#read;
    await waitFor(() => this.events.slice(from).some(({ type }) => ENDS.has(type)), 'the end of a turn');
    this.#read = this.events.findIndex(({ type }, index) => index >= from && ENDS.has(type)) + 1;
    return this.events.slice(from, this.#read);
  }

  async ask(body: object): Promise<ServerEvent> {
    this.create(body);
    return (await this.turn()).at(-1) ?? { type: 'none' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}

const idOf = ({ response }: ServerEvent): string => response?.id ?? '';
const asked = (): unknown[] => gw.calls.at(-1)?.body.messages.map(({ role, content }) => [role, content]) ?? [];

/** An event without what differs between two answers: ids, times, and tokens of the context block that has the time. */
const withoutIds = (event: unknown): unknown => {
  const text = JSON.stringify(event).replaceAll(/[0-9a-f]{48}/g, 'ID');
  return JSON.parse(text.replaceAll(/"(created_at|completed_at|input_tokens|total_tokens)":\d+/g, '"$1":0'));
};

describe('a turn', () => {
  it.each([['test/scripted'], ['perch/main']])('%s: has the events that HTTP streams', async (name) => {
    await using client = await SocketClient.open();
    client.create({ model: name, input: 'Hi' });
    const events = await client.turn();
    const http = await bridge.http('/v1/responses', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: name, input: 'Hi', stream: true }),
    });
    const streamed = [...(await http.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => withoutIds(JSON.parse(data ?? '')));
    expect(events.map(withoutIds)).toEqual(streamed);
    for (const event of events) responseEvent.parse(event);
    expect(events.at(-1)?.response?.output[0]?.content?.[0]?.text).toBe('Hello');
  });

  verifies('http.responses/websocket', 'waits for the one before it, and is named as its client asks', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    model = (_call, count) => (count === 1 ? ['one', { wait: promise }] : ['two']);
    await using client = await SocketClient.open();
    client.create({ input: 'One', stream_id: 'a' });
    client.create({ input: 'Two', stream_id: 'b"' });
    client.socket.send('{');
    await waitFor(() => client.events.some(({ type }) => type === 'response.output_text.delta'));
    expect(gw.calls).toHaveLength(1);
    resolve();
    const [one, two, bad] = [await client.turn(), await client.turn(), await client.turn()];
    expect(new Set(one.map(({ stream_id }) => stream_id))).toEqual(new Set(['a']));
    expect(new Set(two.map(({ stream_id }) => stream_id))).toEqual(new Set(['b"']));
    expect([one.at(-1), two.at(-1), bad.at(-1)].map((event) => event?.type)).toEqual(['response.completed', 'response.completed', 'error']);
  });

  verifies('http.responses/websocket', 'ends with the connection', async () => {
    model = createScript(['one', { wait: new Promise(() => {}) }]);
    const client = await SocketClient.open();
    client.create({ input: 'One' });
    client.create({ input: 'Never' });
    await waitFor(() => client.events.some(({ type }) => type === 'response.output_text.delta'));
    client.socket.terminate();
    await waitFor(() => gw.calls[0]?.signal.aborted === true, 'the call to be aborted');
    await using next = await SocketClient.open();
    model = createScript(['two']);
    expect(await next.ask({ input: 'Two' })).toMatchObject({ type: 'response.completed' });
    expect(gw.calls).toHaveLength(2);
    expect(gw.faults).toEqual([]);
  });
});

describe('the state of a connection', () => {
  verifies('http.responses/websocket-state', 'continues what is not stored, and is not seen by others', async () => {
    await using client = await SocketClient.open();
    await using other = await SocketClient.open();
    const first = await client.ask({ input: 'One', store: false });
    expect(first.response).toMatchObject({ store: false });
    const second = await client.ask({ input: 'Two', store: false, previous_response_id: idOf(first) });
    await client.ask({ input: 'Three', previous_response_id: idOf(second) });
    expect(asked()).toEqual([
      ['user', 'One'],
      ['assistant', 'Hello'],
      ['user', 'Two'],
      ['assistant', 'Hello'],
      ['user', 'Three'],
    ]);
    const refused = await other.ask({ input: 'Two', previous_response_id: idOf(first) });
    expect(refused).toMatchObject({
      type: 'error',
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
    expect((await bridge.http(`/v1/responses/${idOf(first)}`)).status).toBe(404);
  });

  verifies('http.responses/websocket-state', 'continues what is stored, made over HTTP too', async () => {
    await using client = await SocketClient.open();
    const first = await client.ask({ input: 'One' });
    await using other = await SocketClient.open();
    expect(await other.ask({ input: 'Two', previous_response_id: idOf(first) })).toMatchObject({ type: 'response.completed' });
    expect(asked()).toEqual([
      ['user', 'One'],
      ['assistant', 'Hello'],
      ['user', 'Two'],
    ]);
  });

  verifies('http.responses/websocket-state', 'is dropped by a turn that failed', async () => {
    await using client = await SocketClient.open();
    const first = await client.ask({ input: 'One', store: false });
    expect(await client.ask({ input: 'Two', temperature: 9, previous_response_id: idOf(first) })).toMatchObject({
      error: { param: 'temperature' },
    });
    expect(await client.ask({ input: 'Two', previous_response_id: idOf(first) })).toMatchObject({
      error: { code: 'previous_response_not_found' },
    });
    const again = await client.ask({ input: 'One', store: false });
    model = createScript(['half', { cut: true }]);
    expect(await client.ask({ input: 'Two', previous_response_id: idOf(again) })).toMatchObject({ type: 'response.failed' });
    expect(await client.ask({ input: 'Two', previous_response_id: idOf(again) })).toMatchObject({ type: 'error' });
  });

  verifies('http.responses/websocket-state', 'is warmed up without the model', async () => {
    await using client = await SocketClient.open();
    client.create({ input: 'One', generate: false, store: false });
    const events = await client.turn();
    expect(events.map(({ type }) => type)).toEqual(['response.created', 'response.in_progress', 'response.completed']);
    expect(events.at(-1)?.response).toMatchObject({ status: 'completed', output: [], usage: { total_tokens: 0 } });
    expect(gw.calls).toEqual([]);
    expect(await client.ask({ input: [], previous_response_id: idOf(events[0] ?? { type: '' }) })).toMatchObject({
      type: 'response.completed',
    });
    expect(asked()).toEqual([['user', 'One']]);
    // Codex CLI sends its instructions first.
    const developer = await client.ask({ input: [{ role: 'developer', content: 'Be brief' }], generate: false, store: false });
    expect(developer).toMatchObject({ type: 'response.completed' });
    await client.ask({ input: 'Two', previous_response_id: idOf(developer) });
    expect(asked()).toEqual([
      ['system', 'Be brief'],
      ['user', 'Two'],
    ]);
    expect(await client.ask({ model: 'nobody/none', input: 'One', generate: false })).toMatchObject({ type: 'error', status: 404 });
  });
});

describe('bad input', () => {
  const bad: [name: string, text: string, status: number, param: string | null][] = [
    ['no JSON', 'Hi', 400, null],
    ['nothing', '', 400, null],
    ['no object', '[]', 400, null],
    ['null', 'null', 400, null],
    ['no type', '{}', 400, 'type'],
    ['a type that is no text', '{"type":1}', 400, 'type'],
    ['another event', '{"type":"response.steer"}', 400, 'type'],
    ['no model', '{"type":"response.create","input":"Hi"}', 400, 'model'],
    ['no input', '{"type":"response.create","model":"test/scripted"}', 400, 'input'],
    ['an unknown model', '{"type":"response.create","model":"no/model","input":"Hi"}', 404, 'model'],
    ['a response in the background', '{"type":"response.create","model":"main","input":"Hi","background":true}', 400, 'background'],
    ['a name that is no text', '{"type":"response.create","model":"main","input":"Hi","stream_id":1}', 400, 'stream_id'],
    ['deep nesting', `{"type":"response.create","model":"main","input":${'['.repeat(5000)}${']'.repeat(5000)}}`, 400, null],
    ['too many parts', `{"type":"response.create","model":"main","input":[${'{},'.repeat(500_000)}{}]}`, 413, null],
  ];
  it.each(bad)('%s is an error event, and the next turn is answered', async (_name, text, status, param) => {
    await using client = await SocketClient.open();
    client.socket.send(text);
    const [error] = await client.turn();
    expect(error).toMatchObject({ type: 'error', status, error: { message: expect.stringMatching(/\.$/), param } });
    expect(await client.ask({ input: 'Hi' })).toMatchObject({ type: 'response.completed' });
    expect(gw.faults).toEqual([]);
  });

  verifies('http.responses/websocket-bad-input', 'JSON in binary messages is read; other bytes close the connection', async () => {
    const client = await SocketClient.open();
    client.socket.send(Buffer.from(JSON.stringify({ type: 'response.create', model: 'test/scripted', input: 'Hi' })));
    expect((await client.turn()).at(-1)).toMatchObject({ type: 'response.completed' });
    client.socket.send(Buffer.from([0xff, 0xfe]));
    expect(await client.closed).toMatchObject({ code: 1007 });
  });

  verifies('http.responses/websocket-bad-input', 'a message over the limit closes the connection', async () => {
    const client = await SocketClient.open();
    client.create({ input: 'x'.repeat(MAX_BODY_BYTES) });
    expect(await client.closed).toMatchObject({ code: 1009 });
    expect(gw.calls).toEqual([]);
  });

  verifies('http.responses/websocket-bad-input', 'more than 16 waiting requests are refused', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    model = (_call, count) => (count === 1 ? [{ wait: promise }, 'one'] : ['more']);
    await using client = await SocketClient.open();
    for (let i = 0; i < 18; i++) client.create({ input: String(i) });
    const [refused] = await client.turn();
    expect(refused).toMatchObject({ type: 'error', status: 429, error: { type: 'rate_limited' } });
    resolve();
    for (let i = 0; i < 17; i++) expect((await client.turn()).at(-1)).toMatchObject({ type: 'response.completed' });
    expect(gw.calls).toHaveLength(17);
  });
});

describe('admission', () => {
  const answerOf = async (headers: Record<string, string>): Promise<number> => {
    const socket = new WebSocket(`${bridge.url.replace('http', 'ws')}/v1/responses`, { headers });
    socket.on('error', () => {});
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number; resume(): void }];
    answer.resume();
    return answer.statusCode;
  };

  verifies('http.responses/websocket-admission', 'needs the right Host, Origin and credential', async () => {
    const authorization = `Bearer ${bridge.token}`;
    expect(await answerOf({})).toBe(401);
    expect(await answerOf({ authorization: 'Bearer wrong' })).toBe(401);
    expect(await answerOf({ authorization, host: 'evil.example' })).toBe(403);
    expect(await answerOf({ authorization, origin: 'https://evil.example' })).toBe(403);
  });

  verifies(
    'http.responses/websocket-admission',
    'a key needs the scope v1, counts, and ends the connection when it is revoked',
    async () => {
      const { client: owner } = await gw.client();
      const made = await owner.call('keys.create', { name: 'Script', scopes: ['v1'], limits: { requestsPerMinute: 1 } });
      const other = await owner.call('keys.create', { name: 'Other', scopes: ['chat'] });
      await waitFor(async () => (await bridge.http('/v1/models', { token: made.secret })).status === 200, 'the bridge to know the key');
      expect(await answerOf({ authorization: `Bearer ${other.secret}` })).toBe(403);
      const client = await SocketClient.open(made.secret);
      expect(await client.ask({ input: 'Hi' })).toMatchObject({ type: 'response.completed' });
      const limited = await client.ask({ input: 'Hi' });
      expect(limited).toMatchObject({ type: 'error', status: 429, error: { headers: { 'retry-after': expect.any(String) } } });
      await owner.call('keys.revoke', { id: made.key.id });
      expect(await client.closed).toEqual({ code: 1008, reason: 'access was revoked' });
      owner.close();
    },
  );

  verifies('http.responses/websocket-admission', 'another host takes the next connection', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    model = createScript([{ wait: promise }, 'done']);
    const busy = await SocketClient.open();
    const idle = await SocketClient.open();
    busy.create({ input: 'Hi' });
    await waitFor(() => gw.calls.length === 1);
    gw.gateway.handOver();
    expect(await idle.closed).toMatchObject({ code: 1012 });
    resolve();
    expect((await busy.turn()).at(-1)).toMatchObject({ type: 'response.completed' });
    expect(await busy.closed).toMatchObject({ code: 1012 });
    gw.gateway.resume();
    await using next = await SocketClient.open();
    expect(await next.ask({ input: 'Hi' })).toMatchObject({ type: 'response.completed' });
  });
});

describe('the openai package', () => {
  verifies('http.responses/websocket', 'holds a conversation over its own WebSocket client', async () => {
    const openai = new OpenAI({ baseURL: `${bridge.url}/v1`, apiKey: bridge.token });
    const socket = new ResponsesWS(openai);
    const errors: string[] = [];
    socket.on('error', ({ message }) => errors.push(message));
    let text = '';
    socket.on('response.output_text.delta', ({ delta }) => (text += delta));
    const completed = (): Promise<OpenAI.Responses.ResponseCompletedEvent> =>
      new Promise((resolve) => socket.once('response.completed', resolve));
    const first = completed();
    socket.send({ type: 'response.create', model: 'test/scripted', input: 'One', store: false });
    const { response } = await first;
    const second = completed();
    socket.send({ type: 'response.create', model: 'test/scripted', input: 'Two', store: false, previous_response_id: response.id });
    expect((await second).response.previous_response_id).toBe(response.id);
    expect(text).toBe('HelloHello');
    expect(asked()).toEqual([
      ['user', 'One'],
      ['assistant', 'Hello'],
      ['user', 'Two'],
    ]);
    expect(errors).toEqual([]);
    socket.send({ type: 'response.create', model: 'no/model', input: 'Hi' });
    await waitFor(() => errors.length > 0);
    expect(errors).toEqual([expect.stringContaining('no/model')]);
    socket.close();
  });
});
