import { describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { script, type TestGateway, testGateway, until } from '../support/gateway.ts';
import { TestHosts } from '../support/hosts.ts';

const URL_BASE = 'http://gateway.test/v1';

const post = (gw: TestGateway, path: string, body: Record<string, unknown>, principal = 'owner'): Promise<Response> =>
  gw.gateway.fetch(
    new Request(URL_BASE + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    { id: principal, scopes: ['read', 'write'] },
  );
const at = (gw: TestGateway, id: string, method = 'GET'): Promise<Response> =>
  gw.gateway.fetch(new Request(`${URL_BASE}/responses/${id}`, { method }), { id: 'owner', scopes: ['read', 'write'] });

interface Answered {
  id: string;
  output: { type: string; content: { text: string }[] }[];
}
const respond = async (gw: TestGateway, body: Record<string, unknown>): Promise<Answered> => {
  const response = await post(gw, '/responses', body);
  expect(response.status).toBe(200);
  return (await response.json()) as Answered;
};

describe('/v1/responses of a whole gateway', () => {
  verifies('http.responses/tools', 'an agent runs its own tools, and its answer alone comes back', async () => {
    await using gw = await testGateway({
      model: (_call, count) => (count === 1 ? [{ tool: 'current_time', args: {} }] : ['It is late']),
    });
    const { output } = await respond(gw, { model: 'perch/main', input: 'What time is it?' });
    expect(output).toMatchObject([{ type: 'message', content: [{ text: 'It is late' }] }]);
    expect(gw.calls[1]?.body.messages.at(-1)).toMatchObject({ role: 'tool' });
    expect(gw.faults).toEqual([]);
  });

  verifies('http.responses/hosts', 'made at one host, gone on from and deleted at the next', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({ model: script(['first']) });
    await using two = await hosts.host({ model: script(['second']) });
    const made = await respond(one, { model: 'test/scripted', input: 'One' });
    hosts.serve(two);
    await until(async () => (await at(two, made.id)).status === 200);
    expect(await (await at(two, made.id)).json()).toEqual(made);
    await respond(two, { model: 'test/scripted', input: 'Two', previous_response_id: made.id });
    expect(two.calls[0]?.body.messages).toEqual([
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'first' },
      { role: 'user', content: 'Two' },
    ]);
    expect((await at(two, made.id, 'DELETE')).status).toBe(200);
    await until(async () => (await at(one, made.id)).status === 404);
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  verifies('keys/requests', 'its limits are those of responses and embeddings too, and reading is free', async () => {
    await using gw = await testGateway({ model: script(['Hi']) });
    const { client } = await gw.client();
    const { key } = await client.call('keys.create', { name: 'Script', limits: { requestsPerMinute: 1 } });
    const principal = `key:${key.id}`;
    const first = await post(gw, '/responses', { model: 'test/scripted', input: 'Hi' }, principal);
    expect(first.status).toBe(200);
    const { id } = (await first.json()) as Answered;
    for (const path of ['/responses', '/embeddings'])
      expect([path, (await post(gw, path, { model: 'test/scripted', input: 'Hi' }, principal)).status]).toEqual([path, 429]);
    for (const method of ['GET', 'DELETE']) {
      const request = new Request(`${URL_BASE}/responses/${id}`, { method });
      expect((await gw.gateway.fetch(request, { id: principal, scopes: key.scopes })).status).toBe(200);
    }
  });
});
