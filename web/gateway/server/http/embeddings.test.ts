import type OpenAI from 'openai';
import { beforeEach, expect, it } from 'vitest';
import { DEFAULT_UPSTREAM_LIMITS } from '#shared/upstream-limits.ts';
import { readError, createTestHttp } from '../../../../tests/support/test-http.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { Google } from '../../providers/google.ts';
import { OpenAiCompatible } from '../../providers/openai-compatible.ts';

const VECTORS = [
  [0.5, -0.25],
  [1, 2],
];
const base64 = (vector: number[]): string => Buffer.from(new Float32Array(vector).buffer).toString('base64');

let http: ReturnType<typeof createTestHttp>;
let requests: { url: string; body: Record<string, unknown> }[];
/** Response of the upstream; an OpenAI-compatible one uses the requested format by default. */
let respond: (body: Record<string, unknown>) => Response;
beforeEach(() => {
  requests = [];
  respond = (body) => {
    const count = Array.isArray(body['input']) ? body['input'].length : 1;
    const data = VECTORS.slice(0, count).map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: body['encoding_format'] === 'base64' ? base64(vector) : vector,
    }));
    return Response.json({ object: 'list', model: 'embed-real', data, usage: { prompt_tokens: 5, total_tokens: 5 } });
  };
  http = createTestHttp(
    [
      { id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1' },
      { id: 'gemini', name: 'Gemini', kind: 'google', apiKey: 'k' },
      { id: 'claude', name: 'Claude', kind: 'anthropic', apiKey: 'k' },
    ],
    async (url, init) => {
      const body = JSON.parse(String(init?.body)) as Record<string, unknown>;
      requests.push({ url: String(url), body });
      return respond(body);
    },
  );
});

const embed = (body: unknown): Promise<Response> => http.post('/v1/embeddings', body, { principal: 'key:a' });
const client = (): OpenAI => http.openai('key:a');

verifies('http.embeddings/openai', 'every parameter passes, with the model’s own name, and usage is recorded', async () => {
  const response = await embed({ model: 'up/embed-small', input: ['a', 'b'], dimensions: 2, odd: true });
  expect(await response.json()).toEqual({
    object: 'list',
    model: 'embed-real',
    data: [
      { object: 'embedding', index: 0, embedding: [0.5, -0.25] },
      { object: 'embedding', index: 1, embedding: [1, 2] },
    ],
    usage: { prompt_tokens: 5, total_tokens: 5 },
  });
  expect(requests).toEqual([
    { url: 'http://up.test/v1/embeddings', body: { model: 'embed-small', input: ['a', 'b'], dimensions: 2, odd: true } },
  ]);
  expect(http.recorded).toMatchObject([
    { provider: 'up', model: 'up/embed-small', principal: 'key:a', usage: { inputTokens: 5, totalTokens: 5 } },
  ]);
  expect(http.admitted).toEqual(['key:a']);
  for (const input of ['a', [1, 2, 3], [[1], [2]]]) expect((await embed({ model: 'up/e', input })).status).toBe(200);
});

