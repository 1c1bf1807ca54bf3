import { afterAll, beforeAll, expect } from 'vitest';
import { startTestBridge, type TestBridge } from '../../bridge/server/tests/test-bridge.ts';
import { verifies } from '../requirements.ts';
import { type BridgedGateway, createBridgedGateway } from '../support/bridged-gateway.ts';
import { waitFor } from '../support/test-gateway.ts';

// Ollama's API through the whole core and a real bridge, with real sockets.

let bridge: TestBridge;
let gw: BridgedGateway;
beforeAll(async () => {
  bridge = await startTestBridge();
  gw = await createBridgedGateway();
  await gw.attach(bridge);
});
afterAll(async () => {
  await bridge?.[Symbol.asyncDispose]();
  await gw?.[Symbol.asyncDispose]();
});

const requestTags = (headers: Record<string, string>): Promise<Response> =>
  bridge.http('/api/chat', {
    method: 'POST',
    token: null,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'perch/main', messages: [{ role: 'user', content: 'Hi' }] }),
  });
const toBasicAuth = (text: string): Record<string, string> => ({ authorization: `Basic ${btoa(text)}` });

verifies('http.ollama/callers', 'a key is a bearer token or a password; without one, or from another site, nobody is let in', async () => {
  const { client } = await gw.client();
  const { secret } = await client.call('keys.create', { name: 'Ollama', scopes: ['v1'] });
  const { secret: other } = await client.call('keys.create', { name: 'Other', scopes: ['mcp'] });
  client.close();
  await waitFor(async () => (await requestTags({ authorization: `Bearer ${secret}` })).status === 200, 'the bridge to know the key');
  for (const headers of [toBasicAuth(`perch:${secret}`), toBasicAuth(`:${bridge.token}`)]) {
    const response = await requestTags(headers);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    const lines = (await response.text()).trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ done: true });
  }
  for (const headers of [{}, toBasicAuth('perch:wrong'), toBasicAuth('perch'), { authorization: 'Basic %' }]) {
    const refused = await requestTags(headers);
    expect([refused.status, await refused.json()]).toEqual([401, { error: expect.any(String) as string }]);
  }
  const narrow = await requestTags(toBasicAuth(`perch:${other}`));
  expect([narrow.status, await narrow.json()]).toEqual([403, { error: expect.stringContaining('"v1"') as string }]);
  const foreign = await requestTags({ ...toBasicAuth(`perch:${secret}`), origin: 'https://example.com' });
  expect([foreign.status, await foreign.json()]).toEqual([403, { error: expect.stringContaining('origin') as string }]);
});
