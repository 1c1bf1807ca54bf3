import { describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { startTestBridge, type TestBridge } from './tests/test-bridge.ts';

const VALUE = `a${'0'.repeat(32)}${'A'.repeat(22)}`;

const press = (
  { url }: TestBridge,
  body: unknown = { value: VALUE },
  { origin = url, ...headers }: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${url}/push/answer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, ...headers },
    body: JSON.stringify(body),
  });

describe('a pressed button of a notification', () => {
  verifies('push/route', 'reaches the active host with nothing but the value, and its result comes back', async () => {
    await using gateway = await startTestBridge();
    const bodies: string[] = [];
    const host = await gateway.attach({
      http: async (request) => {
        bodies.push(await request.text());
        return Response.json({ outcome: 'decided' }, { status: 409 });
      },
    });
    const response = await press(gateway, undefined, { authorization: 'Bearer wrong', cookie: 'c=1' });
    expect([response.status, await response.json(), response.headers.get('cache-control')]).toEqual([
      409,
      { outcome: 'decided' },
      'no-store',
    ]);
    expect(bodies).toEqual([JSON.stringify({ value: VALUE })]);
    expect(host.openings).toEqual([
      {
        ...{ kind: 'http', principal: 'push', scopes: [], origin: null },
        headers: { ':method': 'POST', ':path': '/push/answer', 'content-type': 'application/json', 'x-perch-head': '0' },
      },
    ]);
    expect(gateway.lines.join()).not.toContain(VALUE);
  });

  verifies('push/route', 'is refused from other origins, and with another body', async () => {
    await using gateway = await startTestBridge({ origins: ['https://friend.test'] });
    const host = await gateway.attach();
    expect((await press(gateway, undefined, { origin: 'https://evil.test' })).status).toBe(403);
    expect((await press(gateway, undefined, { origin: 'https://friend.test' })).status).toBe(403);
    expect((await fetch(`${gateway.url}/push/answer`, { method: 'POST', body: '{}' })).status).toBe(403);
    expect((await press(gateway, undefined, { 'content-type': 'text/plain' })).status).toBe(400);
    for (const body of [{}, { value: '' }, { value: 'x'.repeat(65) }, { value: VALUE, decision: 'approve' }, 'x', null])
      expect((await press(gateway, body)).status).toBe(400);
    expect((await press(gateway, { value: 'x'.repeat(2000) })).status).toBe(413);
    expect(host.openings).toEqual([]);
  });

  verifies('push/route', 'that is unknown ten times locks the route; others do not count', async () => {
    await using gateway = await startTestBridge();
    let status = 409;
    const host = await gateway.attach({ http: async () => Response.json({}, { status }) });
    for (let n = 0; n < 12; n++) expect((await press(gateway)).status).toBe(409);
    status = 404;
    for (let n = 0; n < 10; n++) expect((await press(gateway)).status).toBe(404);
    const locked = await press(gateway);
    expect([locked.status, Number(locked.headers.get('retry-after'))]).toEqual([429, expect.closeTo(300, -1)]);
    expect(host.openings).toHaveLength(22);
  });

  verifies('push/route', 'gets a 503 while no host serves', async () => {
    await using gateway = await startTestBridge({ timing: { hostWaitMs: 20 } });
    const response = await press(gateway);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  });
});