verifies(['http.embeddings/openai', 'http.embeddings/google'], 'the openai package gets floats, which it asks for in base64', async () => {
  const plain = await client().embeddings.create({ model: 'up/e', input: 'a' });
  expect(requests[0]?.body['encoding_format']).toBe('base64');
  expect([...(plain.data[0]?.embedding ?? [])]).toEqual(VECTORS[0]);
  // A server that supports only floats and reports no usage.
  respond = () => Response.json({ data: [{ embedding: VECTORS[0] }] });
  const floats = await client().embeddings.create({ model: 'up/e', input: 'four char' });
  expect([...(floats.data[0]?.embedding ?? [])]).toEqual(VECTORS[0]);
  expect(floats.usage.prompt_tokens).toBe(2);
  // A server that supports only base64.
  respond = () => Response.json({ data: [{ embedding: base64(VECTORS[1] ?? []) }] });
  expect(await (await embed({ model: 'up/e', input: 'a' })).json()).toMatchObject({ data: [{ embedding: VECTORS[1] }] });

  respond = () => Response.json({ embeddings: VECTORS.map((values) => ({ values })) });
  const google = await client().embeddings.create({ model: 'gemini/gemini-embedding-001', input: ['a', 'b'], dimensions: 2 });
  expect(google.data.map(({ embedding }) => [...embedding])).toEqual(VECTORS);
  expect(requests.at(-1)).toMatchObject({
    url: expect.stringMatching(/\/models\/gemini-embedding-001:batchEmbedContents$/) as string,
    body: {
      requests: [
        { model: 'models/gemini-embedding-001', content: { parts: [{ text: 'a' }] }, outputDimensionality: 2 },
        { content: { parts: [{ text: 'b' }] } },
      ],
    },
  });
  expect(http.recorded.at(-1)).toMatchObject({ provider: 'gemini', usage: { inputTokens: 2, estimated: true } });
});

verifies('http.embeddings/refused', 'agents, the guide, and APIs without', async () => {
  for (const [body, status, param] of [
    [{ model: 'perch/main', input: 'a' }, 400, 'model'],
    [{ model: 'guide/guide', input: 'a' }, 400, 'model'],
    [{ model: 'claude/c', input: 'a' }, 400, 'model'],
    [{ model: 'nobody/none', input: 'a' }, 404, 'model'],
    [{ model: 'gemini/g', input: [1, 2] }, 400, 'input'],
    [{ model: 'gemini/g', input: 'a', task: 'x' }, 400, 'task'],
    [{ model: 'up/e', input: ['a', 1] }, 400, 'input'],
    [{ model: 'up/e', input: [[1], []] }, 400, 'input'],
    [{ model: 'up/e', input: [1.5] }, 400, 'input'],
    [{ model: 'up/e' }, 400, 'input'],
    [{ model: 'up/e', input: [] }, 400, 'input'],
    [{ model: 'up/e', input: { a: 1 } }, 400, 'input'],
    [{ model: 'up/e', input: 'a', encoding_format: 'hex' }, 400, 'encoding_format'],
    [{ model: 'up/e', input: 'a', dimensions: 0 }, 400, 'dimensions'],
    [{ input: 'a' }, 400, 'model'],
    ['[', 400, null],
  ] as const) {
    const response = await embed(body);
    expect([body, response.status, (await readError(response)).param]).toEqual([body, status, param]);
  }
  expect(requests).toEqual([]);
});

it('an upstream that fails or sends what cannot be read is a 502', async () => {
  for (const upstream of [
    () => new Response('<html>', { status: 200 }),
    () => Response.json({ data: 5 }),
    () => Response.json({ data: [{ embedding: 'AAA' }] }),
    () => Response.json({ error: { message: 'x' } }, { status: 500 }),
  ]) {
    respond = upstream;
    expect((await embed({ model: 'up/e', input: 'a' })).status).toBe(502);
  }
  respond = () => Response.json({ error: { message: 'too long' } }, { status: 400 });
  expect((await embed({ model: 'up/e', input: 'a' })).status).toBe(400);
  expect(http.faults).toEqual([]);
  expect(http.recorded).toEqual([]);
});

it('are waited for as long as an answer that comes whole', async () => {
  for (const Made of [OpenAiCompatible, Google]) {
    const clock = new FakeClock();
    const gate = Promise.withResolvers<Response>();
    const made = new Made({ id: 'up', name: 'Up', baseUrl: 'http://up.test/v1', clock, fetch: () => gate.promise });
    const embedded = made.embed({ model: 'e', input: 'a' }, new AbortController().signal);
    await clock.waitForTimer(DEFAULT_UPSTREAM_LIMITS.wholeMs);
    clock.advance(DEFAULT_UPSTREAM_LIMITS.wholeMs - 1);
    gate.resolve(Response.json({ data: [], embeddings: [] }));
    expect(await embedded).toMatchObject({ data: [] });
  }
});
