import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { createScript, type TestGateway, createTestGateway, waitFor } from '../../../../../tests/support/test-gateway.ts';
import { TestHosts } from '../../../../../tests/support/test-hosts.ts';

const URL_BASE = 'http://gateway.test/v1';

const postJson = (gw: TestGateway, path: string, body: Record<string, unknown>, principal = 'owner'): Promise<Response> =>
  gw.gateway.fetch(
    new Request(URL_BASE + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    { id: principal, scopes: ['read', 'write'] },
  );
const requestResponse = (gw: TestGateway, id: string, method = 'GET'): Promise<Response> =>
  gw.gateway.fetch(new Request(`${URL_BASE}/responses/${id}`, { method }), { id: 'owner', scopes: ['read', 'write'] });

interface CreatedResponse {
  id: string;
  output: { type: string; content: { text: string }[] }[];
}
const createResponse = async (gw: TestGateway, body: Record<string, unknown>): Promise<CreatedResponse> => {
  const response = await postJson(gw, '/responses', body);
  expect(response.status).toBe(200);
  return (await response.json()) as CreatedResponse;
};

describe('/v1/responses of a whole gateway', () => {
  verifies('http.responses/tools', 'an agent runs its own tools, and its answer alone comes back', async () => {
    await using gw = await createTestGateway({
      model: (_call, count) => (count === 1 ? [{ tool: 'current_time', args: {} }] : ['It is late']),
    });
    const { output } = await createResponse(gw, { model: 'perch/main', input: 'What time is it?' });
    expect(output).toMatchObject([{ type: 'message', content: [{ text: 'It is late' }] }]);
    expect(gw.calls[1]?.body.messages.at(-1)).toMatchObject({ role: 'tool' });
    expect(gw.faults).toEqual([]);
  });

  verifies('http.responses/hosts', 'made at one host, gone on from and deleted at the next', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: createScript(['first']) });
    await using two = await hosts.host({ model: createScript(['second']) });
    const created = await createResponse(one, { model: 'test/scripted', input: 'One' });
    hosts.activate(two);
    await waitFor(async () => (await requestResponse(two, created.id)).status === 200);
    expect(await (await requestResponse(two, created.id)).json()).toEqual(created);
    await createResponse(two, { model: 'test/scripted', input: 'Two', previous_response_id: created.id });
    expect(two.calls[0]?.body.messages).toEqual([
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'first' },
      { role: 'user', content: 'Two' },
    ]);
    expect((await requestResponse(two, created.id, 'DELETE')).status).toBe(200);
    await waitFor(async () => (await requestResponse(one, created.id)).status === 404);
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies('keys/requests', 'its limits are those of responses and embeddings too, and reading is free', async () => {
    await using gw = await createTestGateway({ model: createScript(['Hi']) });
    const { client } = await gw.client();
    const { key } = await client.call('keys.create', { name: 'Script', limits: { requestsPerMinute: 1 } });
    const principal = `key:${key.id}`;
    const first = await postJson(gw, '/responses', { model: 'test/scripted', input: 'Hi' }, principal);
    expect(first.status).toBe(200);
    const { id } = (await first.json()) as CreatedResponse;
    for (const path of ['/responses', '/embeddings'])
      expect([path, (await postJson(gw, path, { model: 'test/scripted', input: 'Hi' }, principal)).status]).toEqual([path, 429]);
    for (const method of ['GET', 'DELETE']) {
      const request = new Request(`${URL_BASE}/responses/${id}`, { method });
      expect((await gw.gateway.fetch(request, { id: principal, scopes: key.scopes })).status).toBe(200);
    }
  });
});
