import { beforeEach, expect } from 'vitest';
import { readError, createTestHttp } from '../../../../tests/support/test-http.ts';
import { verifies } from '../../../../tests/requirements.ts';

let http: ReturnType<typeof createTestHttp>;
beforeEach(() => {
  http = createTestHttp(
    [
      { id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1' },
      { id: 'claude', name: 'Claude', kind: 'anthropic', apiKey: 'k' },
      { id: 'gemini', name: 'Gemini', kind: 'google', apiKey: 'k' },
    ],
    () => Promise.resolve(new Response('{"error":{"message":"No"}}', { status: 400 })),
  );
});

const MODELS = ['up/m', 'claude/m', 'gemini/m', 'guide/guide', 'main'];
const readRefusal = async (path: string, body: unknown) => {
  const response = await http.post(path, body);
  return { status: response.status, ...(await readError(response)) };
};

verifies('http/hostile-bodies', 'data that only looks like base64, and addresses of any length', async () => {
  const image = (url: string) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] });
  // With quadratic time, these would exceed the test's time-out.
  const spaces = ' '.repeat(300_000);
  for (const url of [`data:image/png;base64,${spaces}!`, `data:image/png;base64,AA=${spaces}!`, `data:a${';b'.repeat(8_000_000)}`]) {
    const told = await readRefusal('/v1/chat/completions', { model: 'main', messages: [image(url)] });
    expect([told.status, told.param]).toEqual([400, 'messages[0].content[0]']);
  }
  const good = { model: 'main', messages: [image('data:image/png;charset=x;base64,A A\n=\n=\n')] };
  expect((await http.post('/v1/chat/completions', good)).status).toBe(200);
  expect(http.faults).toEqual([]);
});

verifies('http/hostile-bodies', 'base64 that is none, or of much text, in a text file', async () => {
  const file = (data: string) => ({ type: 'file', file: { filename: 'a.txt', file_data: `data:text/plain;base64,${data}` } });
  for (const model of MODELS)
    for (const data of ['A', 'AAAAA', 'AA=', 'AAA==', 'AAA A=', '=', 'AAAA==']) {
      const told = await readRefusal('/v1/chat/completions', { model, messages: [{ role: 'user', content: [file(data)] }] });
      // A server with this format checks directly forwarded requests itself.
      expect([model, data, told.status, told.param]).toEqual([model, data, 400, model === 'up/m' ? null : 'messages[0].content[0]']);
    }
  for (const data of ['QUFB'.repeat(3_000_000), 'QUFB \n'.repeat(2_000_000)])
    expect(
      (await http.post('/v1/chat/completions', { model: 'claude/m', messages: [{ role: 'user', content: [file(data)] }] })).status,
    ).toBe(400);
  expect(http.faults).toEqual([]);
});

verifies('http/hostile-bodies', 'lists within lists', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const args = JSON.stringify(`{"a":${deep}}`);
  for (const model of MODELS) {
    const asked = `"model":"${model}","messages":[{"role":"user","content":"Hi"}]`;
    const calls = `"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":${args}}}]`;
    const turn = `"messages":[{"role":"user","content":"Hi"},{"role":"assistant",${calls}},{"role":"tool","tool_call_id":"c","content":"x"}]`;
    const items = `{"type":"function_call","call_id":"c","name":"t","arguments":${args}},{"type":"function_call_output","call_id":"c","output":"x"}`;
    const bodies: [string, string][] = [
      ['/v1/chat/completions', `{${asked},"metadata":${deep}}`],
      ['/v1/chat/completions', `{${asked},"tools":[{"type":"function","function":{"name":"t","parameters":{"a":${deep}}}}]}`],
      ['/v1/responses', `{"model":"${model}","input":"Hi","tools":[{"type":"function","name":"t","parameters":{"a":${deep}}}]}`],
      ['/v1/responses', `{"model":"${model}","input":[${items}]}`],
      ['/v1/embeddings', `{"model":"${model}","input":"Hi","metadata":${deep}}`],
      ...(model === 'up/m' ? [] : [['/v1/chat/completions', `{"model":"${model}",${turn}}`] as [string, string]]),
    ];
    for (const [path, body] of bodies) {
      const told = await readRefusal(path, body);
      expect([path, body.slice(0, 60), told.status, told.message]).toEqual([path, body.slice(0, 60), 400, expect.stringContaining('JSON')]);
    }
  }
  expect(http.faults).toEqual([]);
});

verifies('http/hostile-bodies', 'as much of one thing as a body holds', async () => {
  const answered = await http.post('/v1/responses', {
    model: 'main',
    input: Array.from({ length: 15_000 }, () => ({ role: 'user', content: 'x' })),
  });
  const { id } = (await answered.json()) as { id: string };
  const references = Array.from({ length: 15_000 }, (_, i) => ({ id: `msg_${id.slice('resp_'.length)}_i${i}` }));
  const call = { type: 'function_call', call_id: 'c', name: 't', arguments: '{}' };
  const said = Array.from({ length: 4000 }, () => ({ role: 'assistant', content: 'y'.repeat(1000) }));
  const output = { type: 'function_call_output', call_id: 'c', output: 'x' };
  const bodies: [string, string, object][] = [
    ['references', '/v1/responses', { model: 'main', input: references, store: false }],
    [
      'words beside a call',
      '/v1/responses',
      { model: 'main', input: [{ role: 'user', content: 'x' }, call, ...said, output], store: false },
    ],
    ['characters', '/v1/chat/completions', { model: 'guide/guide', messages: [{ role: 'user', content: '漢'.repeat(6_000_000) }] }],
  ];
  for (const [what, path, body] of bodies) {
    // An input read in quadratic time would exceed the test's time-out.
    expect([what, (await http.post(path, body)).status, http.faults]).toEqual([what, 200, []]);
  }
  expect(http.faults).toEqual([]);
});

verifies('http/hostile-bodies', 'half a character in a model’s name', async () => {
  for (const model of MODELS) {
    const response = await http.post('/v1/chat/completions', `{"model":"${model}\\ud800","messages":[{"role":"user","content":"Hi"}]}`);
    expect([model, [400, 404].includes(response.status)]).toEqual([model, true]);
  }
  expect(http.faults).toEqual([]);
});
