import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { MUX_VERSION, PORTS_VERSION, SCHEMA_VERSION } from '#shared/link/hello.ts';
import { fetchOverStream } from '#shared/link/stream-http.ts';
import { memoryPair } from '#shared/link/link.ts';
import { Mux } from '#shared/link/mux.ts';
import { checkEgressUrl } from '../capabilities/egress-guard.ts';
import { serveEgress } from './egress.ts';

/** A host's multiplexer whose requests use the egress capability. */
function hostMux(): Mux {
  const [near, far] = memoryPair<Uint8Array>();
  const hello = { muxVersion: MUX_VERSION, portsVersion: PORTS_VERSION, schemaVersion: SCHEMA_VERSION, build: 'test', capabilities: [] };
  new Mux(far, { side: 'acceptor', hello, onstream: (stream, opening) => serveEgress(stream, opening, 'test') });
  return new Mux(near, { side: 'dialer', hello, onstream: () => {} });
}

interface RequestParams {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

const sendRequest = (
  url: string,
  { method = 'GET', headers = {}, body, signal = AbortSignal.timeout(15_000) }: RequestParams = {},
): Promise<Response> =>
  fetchOverStream(
    hostMux(),
    { kind: 'egress', headers: { ':method': method, ':url': url, ...headers } },
    { signal, ...(body === undefined ? {} : { body }) },
  );

async function startUpstream(listener: RequestListener): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('egress', () => {
  it('sends method, headers and body whole, and brings status, headers and body back', async () => {
    let received: IncomingMessage | undefined;
    await using server = await startUpstream(async (request, response) => {
      received = request;
      response
        .writeHead(207, { 'content-type': 'text/plain', 'x-own': 'yes', 'set-cookie': 'c=1', 'keep-alive': 'timeout=5' })
        .end(`got ${await text(request)}`);
    });
    const answer = await sendRequest(`${server.url}/v1/chat?x=1`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer k',
        'content-type': 'application/json',
        cookie: 'c=1',
        host: 'evil.example',
        connection: 'x-own',
        te: 'trailers',
      },
      body: '{"é":1}',
    });
    expect([answer.status, await answer.text()]).toEqual([207, 'got {"é":1}']);
    expect([answer.headers.get('x-own'), answer.headers.get('set-cookie'), answer.headers.get('keep-alive')]).toEqual(['yes', null, null]);
    expect([received?.method, received?.url]).toEqual(['POST', '/v1/chat?x=1']);
    expect(received?.headers).toMatchObject({
      authorization: 'Bearer k',
      'content-type': 'application/json',
      'content-length': '8',
      host: new URL(server.url).host,
    });
    expect(received?.headers).not.toHaveProperty('cookie');
    expect(received?.headers).not.toHaveProperty('transfer-encoding');
  });

  verifies('egress/resolved', 'a name of this machine is asked', async () => {
    await using server = await startUpstream((_, response) => response.end('here'));
    const answer = await sendRequest(server.url.replace('127.0.0.1', 'localhost'));
    expect(await answer.text()).toBe('here');
  });

