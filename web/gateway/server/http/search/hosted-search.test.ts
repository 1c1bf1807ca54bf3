import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Scope } from '#shared/rpc/scopes.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { createSearchGateway, type SearchServer } from '../../../../../tests/support/search-gateway.ts';
import { startSearchServer } from '../../../../../tests/support/search-server.ts';
import type { ModelScript } from '../../../../../tests/support/test-gateway.ts';

const BASE = 'http://127.0.0.1:7333';
const MODEL = 'test/scripted';
const TULIPS = 'https://flowers.test/tulips';
const MANIA = 'https://history.test/mania?year=1637';
const ANSWER = 'A tulip blooms in April [1]. That is all.';
const QUESTION = 'When do tulips bloom?';
const QUERY = { tool: 'web_search', args: { query: 'tulip' } };
const own = { type: 'function' as const, name: 'note', parameters: {}, strict: null };

let server: SearchServer;
beforeAll(async () => {
  server = await startSearchServer();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.requests.length = 0;
  server.faults.length = 0;
});

/** A gateway whose model searches once, unless it has another script, and clients of its API. */
async function open({ model, isSetUp = true }: { model?: ModelScript; isSetUp?: boolean } = {}) {
  const settings = { provider: 'searxng', url: server.url };
  const {
    gw,
    client,
    model: scripted,
  } = await createSearchGateway(server, isSetUp ? settings : null, {
    model: model ?? ((_call, count) => (count % 2 === 1 ? [QUERY] : ANSWER.split(/(?= )/))),
  });
  const ask = (id: string, scopes: Scope[]) => (url: string | URL | Request, init?: RequestInit) =>
    gw.gateway.fetch(new Request(url, init), { id, scopes });
  const post = (path: string, body: object, id = 'owner', scopes: Scope[] = ['admin']) =>
    ask(id, scopes)(`${BASE}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return {
    ...{ gw, client, post },
    calls: scripted.calls,
    openai: new OpenAI({ baseURL: `${BASE}/v1`, apiKey: 'none', maxRetries: 0, fetch: ask('owner', ['admin']) }),
    anthropic: new Anthropic({ baseURL: BASE, apiKey: 'none', maxRetries: 0, fetch: ask('owner', ['admin']) }),
    [Symbol.asyncDispose]: () => gw[Symbol.asyncDispose](),
  };
}

const toolResults = (messages: { role: string; content: unknown }[] = []): Record<string, unknown>[] =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(String(content)) as Record<string, unknown>);

describe('/v1/responses', () => {
  verifies('http.search/responses', 'searches for a model that asks, shows it, and cites the pages', async () => {
    await using perch = await open();
    const request = { model: MODEL, input: QUESTION, tools: [{ type: 'web_search' as const }] };
    const response = await perch.openai.responses.create({ ...request, include: ['web_search_call.action.sources'] });
    expect(response.output).toMatchObject([
      {
        type: 'web_search_call',
        status: 'completed',
        action: { type: 'search', query: 'tulip', sources: [{ type: 'url', url: TULIPS }, { url: MANIA }] },
      },
      {
        type: 'message',
        content: [
          {
            text: 'A tulip blooms in April. That is all.',
            annotations: [{ type: 'url_citation', url: TULIPS, title: 'Tulips & roses', start_index: 0, end_index: 23 }],
          },
        ],
      },
    ]);
    expect(response.tools).toEqual(request.tools);
    const [first, second] = perch.calls;
    expect(first?.body.tools).toMatchObject([{ function: { name: 'web_search' } }]);
    expect(toolResults(second?.body.messages)).toMatchObject([
      {
        results: [
          { ref: 1, url: TULIPS },
          { ref: 2, url: MANIA },
        ],
      },
    ]);

    const events = [];
    for await (const event of await perch.openai.responses.create({ ...request, stream: true })) events.push(event);
    expect(events.map(({ type }) => type).filter((type) => /search|item|annotation|completed/.test(type))).toEqual([
      'response.output_item.added',
      'response.web_search_call.in_progress',
      'response.web_search_call.searching',
      'response.web_search_call.completed',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_text.annotation.added',
      'response.output_item.done',
      'response.completed',
    ]);
    // An agent that gets this answer back as an earlier turn knows that pages influenced it.
    expect((await perch.gw.vault.collection('contentLabels').list()).map(({ id, sources }) => [id.split(':')[0], sources])).toContainEqual([
      'reply',
      ['web:flowers.test', 'web:history.test'],
    ]);
    // A later turn leaves the search out: only its answer is part of the conversation.
    await perch.openai.responses.create({ ...request, tools: [], previous_response_id: response.id });
    expect(perch.calls.at(-1)?.body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'A tulip blooms in April. That is all.' },
      { role: 'user' },
    ]);
    expect(perch.gw.faults).toEqual([]);
  });

  it('counts the usage of all steps, and keeps to `max_tool_calls`, `filters` and `tool_choice`', async () => {
    await using perch = await open({ model: ({ body }) => (body.tools ? [QUERY] : ['Done.']) });
    const response = await perch.openai.responses.create({
      ...{ model: MODEL, input: QUESTION, max_tool_calls: 2, tool_choice: { type: 'web_search_preview' } },
      tools: [{ type: 'web_search', filters: { allowed_domains: ['https://history.test', 'other.test'] } }],
      include: ['web_search_call.action.sources'],
    });
    expect(response.output.map(({ type }) => type)).toEqual(['web_search_call', 'web_search_call', 'message']);
    expect(response.output[0]).toMatchObject({ action: { sources: [{ url: MANIA }] } });
    const bodies = perch.calls.map(({ body }) => body as { tool_choice?: unknown; tools?: unknown });
    expect(bodies.map(({ tool_choice, tools }) => [tool_choice, tools !== undefined])).toEqual([
      [{ type: 'function', function: { name: 'web_search' } }, true],
      [undefined, true],
      [undefined, false],
    ]);
    const [recorded] = await perch.gw.vault.usage.since(0);
    expect([response.usage?.total_tokens, recorded?.principal]).toEqual([recorded?.usage.totalTokens, 'owner']);
  });

  verifies('http.search/own-tools', 'leaves the caller’s tools to the caller, alone in a step', async () => {
    const call = { tool: 'note', args: { text: 'April' }, id: 'n1' };
    await using perch = await open({ model: (_call, count) => (count === 1 ? [{ ...QUERY, id: 's1' }, call] : [call]) });
    const { output } = await perch.openai.responses.create({ model: MODEL, input: QUESTION, tools: [own, { type: 'web_search' }] });
    expect(output).toMatchObject([{ type: 'web_search_call' }, { type: 'function_call', name: 'note', call_id: 'n1' }]);
    expect(toolResults(perch.calls[1]?.body.messages)).toMatchObject([
      { results: [{}, {}] },
      { error: expect.stringContaining('Not run') },
    ]);
  });

  verifies('http.search/unavailable', 'ignores the tool without a service, or for a key that may not search', async () => {
    const body = { model: MODEL, input: QUESTION, tools: [{ type: 'web_search' }], max_tool_calls: 1 };
    const refuse = async (response: Response) => [response.status, ((await response.json()) as { error: { param: string } }).error.param];
    {
      await using perch = await open({ isSetUp: false, model: () => ['Hi'] });
      const response = await perch.post('/v1/responses', body);
      expect([response.status, response.headers.get('x-perch-ignored')]).toEqual([200, 'tools[0], max_tool_calls']);
      for (const tool_choice of ['required', { type: 'web_search' }])
        expect(await refuse(await perch.post('/v1/responses', { ...body, tool_choice }))).toEqual([400, 'tool_choice']);
      expect((await perch.post('/v1/responses', { ...body, tool_choice: 'none' })).status).toBe(200);
    }
    await using perch = await open({ model: ({ body: { tools } }) => [tools ? 'can' : 'can’t'] });
    const { key } = await perch.client.call('keys.create', { name: 'Limited', scopes: ['v1'] });
    const limited = await perch.post('/v1/responses', body, `key:${key.id}`, key.scopes);
    expect(limited.headers.get('x-perch-ignored')).toBe('tools[0], max_tool_calls');
    expect(await limited.text()).toContain('can’t');
    // Only stored pages may be read, or the caller has a tool of that name.
    for (const tools of [[{ type: 'web_search', external_web_access: false }], [{ type: 'web_search' }, { ...own, name: 'web_search' }]])
      expect((await perch.post('/v1/responses', { ...body, tools })).headers.get('x-perch-ignored')).toBe('tools[0], max_tool_calls');
    expect(server.requests).toEqual([]);
  });

  it('tells the model about a failed search and a composed address, and shows both as failed', async () => {
    server.faults.push({ status: 400, body: 'no room' });
    const queries = ['tulip', 'https://evil.test/?secret=42', 'https://known.test/a tulip'];
    await using perch = await open({
      model: (_call, count) =>
        count === 1 ? queries.map((query, at) => ({ tool: 'web_search', args: { query }, id: `s${at}` })) : ['So.'],
    });
    const input = `${QUESTION} See https://known.test/a`;
    const { output } = await perch.openai.responses.create({ model: MODEL, input, tools: [{ type: 'web_search' }] });
    expect(output.map((item) => ('status' in item ? item.status : ''))).toEqual(['failed', 'failed', 'completed', 'completed']);
    const [failed, composed, quoted] = toolResults(perch.calls[1]?.body.messages);
    expect([failed, composed]).toMatchObject([{ error: expect.any(String) }, { error: expect.stringContaining('address') }]);
    expect(quoted).toHaveProperty('results');
    expect(server.requests.some(({ params }) => params.get('q')?.includes('evil'))).toBe(false);
  });
});

