import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import type { Stream } from '#shared/link/stream.ts';
import { awaitClose } from './tests/raw-socket.ts';
import { startTestBridge } from './tests/test-bridge.ts';
import { TestSocketClient } from './tests/test-client.ts';

const encoder = new TextEncoder();

/** A body that the test writes. `left` resolves when its reader is gone. */
function openBody(): { body: ReadableStream<Uint8Array>; write(text: string): void; end(): void; fail(): void; left: Promise<void> } {
  const left = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (streamController) => void (controller = streamController),
    cancel: () => left.resolve(),
  });
  return {
    body,
    write: (part) => controller.enqueue(encoder.encode(part)),
    end: () => controller.close(),
    fail: () => controller.error(new Error('broke')),
    left: left.promise,
  };
}

describe('/v1', () => {
  verifies(
    ['http/bearer', 'http/unauthorized'],
    'no token, a wrong one, or one in another place: 401, and the host hears nothing',
    async () => {
      await using gateway = await startTestBridge();
      const host = await gateway.attach();
      const { token } = gateway;
      const tries: [path: string, headers: Record<string, string>][] = [
        ['/v1/models', {}],
        ['/v1/models', { authorization: 'Bearer wrong' }],
        ['/v1/models', { authorization: 'Bearer' }],
        ['/v1/models', { authorization: token }],
        ['/v1/models', { authorization: `Basic ${btoa(`:${token}`)}` }],
        ['/v1/models', { authorization: `Bearer ${token}x` }],
        ['/v1/models', { authorization: `Bearer ${token.slice(0, -1)}` }],
        ['/v1/models', { cookie: `token=${token}` }],
        [`/v1/models?token=${token}`, {}],
        ['/v1/no-such-thing', {}],
      ];
      for (const [path, headers] of tries) {
        const answer = await gateway.http(path, { token: null, headers });
        expect([answer.status, answer.headers.get('www-authenticate')], JSON.stringify(headers)).toEqual([401, 'Bearer']);
        expect(await answer.json()).toEqual({
          error: { message: expect.any(String), type: 'unauthorized', param: null, code: 'unauthorized' },
        });
      }
      expect(host.openings).toEqual([]);
      for (const scheme of ['Bearer', 'bearer']) {
        expect((await gateway.http('/v1/models', { token: null, headers: { authorization: `${scheme} ${token}` } })).status).toBe(200);
      }
    },
  );

  it('goes to the host with its method, path and the headers that matter, and no others', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const answer = await gateway.http('/v1/chat/completions?a=1&b=%20', {
      method: 'PATCH',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'x-perch-session': 's1',
        'x-request-id': 'r1',
        'user-agent': 'ua',
        cookie: 'c=1',
      },
      body: '{"a":"é"}',
    });
    expect([answer.status, answer.headers.get('x-perch-test'), answer.headers.get('x-content-type-options')]).toEqual([
      200,
      'echo',
      'nosniff',
    ]);
    expect(await answer.json()).toEqual({
      opening: {
        kind: 'http',
        principal: 'owner',
        scopes: ['read', 'write', 'admin'],
        origin: null,
        headers: {
          ':method': 'PATCH',
          ':path': '/v1/chat/completions?a=1&b=%20',
          'content-type': 'application/json',
          accept: 'text/event-stream',
          'user-agent': 'ua',
          'x-perch-head': '0',
          'x-perch-session': 's1',
          'x-request-id': 'r1',
        },
      },
      body: '{"a":"é"}',
      contentType: 'application/json',
    });
  });

  verifies('http/request-id', 'of the bridge itself and of the host, the caller’s own or a new one', async () => {
    await using gateway = await startTestBridge({ timing: { hostWaitMs: 20 } });
    const idOf = async (
      path: string,
      id?: string,
      more: RequestInit & { token?: string | null } = {},
    ): Promise<[number, string | null]> => {
      const answer = await gateway.http(path, {
        ...more,
        headers: { ...more.headers, ...(id === undefined ? {} : { 'x-request-id': id }) },
      });
      return [answer.status, answer.headers.get('x-request-id')];
    };
    expect(await idOf('/v1/models', 'r-1', { token: null })).toEqual([401, 'r-1']);
    expect(await idOf('/v1/models', 'r-2')).toEqual([503, 'r-2']);
    expect(await idOf('/v1', 'r-3', { headers: { origin: 'http://evil.test' } })).toEqual([403, 'r-3']);
    expect(await idOf('/v1/models')).toEqual([503, expect.stringMatching(/^req_[0-9a-f]{32}$/)]);
    const host = await gateway.attach();
    expect(await idOf('/v1/models?x=1', 'r:4.a')).toEqual([200, 'r:4.a']);
    for (const odd of ['with space', 'x'.repeat(129), '<b>']) expect((await idOf('/v1/models', odd))[1], odd).toMatch(/^req_/);
    const requestIds = host.openings.map((opening) => ('headers' in opening ? opening.headers['x-request-id'] : undefined));
    expect([requestIds[0], ...requestIds.slice(1).map((id) => id?.slice(0, 4))]).toEqual(['r:4.a', 'req_', 'req_', 'req_']);
    expect((await gateway.http('/health')).headers.get('x-request-id')).toBeNull();
  });

  it('leaves odd content types, and statuses without a body, to the host', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach({
      http: async (request) =>
        new Response(request.method === 'DELETE' ? null : await request.arrayBuffer(), { status: request.method === 'DELETE' ? 204 : 201 }),
    });
    const odd = await gateway.http('/v1/files', {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: new Uint8Array([0, 255, 1]),
    });
    expect([odd.status, new Uint8Array(await odd.arrayBuffer())]).toEqual([201, new Uint8Array([0, 255, 1])]);
    expect((await gateway.http('/v1/responses/1', { method: 'DELETE' })).status).toBe(204);
    expect((await gateway.http('/v1/models', { method: 'HEAD' })).status).toBe(201);
  });

  it('streams: each part arrives when it was written, before the next one is', async () => {
    await using gateway = await startTestBridge();
    const upstream = openBody();
    await gateway.attach({ http: async () => new Response(upstream.body, { headers: { 'content-type': 'text/event-stream' } }) });
    const answer = await gateway.http('/v1/chat/completions', { method: 'POST', body: '{}' });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (const part of ['data: 1\n\n', 'data: 2\n\n', 'data: [DONE]\n\n']) {
      upstream.write(part);
      expect((await reader?.read())?.value).toBe(part);
    }
    upstream.end();
    expect((await reader?.read())?.done).toBe(true);
  });

  it('tells the host when the caller hangs up, before and after the answer began', async () => {
    await using gateway = await startTestBridge();
    const upstream = openBody();
    const received = Promise.withResolvers<Request>();
    await gateway.attach({
      http: async (request) => {
        if (request.url.endsWith('/streamed')) return new Response(upstream.body);
        received.resolve(request);
        return new Promise<Response>(() => {});
      },
    });
    const early = new AbortController();
    const pending = gateway.http('/v1/silent', { signal: early.signal });
    const { signal } = await received.promise;
    const aborted = once(signal, 'abort');
    early.abort();
    await expect(pending).rejects.toThrow();
    await aborted;
    const late = new AbortController();
    const answer = await gateway.http('/v1/streamed', { signal: late.signal });
    expect(answer.status).toBe(200);
    late.abort();
    await upstream.left;
  });

  it('cuts the answer when the host fails midway, so that it cannot pass for a whole one', async () => {
    await using gateway = await startTestBridge();
    const upstream = openBody();
    await gateway.attach({ http: async () => new Response(upstream.body) });
    const answer = await gateway.http('/v1/x');
    upstream.write('half');
    const reader = answer.body?.getReader();
    await reader?.read();
    upstream.fail();
    await expect(reader?.read()).rejects.toThrow();
  });

  it('returns 500 if the host’s handler fails, 503 if the host disconnects', async () => {
    await using gateway = await startTestBridge();
    const received = Promise.withResolvers<void>();
    const host = await gateway.attach({
      http: async (request) => {
        if (request.url.endsWith('/fail')) throw new Error('a secret detail');
        received.resolve();
        return new Promise<Response>(() => {});
      },
    });
    const failed = await gateway.http('/v1/fail');
    expect([failed.status, await failed.json()]).toEqual([
      500,
      { error: { message: expect.stringContaining('failed to respond'), type: 'api_error', param: null, code: 'api_error' } },
    ]);
    const waiting = gateway.http('/v1/wait');
    await received.promise;
    host.die();
    const cut = await waiting;
    expect([cut.status, cut.headers.get('retry-after'), ((await cut.json()) as { error: { type: string } }).error.type]).toEqual([
      503,
      '1',
      'unavailable',
    ]);
  });

  it.each<[string, (stream: Stream) => void]>([
    ['no answer', (stream) => stream.end()],
    ['a body without a head', (stream) => stream.send(new Uint8Array(10), { fin: false, bulk: true })],
    ['a head that is no JSON', (stream) => stream.send('{')],
    ['a head without a status', (stream) => stream.send('{"headers":{}}')],
    ['a status that HTTP does not have', (stream) => stream.send('{"status":99,"headers":{}}')],
    ['a header that HTTP cannot carry', (stream) => stream.send('{"status":200,"headers":{"x":"a\\r\\nset-cookie: b"}}')],
    ['a header name that HTTP cannot carry', (stream) => stream.send('{"status":200,"headers":{"x y":"z"}}')],
    ['an endless head', (stream) => stream.send(`{"status":200,"headers":{"x":"${'y'.repeat(300_000)}"}}`)],
  ])('returns 502 if the host sends %s, and continues with other requests', async (_name, answer) => {
    await using gateway = await startTestBridge();
    await gateway.attach({
      rawHttp(stream) {
        stream.receive({ data: () => {}, end: () => {}, reset: () => {} });
        answer(stream);
      },
    });
    const client = await TestSocketClient.connect(gateway.url, gateway.token);
    const failed = await gateway.http('/v1/x');
    expect([failed.status, await failed.json()]).toEqual([
      502,
      { error: { message: expect.any(String), type: 'api_error', param: null, code: 'api_error' } },
    ]);
    expect(await client.call('echo', { a: 1 })).toMatchObject({ payload: { a: 1 } });
  });

  it('without a host: 503 at once; with a starting one: waits for it', async () => {
    await using gateway = await startTestBridge();
    const none = await gateway.http('/v1/models');
    expect([none.status, none.headers.get('retry-after'), await none.json()]).toEqual([
      503,
      '2',
      { error: { message: expect.stringContaining('No gateway'), type: 'unavailable', param: null, code: 'unavailable' } },
    ]);
    gateway.bridge.hosts.expectHost(10_000);
    const waiting = gateway.http('/v1/models');
    await expect.poll(() => gateway.bridge.hosts.waiting).toBe(1);
    await gateway.attach();
    expect((await waiting).status).toBe(200);
  });

  it('takes 20 MB, refuses more with 413, by its length or as it comes, and serves the next request', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach({ http: async (request) => new Response(String((await request.arrayBuffer()).byteLength)) });
    const limit = 20 * 1024 * 1024;
    const post = (body: Uint8Array<ArrayBuffer> | ReadableStream): Promise<Response> =>
      gateway.http('/v1/x', { method: 'POST', body, duplex: 'half' } as RequestInit);
    const complete = await post(new Uint8Array(limit));
    expect([complete.status, await complete.text()]).toEqual([200, String(limit)]);
    expect((await post(new Uint8Array(limit + 1))).status).toBe(413);
    // A body with a declared length never reaches the host.
    expect(host.openings).toHaveLength(1);
    const chunks = Array.from({ length: 21 }, () => new Uint8Array(1024 * 1024)).values();
    const chunked = new ReadableStream({
      pull: (controller) => {
        const { done, value } = chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    const refused = await post(chunked);
    expect([refused.status, await refused.json()]).toEqual([
      413,
      { error: { message: 'Request bodies are limited to 20 MB', type: 'invalid_request_error', param: null, code: null } },
    ]);
    expect((await post(new Uint8Array(5))).status).toBe(200);
  });

  verifies('http.media/bad-forms', 'takes 32 MB as a form', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach({ http: async (request) => new Response(String((await request.arrayBuffer()).byteLength)) });
    const limit = 32 * 1024 * 1024;
    const post = (bytes: number): Promise<Response> =>
      gateway.http('/v1/x', {
        method: 'POST',
        body: new Uint8Array(bytes),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      });
    expect(await (await post(limit)).text()).toBe(String(limit));
    const refused = await post(limit + 1);
    expect([refused.status, await refused.json()]).toMatchObject([413, { error: { message: 'Request bodies are limited to 32 MB' } }]);
  });

  it('rejects a compressed body, and accepts one declared as identity', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach({ http: async (request) => new Response(await request.text()) });
    const post = (encoding: string): Promise<Response> =>
      gateway.http('/v1/x', { method: 'POST', body: '{}', headers: { 'content-encoding': encoding } });
    const refused = await post('gzip');
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('Content-Encoding') } },
    ]);
    expect(await (await post('identity')).text()).toBe('{}');
    expect(host.openings).toHaveLength(1);
  });

  it('lets an answer come before the request is read, and is free again after it', async () => {
    await using gateway = await startTestBridge();
    const host = await gateway.attach({ http: async () => new Response('no thanks', { status: 400 }) });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => gateway.http('/v1/x', { method: 'POST', body: new Uint8Array(8 * 1024 * 1024) })),
    );
    expect(await Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]))).toEqual(
      Array(5).fill([400, 'no thanks']),
    );
    await expect.poll(() => host.mux.streams).toBe(0);
  });

  verifies('bridge/stalled-reader', 'a fast host is held back when an HTTP caller does not read, and others are served', async () => {
    await using gateway = await startTestBridge();
    let produced = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        produced += 64 * 1024;
        if (produced > 256 * 1024 * 1024) controller.close();
        else controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    await gateway.attach({ http: async (request) => (request.url.endsWith('/flood') ? new Response(body) : new Response('quick')) });
    const { port, host } = new URL(gateway.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET /v1/flood HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${gateway.token}\r\n\r\n`);
    await once(socket, 'readable');
    let before = -1;
    for (let rounds = 0; rounds < 500 && before !== produced; rounds++) {
      before = produced;
      for (let i = 0; i < 10; i++) expect(await (await gateway.http('/v1/quick')).text()).toBe('quick');
    }
    // The kernel buffers some megabytes of a loopback connection.
    expect(produced).toBeLessThan(32 * 1024 * 1024);
    socket.destroy();
  });

  verifies('http/errors', 'returns 400 to invalid HTTP, but not within a response that has begun', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach({ http: async () => new Response(new ReadableStream({ start: (c) => c.enqueue(encoder.encode('begun')) })) });
    const { port, host: name } = new URL(gateway.url);
    const head = `Host: ${name}\r\nAuthorization: Bearer ${gateway.token}\r\n`;
    const tries: [status: number, sent: string][] = [
      [400, `POST /v1/models HTTP/1.1\r\n${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
      [400, `POST /v1/models HTTP/1.1\r\n${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345`],
      [400, `GET /v1/mod\u0001ls HTTP/1.1\r\n${head}\r\n`],
      [400, `GET /v1/models HTTP/1.1\r\nAuthorization: Bearer ${gateway.token}\r\n\r\n`],
      [431, `GET /v1/models HTTP/1.1\r\n${head}X-A: ${'a'.repeat(40_000)}\r\n\r\n`],
    ];
    for (const [status, sent] of tries) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(sent);
      const [first, body = ''] = (await text(socket)).split('\r\n\r\n');
      expect(first).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(JSON.parse(body)).toEqual({
        error: { message: expect.any(String) as string, type: 'invalid_request_error', param: null, code: null },
      });
    }
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST /v1/models HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n`);
    let read = '';
    while (!read.includes('begun')) read += String((await once(socket, 'data'))[0]);
    socket.write('zz\r\n');
    socket.on('data', (part) => (read += String(part)));
    await awaitClose(socket);
    expect(read.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('serves who expects what is not known', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const { port, host } = new URL(gateway.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `GET /v1/models HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${gateway.token}\r\nConnection: close\r\nExpect: bananas\r\n\r\n`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('hears h2c offered, and answers in HTTP/1.1', async () => {
    await using gateway = await startTestBridge();
    await gateway.attach();
    const { port, host } = new URL(gateway.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `GET /v1/models HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${gateway.token}\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
