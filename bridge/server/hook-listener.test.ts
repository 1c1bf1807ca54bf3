import { request } from 'node:http';
import { describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startTestBridge, type TestBridge } from './tests/test-bridge.ts';

const call = ({ url }: TestBridge, init: RequestInit = {}, path = '/hooks/ci'): Promise<Response> =>
  fetch(`${url}${path}`, { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' }, ...init });

/** Sends a body of unknown length, with this `Host`. Resolves with the status. */
const callRaw = (url: string, body: Buffer, headers: Record<string, string> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const sending = request(`${url}/hooks/ci`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.on('error', reject);
    for (let offset = 0; offset < body.length; offset += 64 * 1024) sending.write(body.subarray(offset, offset + 64 * 1024));
    sending.end();
  });

describe('calls of hooks', () => {
  verifies('hooks/bridge', 'reach the active host without a token, whole and with the headers that prove them', async () => {
    await using bridge = await startTestBridge();
    const bodies: string[] = [];
    const host = await bridge.attach({
      async http(incoming) {
        bodies.push(await incoming.text());
        return Response.json({ accepted: true }, { status: 202 });
      },
    });
    const headers = { 'x-hub-signature-256': 'sha256=0', 'x-github-event': 'push', cookie: 'c=1', 'x-perch-session': 'main' };
    const answer = await call(bridge, { headers: { ...headers, 'content-type': 'application/json' } });
    expect([answer.status, await answer.json()]).toEqual([202, { accepted: true }]);
    expect(bodies).toEqual(['{"a":1}']);
    expect(host.openings).toEqual([
      {
        ...{ kind: 'http', principal: 'hook', scopes: [], origin: null },
        headers: {
          ...{ ':method': 'POST', ':path': '/hooks/ci', 'x-perch-head': '0', 'content-type': 'application/json' },
          ...{ 'x-hub-signature-256': 'sha256=0', 'x-github-event': 'push' },
        },
      },
    ]);
  });

  verifies('hooks/bridge', 'a platform of a channel may check its address with GET', async () => {
    await using bridge = await startTestBridge();
    const methods: string[] = [];
    await bridge.attach({
      async http(incoming) {
        methods.push(`${incoming.method} ${new URL(incoming.url).search}`);
        return new Response('1158201444', { headers: { 'content-type': 'text/plain' } });
      },
    });
    const answer = await call(bridge, { method: 'GET', body: null }, '/hooks/channels/whatsapp?hub.challenge=1158201444');
    expect([answer.status, await answer.text()]).toEqual([200, '1158201444']);
    expect(methods).toEqual(['GET ?hub.challenge=1158201444']);
    expect((await call(bridge, { method: 'PUT', body: null }, '/hooks/channels/whatsapp')).status).toBe(405);
    expect((await call(bridge, { method: 'GET', body: null }, '/hooks/channels/')).status).toBe(405);
  });

  verifies('hooks/bridge', 'get 503 and Retry-After without a host', async () => {
    await using bridge = await startTestBridge({ timing: { hostWaitMs: 20 } });
    const answer = await call(bridge);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await answer.text()).toContain('No gateway is running');
  });

  verifies('hooks/limits', 'are refused by size, method, encoding, Host and Origin before the host sees them', async () => {
    await using bridge = await startTestBridge();
    const host = await bridge.attach();
    const large = Buffer.alloc(1024 * 1024 + 1, 'x');
    expect((await call(bridge, { body: large })).status).toBe(413);
    expect(await callRaw(bridge.url, large)).toBe(413);
    expect((await call(bridge, { method: 'GET', body: null })).status).toBe(405);
    expect((await call(bridge, { headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
    expect(await callRaw(bridge.url, Buffer.from('{}'), { host: 'evil.test' })).toBe(403);
    expect((await call(bridge, { headers: { origin: 'https://evil.test' } })).status).toBe(403);
    expect((await call(bridge, {}, '/hooks')).status).toBe(404);
    expect((await call(bridge, {}, '/hooks/ci?vault=none')).status).toBe(404);
    expect(host.openings).toEqual([]);
  });

  verifies('hooks/limits', 'are refused if there are too many in a second', async () => {
    await using bridge = await startTestBridge();
    await bridge.attach({ http: async () => new Response(null, { status: 401 }) });
    const statuses = await Promise.all(Array.from({ length: 300 }, async () => (await call(bridge)).status));
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });
});