  it('decodes a compressed answer, and does not claim its length', async () => {
    const body = gzipSync('hello '.repeat(1000));
    await using server = await startUpstream((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.byteLength }).end(body),
    );
    const answer = await sendRequest(server.url);
    expect(await answer.text()).toBe('hello '.repeat(1000));
    expect([answer.headers.get('content-encoding'), answer.headers.get('content-length')]).toEqual([null, null]);
  });

  it('streams: parts come as they are sent', async () => {
    const parts = Promise.withResolvers<(part: string) => void>();
    await using server = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      parts.resolve((part) => void response.write(part));
    });
    const answer = await sendRequest(server.url);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const write = await parts.promise;
    for (const part of ['data: 1\n\n', 'data: 2\n\n']) {
      write(part);
      expect((await reader?.read())?.value).toBe(part);
    }
    await reader?.cancel();
  });

  it('hangs up at the server when the host does, before the answer and within it', async () => {
    const closed = { silent: Promise.withResolvers<void>(), streamed: Promise.withResolvers<void>() };
    const arrived = Promise.withResolvers<void>();
    await using server = await startUpstream((request, response) => {
      response.on('close', closed[request.url === '/silent' ? 'silent' : 'streamed'].resolve);
      if (request.url === '/silent') return arrived.resolve();
      response.writeHead(200).write('x');
    });
    const early = new AbortController();
    const pending = sendRequest(`${server.url}/silent`, { signal: early.signal });
    await arrived.promise;
    early.abort();
    await expect(pending).rejects.toThrow();
    await closed.silent.promise;
    const late = new AbortController();
    expect((await sendRequest(`${server.url}/streamed`, { signal: late.signal })).status).toBe(200);
    late.abort();
    await closed.streamed.promise;
  });

  it('does not follow redirects', async () => {
    await using server = await startUpstream((_request, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    const answer = await sendRequest(server.url);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'http://169.254.169.254/']);
  });

  it('reports which host could not be reached and why, and fails midway if the server does', async () => {
    const probe = await startUpstream(() => {});
    await probe[Symbol.asyncDispose]();
    await expect(sendRequest(probe.url)).rejects.toThrow(
      `Couldn’t reach ${new URL(probe.url).host}: connection refused (ECONNREFUSED). Check the address and that the server is running.`,
    );
    await using server = await startUpstream(
      (_request, response) => void response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy()),
    );
    const answer = await sendRequest(server.url);
    await expect(answer.text()).rejects.toThrow();
  });

  verifies('egress/guard', 'returns the reason for a forbidden request', async () => {
    await expect(sendRequest('http://169.254.169.254/latest/meta-data')).rejects.toThrow('169.254.169.254 is always blocked (linkLocal)');
    await expect(fetchOverStream(hostMux(), { kind: 'egress' }, { signal: AbortSignal.timeout(5000) })).rejects.toThrow(
      'the address (:url) is missing',
    );
  });
});

describe('the guard', () => {
  it.each([
    'http://127.0.0.1:11434/v1',
    'http://localhost:1234/',
    'http://[::1]:8080/',
    'http://192.168.1.10/',
    'http://10.0.0.1/',
    'https://api.example.com/v1',
    'https://8.8.8.8/',
    'http://[fd12:3456::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://metadata.example.com/',
  ])('allows %s', (url) => expect(checkEgressUrl(url)).toBeUndefined());

  const refused = [
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'javascript:1',
    'ws://127.0.0.1/',
    'no address',
    '',
    'http://169.254.169.254/',
    'http://169.254.1.1/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0xa9.0xfe.0xa9.0xfe/',
    'http://0251.0376.0251.0376/',
    'http://169.254.43518/',
    'http://169.254.169.254./',
    'http://１６９.254.169.254/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::169.254.169.254]/',
    'http://[64:ff9b::169.254.169.254]/',
    'http://[2002:a9fe:a9fe::]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fd00:0ec2:0:0::0254]/',
    'http://100.100.100.200/',
    'http://0.0.0.0:11434/',
    'http://0/',
    'http://[::]/',
    'http://[::ffff:0.0.0.0]/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[ff02::1]/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://METADATA.google.internal./',
    'http://user:pass@169.254.169.254/',
  ];
  verifies('mcp-oauth/named', 'an address that a server on the internet has named may not be the person’s own', async () => {
    await using server = await startUpstream((_, response) => response.end('mine'));
    const named = (namedBy: string, url = server.url): Promise<number | string> =>
      sendRequest(url, { headers: { ':named-by': namedBy } }).then(
        ({ status }) => status,
        ({ message }: Error) => message,
      );
    const { port } = new URL(server.url);
    for (const remote of ['https://mcp.example.com', 'http://8.8.8.8', 'http://localhost.example.com', 'https://local.test', 'none']) {
      expect(await named(remote), remote).toMatch(/not on the public internet \(loopback\)/);
      expect(await named(remote, `http://localhost:${port}`), remote).toMatch(/resolves to a blocked address/);
      expect(await named(remote, 'http://10.0.0.1/'), remote).toMatch(/not on the public internet/);
    }
    for (const near of [
      'http://127.0.0.1:1',
      'http://[::1]',
      'http://localhost',
      'http://nas',
      'http://printer.local',
      'http://192.168.1.2',
      'http://mcp.internal.',
    ])
      expect(await named(near), near).toBe(200);
    expect(await named('http://127.0.0.1:1', 'http://169.254.169.254/')).toMatch(/is always blocked/);
  });

  for (const url of refused) verifies('egress/guard', `refuses ${url}`, () => expect(checkEgressUrl(url)).toEqual(expect.any(String)));
});
