import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toEvents, HTTP_BASE, readError, createUpstreamHttp } from '../../../../tests/support/test-http.ts';
import { verifies } from '../../../../tests/requirements.ts';

const v1 = createUpstreamHttp();
const hi = [{ role: 'user', content: 'Hi' }];

describe('bad input', () => {
  const deep = `{"model":"main","messages":[{"role":"user","content":"${'x'.repeat(1_100_000)}"}],"x":[${'[],'.repeat(100_000)}0]}`;
  const many = Array.from({ length: 300_000 }, () => ({}));
  it.each<[string, string | unknown, number, string | null]>([
    ['no JSON', '{"model":', 400, null],
    ['nothing', '', 400, null],
    ['an array', [], 400, null],
    ['null', 'null', 400, null],
    ['no model', { messages: hi }, 400, 'model'],
    ['an empty model', { model: '', messages: hi }, 400, 'model'],
    ['a number as model', { model: 4, messages: hi }, 400, 'model'],
    ['no messages', { model: 'main' }, 400, 'messages'],
    ['empty messages', { model: 'main', messages: [] }, 400, 'messages'],
    ['messages of text', { model: 'main', messages: 'Hi' }, 400, 'messages'],
    ['a message without role', { model: 'up/normal', messages: [{ content: 'Hi' }] }, 400, 'messages[0].role'],
    ['an unknown role', { model: 'main', messages: [{ role: 'king', content: 'Hi' }] }, 400, 'messages[0].role'],
    ['a message without content', { model: 'main', messages: [...hi, { role: 'user' }] }, 400, 'messages[1].content'],
    ['an odd part', { model: 'main', messages: [{ role: 'user', content: [{ type: 'smell' }] }] }, 400, 'messages[0].content[0].type'],
    ['a part of nothing', { model: 'main', messages: [{ role: 'user', content: [null] }] }, 400, 'messages[0].content[0]'],
    [
      'a file that is kept elsewhere',
      {
        model: 'main',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Read' },
              { type: 'file', file: { file_id: 'f' } },
            ],
          },
        ],
      },
      400,
      'messages[0].content[1].file.file_data',
    ],
    [
      'sound of another format',
      { model: 'main', messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'flac' } }] }] },
      400,
      'messages[0].content[0].input_audio.format',
    ],
    ['a result of no call', { model: 'main', messages: [...hi, { role: 'tool', content: '4' }] }, 400, 'messages[1].tool_call_id'],
    [
      'a remote picture',
      { model: 'main', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x/y.png' } }] }] },
      400,
      'messages[0].content[0]',
    ],
    ['stream as text', { model: 'main', messages: hi, stream: 'yes' }, 400, 'stream'],
    ['a hot temperature', { model: 'main', messages: hi, temperature: 9 }, 400, 'temperature'],
    ['several choices of an agent', { model: 'main', messages: hi, n: 2 }, 400, 'n'],
    ['an unknown agent', { model: 'perch/nope', messages: hi }, 404, 'model'],
    ['an unknown model', { model: 'nope/nope', messages: hi }, 404, 'model'],
    ['constructor as model', { model: 'constructor', messages: hi }, 404, 'model'],
    ['too many parts', deep, 413, null],
    ['a fault in each of many messages', { model: 'up/normal', messages: many }, 400, 'messages[0].role'],
    ['a fault in each of many calls', { model: 'main', messages: [{ role: 'assistant', tool_calls: many }] }, 400, null],
    ['a fault in each of many tools', { model: 'main', messages: hi, tools: many }, 400, 'tools[0].type'],
  ])('%s', async (_what, body, status, param) => {
    const response = await v1.http.chat(body);
    const error = await readError(response);
    expect([response.status, error.param]).toEqual([status, param]);
    expect(v1.http.faults).toEqual([]);
  });

  verifies('http/body-limit', 'over 20 MB is 413, and the rest is not read', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1024 * 1024;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
    });
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', body: endless, duplex: 'half' };
    const response = await v1.http.ask(new Request(`${HTTP_BASE}/v1/chat/completions`, init));
    expect([response.status, (await readError(response)).type]).toEqual([413, 'invalid_request_error']);
    expect(sent).toBeLessThan(30 * 1024 * 1024);
  });

  it('of another type, or no UTF-8, is 400', async () => {
    expect((await v1.http.chat({ model: 'main', messages: hi }, { headers: { 'content-type': 'text/plain' } })).status).toBe(400);
    expect(
      (await v1.http.chat({ model: 'main', messages: hi }, { headers: { 'content-type': 'application/json; charset=utf-8' } })).status,
    ).toBe(200);
    const init = { body: new Uint8Array([0x7b, 0xff, 0x7d]) };
    expect((await v1.http.chat('', init)).status).toBe(400);
  });

  verifies('http/request-id', 'in answers and errors, and in the log, of streams that break off too', async () => {
    const ask = async (body: unknown, id: string): Promise<[string | null, Record<string, unknown> | undefined]> => {
      const response = await v1.http.chat(body, { headers: { 'x-request-id': id } });
      await response.text();
      return [response.headers.get('x-request-id'), v1.http.noted.findLast(({ level }) => level !== 'debug')];
    };
    expect(await ask({ model: 'main', messages: hi }, 'r-1')).toEqual(['r-1', undefined]);
    expect(v1.http.noted).toMatchObject([
      { level: 'debug', requestId: 'r-1', method: 'POST', path: '/v1/chat/completions', status: 200, principal: 'owner' },
    ]);
    expect(await ask({ model: 'nope/nope', messages: hi }, 'r-2')).toMatchObject(['r-2', { level: 'info', requestId: 'r-2', status: 404 }]);
    expect(await ask({ model: 'up/error-500', messages: hi }, 'r-3')).toMatchObject([
      'r-3',
      { level: 'warn', requestId: 'r-3', status: 502 },
    ]);
    for (const model of ['up/cut', 'main']) {
      v1.http.agent = () => toEvents({ type: 'text', text: 'Hel' }, new TypeError('ours'));
      const [id, line] = await ask({ model, messages: hi, stream: true }, model.replace('/', ':'));
      expect([id, line]).toMatchObject([model.replace('/', ':'), { level: 'warn', requestId: model.replace('/', ':') }]);
    }
    expect((await v1.http.ask(new Request(`${HTTP_BASE}/v1/nope`))).headers.get('x-request-id')).toMatch(/^req_/);
    expect((await v1.http.ask(new Request(`${HTTP_BASE}/v1/models`, { method: 'HEAD' }))).headers.get('x-request-id')).toMatch(/^req_/);
  });

  verifies('http/errors', 'wrong methods, paths and scopes', async () => {
    const get = await v1.http.ask(new Request(`${HTTP_BASE}/v1/chat/completions`));
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    const del = await v1.http.ask(new Request(`${HTTP_BASE}/v1/models`, { method: 'DELETE' }));
    expect([del.status, del.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await v1.http.ask(new Request(`${HTTP_BASE}/v1/models`, { method: 'HEAD' }));
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const path of ['/v1', '/v1/', '/v1/nope', '/', '/v1/chat']) {
      const response = await v1.http.ask(new Request(HTTP_BASE + path));
      expect([path, response.status, (await readError(response)).type]).toEqual([path, 404, 'not_found']);
    }
    const reader = await v1.http.chat({ model: 'main', messages: hi }, { scopes: ['read'] });
    expect([reader.status, (await readError(reader)).type]).toEqual([403, 'forbidden']);
    expect((await v1.http.ask(new Request(`${HTTP_BASE}/v1/models`), 'owner', [])).status).toBe(403);
  });

  it('of any kind is never a 500', async () => {
    const value = fc.oneof(fc.jsonValue(), fc.constant(hi), fc.constantFrom('main', 'guide/guide', 'perch/main', 'up/normal', true, null));
    const key = fc.constantFrom(
      'model',
      'messages',
      'stream',
      'stream_options',
      'n',
      'temperature',
      'max_tokens',
      'tools',
      'tool_choice',
      'response_format',
      'stop',
      'seed',
      'reasoning_effort',
      'logit_bias',
      'user',
      '__proto__',
    );
    const message = fc.record(
      { role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'x'), content: fc.jsonValue(), tool_calls: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const nearly = fc.record({
      model: fc.constantFrom('main', 'guide/guide'),
      messages: fc.array(message, { minLength: 1, maxLength: 3 }),
      stream: fc.boolean(),
      n: fc.integer({ min: 1, max: 3 }),
      tool_choice: fc.oneof(fc.constantFrom('none', 'auto', 'required'), fc.jsonValue()),
      response_format: fc.oneof(fc.constantFrom({ type: 'text' }, { type: 'json_object' }), fc.jsonValue()),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.dictionary(key, value).map((each) => JSON.stringify(each)),
          nearly.map((each) => JSON.stringify(each)),
        ),
        async (body) => {
          const response = await v1.http.chat(body);
          expect(response.status).toBeLessThan(500);
          await response.text();
        },
      ),
      { numRuns: process.env.PERCH_LONG ? 5000 : 300 },
    );
    expect(v1.http.faults).toEqual([]);
  });
});
