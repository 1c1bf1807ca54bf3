import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '#shared/rpc/scopes.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { createSearchGateway, type SearchServer } from '../../../../../tests/support/search-gateway.ts';
import { startSearchServer } from '../../../../../tests/support/search-server.ts';
import { createScriptedModel, createTestGateway, type ModelScript, waitFor } from '../../../../../tests/support/test-gateway.ts';
import { createCollection, toFile, waitUntilIdle } from '../../../agent/collections/fixture.ts';

const BASE = 'http://127.0.0.1:7333';
const MODEL = 'test/scripted';
const WHALES = '# Whales\n\nThe blue whale is the largest animal. It eats 4 tonnes of krill a day.\n';
const SEALS = '# Seals\n\nThe leopard seal eats krill and penguins.\n';
const QUESTION = 'What do blue whales eat?';
const ANSWER = 'The blue whale eats 4 tonnes of krill a day [1]. That is all.';
const VISIBLE = 'The blue whale eats 4 tonnes of krill a day. That is all.';
const QUERY = { tool: 'file_search', args: { query: 'whale krill' } };

let server: SearchServer;
beforeAll(async () => {
  server = await startSearchServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** A gateway with a collection, whose model searches it once, unless it has another script, and clients of its API. */
async function open(model?: ModelScript) {
  const {
    gw,
    client,
    model: scripted,
  } = await createSearchGateway(
    server,
    { provider: 'searxng', url: server.url },
    { model: model ?? ((_call, count) => (count % 2 === 1 ? [QUERY] : ANSWER.split(/(?= )/))) },
  );
  const { id } = await createCollection(client, [toFile('sea/whales.md', WHALES), toFile('seals.md', SEALS)]);
  const ask = (principal: string, scopes: Scope[]) => (url: string | URL | Request, init?: RequestInit) =>
    gw.gateway.fetch(new Request(url, init), { id: principal, scopes });
  const post = (body: object, principal = 'owner', scopes: Scope[] = ['admin']) =>
    ask(principal, scopes)(`${BASE}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, input: QUESTION, ...body }),
    });
  return {
    ...{ gw, client, post, collectionId: id },
    calls: scripted.calls,
    openai: new OpenAI({ baseURL: `${BASE}/v1`, apiKey: 'none', maxRetries: 0, fetch: ask('owner', ['admin']) }),
    [Symbol.asyncDispose]: () => gw[Symbol.asyncDispose](),
  };
}

type Found = { file_id?: string; filename?: string; score?: number; text?: string; attributes?: Record<string, unknown> | null };

const getResults = ({ output }: OpenAI.Responses.Response): Found[] =>
  output.flatMap((item) => (item.type === 'file_search_call' ? (item.results ?? []) : []));
const toolResults = (messages: { role: string; content: unknown }[] = []): Record<string, unknown>[] =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(String(content)) as Record<string, unknown>);
const getToolNames = (tools: unknown[] = []): string[] => tools.map((tool) => (tool as { function: { name: string } }).function.name);

describe('file_search', () => {
  verifies('http.file-search/responses', 'is run over the named collections, shown and cited', async () => {
    await using perch = await open();
    const request = {
      ...{ model: MODEL, input: QUESTION },
      tools: [{ type: 'file_search' as const, vector_store_ids: [perch.collectionId] }],
    };
    const response = await perch.openai.responses.create({ ...request, include: ['file_search_call.results'] });
    const [best] = getResults(response);
    expect(best).toMatchObject({ filename: 'sea/whales.md', score: 1, text: expect.stringContaining('krill') });
    expect(best?.attributes).toMatchObject({ path: 'sea/whales.md', filename: 'whales.md', title: 'Whales', collection: 'Library' });
    const message = {
      type: 'message',
      content: [
        {
          text: VISIBLE,
          annotations: [{ type: 'file_citation', file_id: best?.file_id, filename: 'sea/whales.md', index: expect.any(Number) }],
        },
      ],
    };
    expect(response.output).toMatchObject([{ type: 'file_search_call', status: 'completed', queries: ['whale krill'] }, message]);
    expect(response.tools).toEqual(request.tools);
    const [first, second] = perch.calls;
    expect(first?.body.tools).toMatchObject([{ function: { name: 'file_search', description: expect.stringContaining('“Library”') } }]);
    expect(toolResults(second?.body.messages)).toMatchObject([
      {
        passages: [
          { ref: 1, title: 'Whales' },
          { ref: 2, title: 'Seals' },
        ],
      },
    ]);

    const events = [];
    for await (const event of await perch.openai.responses.create({ ...request, stream: true })) events.push(event);
    expect(events.map(({ type }) => type).filter((type) => /search|item|annotation|completed/.test(type))).toEqual([
      'response.output_item.added',
      'response.file_search_call.in_progress',
      'response.file_search_call.searching',
      'response.file_search_call.completed',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_text.annotation.added',
      'response.output_item.done',
      'response.completed',
    ]);
    // Results are left out unless the request includes them.
    const ended = events.at(-1);
    expect(ended?.type === 'response.completed' && ended.response.output).toMatchObject([{ results: null }, message]);
    // An agent that gets this answer back as an earlier turn knows that the collection influenced it.
    expect((await perch.gw.vault.collection('contentLabels').list()).map(({ id, sources }) => [id.split(':')[0], sources])).toContainEqual([
      'reply',
      ['collection:Library'],
    ]);
    expect(perch.gw.faults).toEqual([]);
  });

  it('stays in stored responses, and is left out of later turns', async () => {
    await using perch = await open();
    const tools = [{ type: 'file_search' as const, vector_store_ids: ['library'] }];
    const first = await perch.openai.responses.create({ model: MODEL, input: QUESTION, tools, include: ['file_search_call.results'] });
    expect((await perch.openai.responses.retrieve(first.id)).output).toEqual(first.output);
    await perch.openai.responses.create({ model: MODEL, input: 'So?', previous_response_id: first.id });
    expect(perch.calls.at(-1)?.body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: VISIBLE },
      { role: 'user', content: 'So?' },
    ]);
    // Clients without storage send the items back.
    const input = [{ role: 'user', content: QUESTION }, ...first.output, { role: 'user', content: 'So?' }];
    const response = await perch.post({ input, store: false });
    expect([response.status, response.headers.get('x-perch-ignored')]).toEqual([200, 'input[1]']);
    const conversation = await perch.openai.conversations.create();
    for (const [text, types] of [
      [QUESTION, ['message', 'file_search_call', 'message']],
      ['So?', ['message', 'file_search_call', 'message', 'message', 'file_search_call', 'message']],
    ] as const) {
      await perch.openai.responses.create({ model: MODEL, input: text, tools, conversation: conversation.id });
      const { data } = await perch.openai.conversations.items.list(conversation.id, { order: 'asc' });
      expect(data.map(({ type }) => type)).toEqual(types);
    }
    const background = await perch.openai.responses.create({ model: MODEL, input: QUESTION, tools, background: true });
    await waitFor(async () => (await perch.openai.responses.retrieve(background.id)).status === 'completed');
    const { output } = await perch.openai.responses.retrieve(background.id);
    expect(output.map(({ type }) => type)).toEqual(['file_search_call', 'message']);
  });

  verifies('http.file-search/filters', 'keeps to the number of results, the score, the filters and `max_tool_calls`', async () => {
    await using perch = await open(({ body }) => (body.tools ? [QUERY] : ['Done.']));
    const search = async (more: object): Promise<string[]> => {
      const response = await perch.openai.responses.create({
        ...{ model: MODEL, input: QUESTION, max_tool_calls: 1, include: ['file_search_call.results'] },
        tools: [{ type: 'file_search', vector_store_ids: [perch.collectionId], ...more }],
      });
      return getResults(response).map(({ filename }) => filename ?? '');
    };
    expect(await search({})).toEqual(['sea/whales.md', 'seals.md']);
    expect(await search({ max_num_results: 1 })).toEqual(['sea/whales.md']);
    expect(await search({ ranking_options: { score_threshold: 0.99 } })).toEqual(['sea/whales.md']);
    // A filter holds before the number of results.
    expect(await search({ max_num_results: 1, filters: { type: 'eq', key: 'filename', value: 'seals.md' } })).toEqual(['seals.md']);
    expect(await search({ filters: { type: 'ne', key: 'author', value: 'Ana' } })).toEqual([]);
    const filters = {
      type: 'and',
      filters: [
        { type: 'gte', key: 'added_at', value: 0 },
        {
          type: 'or',
          filters: [
            { type: 'in', key: 'title', value: ['Whales', 'Bears'] },
            { type: 'lt', key: 'size', value: 0 },
          ],
        },
      ],
    };
    expect(await search({ filters })).toEqual(['sea/whales.md']);
    expect(perch.calls.at(-1)?.body.tools).toBeUndefined();
  });

  verifies('http.file-search/filters', 'filters what is alike in meaning, too', async () => {
    const { fetch } = createScriptedModel(({ body }) => (body.tools ? [{ tool: 'file_search', args: { query: 'cetaceans' } }] : ['Done.']));
    await using gw = await createTestGateway({
      fetch: async (url, init) => {
        if (!url.endsWith('/embeddings')) return fetch(url, init);
        const { input } = JSON.parse(String(init.body)) as { input: string[] };
        const data = input.map((text, index) => ({
          object: 'embedding',
          index,
          embedding: /whale|cetacean/i.test(text) ? [1, 0] : [0, 1],
        }));
        return Response.json({ object: 'list', model: 'small', data });
      },
    });
    const { client } = await gw.client();
    const { collection } = await client.call('collections.create', { name: 'Library', embeddingModel: 'test/small' });
    await client.call('collections.addFiles', {
      collectionId: collection.id,
      files: [toFile('whales.md', WHALES), toFile('seals.md', SEALS)],
    });
    await waitUntilIdle(client, collection.id);
    const search = async (filters?: object): Promise<string[]> => {
      const body = {
        ...{ model: MODEL, input: QUESTION, max_tool_calls: 1, include: ['file_search_call.results'] },
        tools: [{ type: 'file_search', vector_store_ids: ['Library'], filters }],
      };
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const response = await gw.gateway.fetch(new Request(`${BASE}/v1/responses`, init), { id: 'owner', scopes: ['admin'] });
      return getResults((await response.json()) as OpenAI.Responses.Response).map(({ filename }) => filename ?? '');
    };
    expect(await search()).toEqual(['whales.md', 'seals.md']);
    expect(await search({ type: 'eq', key: 'title', value: 'Seals' })).toEqual(['seals.md']);
    expect(await search({ type: 'eq', key: 'title', value: 'Bears' })).toEqual([]);
  });

  verifies('http.file-search/rights', 'tells a key without the scope nothing about collections', async () => {
    await using perch = await open(({ body: { tools } }) => [tools ? 'can' : 'can’t']);
    const { key } = await perch.client.call('keys.create', { name: 'Limited', scopes: ['v1', 'web'] });
    const { key: reader } = await perch.client.call('keys.create', { name: 'Reader', scopes: ['v1', 'collections'] });
    const ask = (body: object, { id, scopes }: typeof key = key) => perch.post(body, `key:${id}`, scopes);
    for (const name of [perch.collectionId, 'Library', 'none']) {
      const tools = [{ type: 'file_search', vector_store_ids: [name] }];
      const response = await ask({ tools });
      expect([response.status, response.headers.get('x-perch-ignored')]).toEqual([200, 'tools[0]']);
      expect(await response.text()).toContain('can’t');
      for (const tool_choice of ['required', { type: 'file_search' }]) {
        const refused = await ask({ tools, tool_choice });
        expect([refused.status, ((await refused.json()) as { error: { param: string } }).error.param]).toEqual([400, 'tool_choice']);
      }
      const agent = await ask({ model: 'perch/main', tools });
      expect([agent.status, agent.headers.get('x-perch-ignored')]).toEqual([200, 'tools[0]']);
    }
    expect(
      (await ask({ tools: [{ type: 'file_search', vector_store_ids: ['Library'] }] }, reader)).headers.get('x-perch-ignored'),
    ).toBeNull();
    // An unknown collection is named in the form of the API.
    const tools = [{ type: 'file_search' as const, vector_store_ids: [perch.collectionId, 'none'] }];
    await expect(perch.openai.responses.create({ model: MODEL, input: QUESTION, tools })).rejects.toMatchObject({
      ...{ status: 404, param: 'tools[0].vector_store_ids[1]', message: expect.stringContaining('"none"') },
    });
    // The caller has a tool of that name.
    const own = { type: 'function', name: 'file_search', parameters: {} };
    const hidden = await perch.post({ tools: [{ type: 'file_search', vector_store_ids: ['Library'] }, own] });
    expect(hidden.headers.get('x-perch-ignored')).toBe('tools[0]');
  });

  it('is used beside a web search, and both count for `max_tool_calls`', async () => {
    const script: ModelScript = ({ body: { tools } }) =>
      tools
        ? [
            { ...QUERY, id: 'f' },
            { tool: 'web_search', args: { query: 'tulip' }, id: 'w' },
            { ...QUERY, id: 'g' },
          ]
        : ['Done.'];
    await using perch = await open(script);
    const { output } = await perch.openai.responses.create({
      ...{ model: MODEL, input: QUESTION, max_tool_calls: 2, tool_choice: { type: 'file_search' } },
      tools: [{ type: 'web_search' }, { type: 'file_search', vector_store_ids: ['Library'] }],
    });
    expect(output.map((item) => [item.type, 'status' in item ? item.status : ''])).toEqual([
      ['file_search_call', 'completed'],
      ['web_search_call', 'completed'],
      ['file_search_call', 'failed'],
      ['message', 'completed'],
    ]);
    const [first, second] = perch.calls.map(({ body }) => body as (typeof perch.calls)[number]['body'] & { tool_choice?: unknown });
    expect(getToolNames(first?.tools)).toEqual(['web_search', 'file_search']);
    expect(first?.tool_choice).toEqual({ type: 'function', function: { name: 'file_search' } });
    const [passages, pages, limit] = toolResults(second?.messages);
    expect(passages).toMatchObject({ passages: [{ ref: 1 }, { ref: 2 }] });
    expect(pages).toMatchObject({ results: [{ ref: 3 }, { ref: 4 }] });
    expect(limit).toMatchObject({ error: expect.stringContaining('limit') });
    const [label] = await perch.gw.vault.collection('contentLabels').list();
    expect(label?.sources).toEqual(['collection:Library', 'web:flowers.test', 'web:history.test']);
  });

  it('tells the model about bad arguments and a deleted collection', async () => {
    await using perch = await open((_call, count) => {
      if (count === 1) return [{ tool: 'file_search', args: { query: '' } }];
      return count === 2 ? [{ wait: deletion.promise }, QUERY] : ['So.'];
    });
    const deletion = Promise.withResolvers<void>();
    const stream = await perch.openai.responses.create({
      ...{ model: MODEL, input: QUESTION, stream: true },
      tools: [{ type: 'file_search', vector_store_ids: ['Library'] }],
    });
    const items = [];
    for await (const event of stream) {
      if (event.type !== 'response.output_item.done') continue;
      items.push(event.item);
      if (items.length > 1) continue;
      await perch.client.call('collections.delete', { collectionId: perch.collectionId });
      deletion.resolve();
    }
    expect(items.map((item) => ('status' in item ? item.status : ''))).toEqual(['failed', 'failed', 'completed']);
    const [bad, gone] = toolResults(perch.calls.at(-1)?.body.messages);
    expect([bad, gone]).toMatchObject([{ error: expect.stringContaining('invalid') }, { error: expect.stringContaining('No collection') }]);
    expect(perch.gw.faults).toEqual([]);
  });

  verifies('http.file-search/agents', 'attaches the collections to an agent for this answer', async () => {
    const offered: string[][] = [];
    await using perch = await open(({ body: { messages, tools } }) => {
      offered.push(getToolNames(tools));
      if (!offered.at(-1)?.includes('collection_search')) return ['Nothing.'];
      return messages.some(({ role }) => role === 'tool') ? [ANSWER] : [{ ...QUERY, tool: 'collection_search' }];
    });
    const tools = [{ type: 'file_search' as const, vector_store_ids: ['Library'], max_num_results: 3 }];
    const response = await perch.openai.responses.create({ model: 'perch/main', input: QUESTION, tools }).asResponse();
    expect(response.headers.get('x-perch-ignored')).toBe('tools[0].max_num_results');
    expect(await response.json()).toMatchObject({
      output: [{ type: 'message', content: [{ text: VISIBLE, annotations: [{ type: 'file_citation', filename: 'sea/whales.md' }] }] }],
    });
    expect(offered[0]).toContain('collection_read');
    // Without the tool, with filters or in a session, nothing is attached.
    const filters = { type: 'eq', key: 'path', value: 'seals.md' };
    for (const more of [{}, { tools: [{ ...tools[0], filters }] }, { tools, user: 'ana' }]) {
      offered.length = 0;
      const other = await perch.post({ model: 'perch/main', ...more });
      expect(other.headers.get('x-perch-ignored')).toBe('tools' in more ? 'tools[0]' : null);
      expect(offered.flat()).not.toContain('collection_search');
    }
    const refused = await perch.post({ model: 'perch/main', tools, tool_choice: { type: 'file_search' } });
    expect(refused.status).toBe(400);
    expect(perch.gw.faults).toEqual([]);
  });
});
