import { expect } from 'vitest';
import { readError, createTestHttp } from '../../../../tests/support/test-http.ts';
import { verifies } from '../../../../tests/requirements.ts';

const documents = ['north', 'east', { text: 'north-east' }];
const VECTORS: Readonly<Record<string, number[]>> = { up: [0, 1], north: [0, 2], east: [1, 0], 'north-east': [1, 1] };

/** `endpoint`: response of the server's own endpoint. */
function startServer(endpoint?: (path: string, body: Record<string, unknown>) => unknown) {
  const asked: { path: string; body: Record<string, unknown> }[] = [];
  const providers = [
    { id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1' },
    { id: 'claude', name: 'Claude', kind: 'anthropic' as const, apiKey: 'k' },
  ];
  const http = createTestHttp(providers, async (url, init) => {
    const path = new URL(String(url)).pathname;
    if (path === '/v1/models') return Response.json({ object: 'list', data: [{ id: 'm' }, { id: 'omni-moderation-latest' }] });
    const body = JSON.parse(String(init?.body)) as Record<string, unknown>;
    asked.push({ path, body });
    if (path === '/v1/embeddings') {
      const data = (body['input'] as string[]).map((text, index) => ({ index, embedding: VECTORS[text] ?? [0, 0] }));
      return Response.json({ object: 'list', data, usage: { prompt_tokens: 4, total_tokens: 4 } });
    }
    return endpoint ? Response.json(endpoint(path, body)) : new Response('{"error":{"message":"no"}}', { status: 404 });
  });
  return { http, asked };
}

verifies('http.rerank/order', 'the provider’s own scores are sorted, in each form that servers have', async () => {
  for (const answer of [
    {
      results: [
        { index: 1, relevance_score: 0.1 },
        { index: 2, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.5 },
      ],
    },
    {
      data: [
        { index: 0, relevance_score: 0.5 },
        { index: 1, relevance_score: 0.1 },
        { index: 2, relevance_score: 0.9 },
      ],
    },
    [
      { index: 0, score: 0.5 },
      { index: 1, score: 0.1 },
      { index: 2, score: 0.9 },
      { index: 7, score: 3 },
    ],
  ]) {
    const { http, asked } = startServer(() => answer);
    const response = await http.post('/v1/rerank', { model: 'up/r', query: 'up', documents, top_n: 2, return_documents: true });
    expect(await response.json()).toMatchObject({
      model: 'up/r',
      results: [
        { index: 2, relevance_score: 0.9, document: { text: 'north-east' } },
        { index: 0, relevance_score: 0.5, document: { text: 'north' } },
      ],
    });
    expect(asked).toEqual([
      { path: '/v1/rerank', body: { model: 'r', query: 'up', documents: ['north', 'east', 'north-east'], top_n: 3 } },
    ]);
    expect(http.recorded).toMatchObject([{ model: 'up/r' }]);
  }
});

verifies('http.rerank/order', 'without an endpoint vectors decide; agents and others say what to add', async () => {
  const { http, asked } = startServer();
  const response = await http.post('/v1/rerank', { model: 'up/e', query: 'up', documents });
  const { results } = (await response.json()) as { results: { index: number; relevance_score: number }[] };
  expect(results.map(({ index }) => index)).toEqual([0, 2, 1]);
  expect(results[0]?.relevance_score).toBeCloseTo(1);
  expect(asked.map(({ path }) => path)).toEqual(['/v1/rerank', '/v1/embeddings']);
  expect(http.recorded).toHaveLength(1);
  for (const model of ['claude/c', 'perch/main', 'guide/guide']) {
    const refused = await http.post('/v1/rerank', { model, query: 'up', documents });
    expect([refused.status, (await readError(refused)).message], model).toEqual([
      400,
      expect.stringContaining('embedding model') as string,
    ]);
  }
});

verifies('http.moderations/passed-on', 'the provider’s results come back; a missing model is found', async () => {
  const { http, asked } = startServer(() => ({ id: 'modr-1', model: 'omni', results: [{ flagged: true }] }));
  expect(await http.openai().moderations.create({ input: 'Bad words' })).toMatchObject({
    ...{ id: 'modr-1', model: 'up/omni-moderation-latest' },
    results: [{ flagged: true }],
  });
  expect(asked).toEqual([{ path: '/v1/moderations', body: { input: 'Bad words', model: 'omni-moderation-latest' } }]);
  const without = startServer().http;
  for (const model of ['up/m', 'claude/c', 'perch/main']) {
    const refused = await without.post('/v1/moderations', { model, input: 'x' });
    expect([refused.status, (await readError(refused)).message], model).toEqual([
      400,
      expect.stringContaining('Add OpenAI or Mistral') as string,
    ]);
  }
});