describe('/v1/messages', () => {
  verifies('http.search/messages', 'searches for a model that asks, shows it, and cites the pages', async () => {
    await using perch = await open();
    const params = {
      ...{ model: MODEL, max_tokens: 200, messages: [{ role: 'user' as const, content: QUESTION }] },
      tools: [{ type: 'web_search_20250305' as const, name: 'web_search' as const, blocked_domains: ['history.test'] }],
    };
    const citation = { type: 'web_search_result_location', url: TULIPS, title: 'Tulips & roses', cited_text: 'A tulip blooms in April.' };
    const search = [
      { type: 'server_tool_use', name: 'web_search', input: { query: 'tulip' } },
      { type: 'web_search_tool_result', content: [{ type: 'web_search_result', url: TULIPS, page_age: '2026-04-02T08:00:00' }] },
    ];
    const whole = await perch.anthropic.messages.create(params);
    expect(whole.content).toMatchObject([
      ...search,
      { type: 'text', text: 'A tulip blooms in April', citations: [citation] },
      { type: 'text', text: '. That is all.', citations: null },
    ]);
    const [use, result] = whole.content as unknown as { id: string; tool_use_id: string }[];
    expect(result?.tool_use_id).toBe(use?.id);
    expect(whole.usage.server_tool_use).toEqual({ web_search_requests: 1, web_fetch_requests: 0 });
    expect(whole.stop_reason).toBe('end_turn');
    const streamed = await perch.anthropic.messages.stream(params).finalMessage();
    expect(streamed.content).toMatchObject([...search, { text: 'A tulip blooms in April. That is all.', citations: [citation] }]);
    // The blocks come back with the next turn.
    const messages = [
      ...params.messages,
      { role: 'assistant' as const, content: whole.content },
      { role: 'user' as const, content: 'So?' },
    ];
    await perch.anthropic.messages.create({ ...params, messages: messages as Anthropic.MessageParam[] });
    expect(perch.gw.faults).toEqual([]);
  });

  it('gives each search an id of its own, whatever the server calls them', async () => {
    await using perch = await open({ model: (_call, count) => (count < 3 ? [{ ...QUERY, id: 'same' }] : ['Done.']) });
    const response = await perch.post('/v1/messages', {
      ...{ model: MODEL, max_tokens: 200, messages: [{ role: 'user', content: QUESTION }] },
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    });
    const { content } = (await response.json()) as { content: { type: string; id?: string; tool_use_id?: string }[] };
    const uses = content.flatMap(({ id }) => id ?? []);
    expect(new Set(uses).size).toBe(2);
    expect(content.flatMap(({ tool_use_id }) => tool_use_id ?? [])).toEqual(uses);
  });

  it('stops at `max_uses`, and names what has no effect', async () => {
    await using perch = await open({ model: ({ body }) => (body.tools ? [QUERY] : ['Done.']) });
    const tool = { type: 'web_search_20260209', name: 'web_search', max_uses: 1, user_location: { type: 'approximate', city: 'Köln' } };
    const body = { model: MODEL, max_tokens: 200, messages: [{ role: 'user', content: QUESTION }] };
    const tool_choice = { type: 'tool', name: 'web_search' };
    const response = await perch.post('/v1/messages', {
      ...body,
      tools: [tool, { type: 'web_fetch_20250910', name: 'web_fetch' }],
      tool_choice,
    });
    expect(response.headers.get('x-perch-ignored')).toBe('tools[0].user_location, tools[1](web_fetch_20250910)');
    expect(await response.json()).toMatchObject({ content: [{}, {}, { type: 'text', text: 'Done.' }], stop_reason: 'end_turn' });
    expect(perch.calls.map(({ body: { tools } }) => tools !== undefined)).toEqual([true, false]);
    // An agent runs its own search.
    const agent = await perch.post('/v1/messages', { ...body, model: 'perch/main', tools: [tool] });
    expect([agent.status, agent.headers.get('x-perch-ignored')]).toEqual([200, null]);
  });
});
