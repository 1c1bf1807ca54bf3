import { describe, expect, it } from 'vitest';
import type { CitableSource } from '#shared/rpc/passage.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createSearchGateway, type SearchServer } from '../../../../tests/support/search-gateway.ts';
import { SEARCH_KEY, startSearchServer } from '../../../../tests/support/search-server.ts';
import { type ModelScript, waitFor } from '../../../../tests/support/test-gateway.ts';
import { webPort } from '#shared/ports/web-port.ts';
import { createCapability, FakeBridge } from '../../../../tests/support/fake-bridge.ts';
import type { ToolContext } from '../tools/tool-registry.ts';
import { RunTaint } from '../trust/run-taint.ts';
import { createWebSearchTool } from './web-search-tool.ts';

const SERVICES: [string, Record<string, unknown>][] = [
  ['Brave Search', { provider: 'brave', apiKey: SEARCH_KEY }],
  ['Tavily', { provider: 'tavily', apiKey: SEARCH_KEY }],
  ['Tavily', { provider: 'tavily' }],
  ['Exa', { provider: 'exa', apiKey: SEARCH_KEY }],
  ['SearXNG', { provider: 'searxng' }],
  ['openai', { provider: 'model', model: 'openai/gpt-5-mini' }],
  ['claude', { provider: 'model', model: 'claude/claude-haiku' }],
  ['gemini', { provider: 'model', model: 'gemini/gemini-flash' }],
];

const toSettings = (server: SearchServer, settings: Record<string, unknown>): object => ({
  ...settings,
  ...(settings['provider'] === 'model' ? {} : { url: server.url }),
});

describe('each search service', () => {
  for (const [provider, settings] of SERVICES) {
    const name = `${provider}${settings['apiKey'] === undefined && provider === 'Tavily' ? ' without a key' : ''}`;
    verifies('search.web/services', `finds pages: ${name}`, async () => {
      await using server = await startSearchServer();
      const t = await createSearchGateway(server, toSettings(server, settings));
      await using gw = t.gw;
      const found = await t.client.call('web.search', { query: 'tulip' });
      expect(found).toMatchObject({
        provider,
        results: [{ url: 'https://flowers.test/tulips' }, { url: 'https://history.test/mania?year=1637' }],
      });
      expect(found.results).toHaveLength(2);
      expect(found.results[0]).toMatchObject({
        title: 'Tulips & roses',
        snippet: expect.stringMatching(/^A tulip blooms in April\. Bulbs are planted in October\./),
      });
      // Google's search takes no host.
      if (provider !== 'gemini')
        expect(
          (await t.client.call('web.search', { query: 'tulip', site: 'history.test', limit: 1, freshness: 'year' })).results,
        ).toMatchObject([{ url: 'https://history.test/mania?year=1637' }]);
      expect((await t.client.call('web.search', { query: 'submarine' })).results).toEqual([]);
      expect(JSON.stringify(server.requests.map(({ path, params }) => [path, String(params)]))).not.toContain(SEARCH_KEY);
      expect(gw.faults).toEqual([]);
    });
  }

  it('gets the age of pages in its own terms', async () => {
    await using server = await startSearchServer();
    const sent = [];
    for (const [, settings] of SERVICES.slice(0, 5)) {
      const t = await createSearchGateway(server, toSettings(server, settings));
      await using _ = t.gw;
      await t.client.call('web.search', { query: 'tulip', freshness: 'week' });
      const { params, body } = server.requests.at(-1) ?? {};
      sent.push(params?.get('freshness') ?? params?.get('time_range') ?? body?.['time_range'] ?? body?.['startPublishedDate']);
    }
    expect(sent).toEqual(['pw', 'week', 'week', expect.stringMatching(/^\d{4}-\d\d-\d\dT/), 'week']);
  });

  it('counts the tokens of a model that searches', async () => {
    await using server = await startSearchServer();
    const t = await createSearchGateway(server, { provider: 'model', model: 'openai/gpt-5-mini' });
    await using _ = t.gw;
    await t.client.call('web.search', { query: 'tulip' });
    const { byModel } = await t.client.call('usage.get', {});
    expect(byModel).toMatchObject({ 'openai/gpt-5-mini': { totalTokens: 120 } });
  });
});

describe('a search that fails', () => {
  const run = async (server: SearchServer, settings: Record<string, unknown>): Promise<unknown> => {
    const t = await createSearchGateway(server, toSettings(server, settings));
    await using gw = t.gw;
    try {
      return await t.client.call('web.search', { query: 'tulip' }).catch((error: unknown) => error);
    } finally {
      expect(gw.faults).toEqual([]);
    }
  };

  verifies('search.web/errors', 'says that no service is set up, and that a key is missing or wrong', async () => {
    await using server = await startSearchServer();
    const none = await createSearchGateway(server, null);
    await using _ = none.gw;
    await expect(none.client.call('web.search', { query: 'tulip' })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: 'Web search is not set up. Choose a search service in Settings.',
    });
    for (const [provider, says] of [
      ['brave', /Brave Search needs an API key/],
      ['exa', /Exa needs an API key/],
    ] as const)
      expect(await run(server, { provider })).toMatchObject({ code: 'INVALID_PARAMS', message: expect.stringMatching(says) });
    expect(server.requests).toEqual([]);
    for (const [provider, says] of [
      ['brave', /Brave Search rejected the API key or the query \(HTTP 422\)/],
      ['tavily', /Tavily rejected the API key \(HTTP 401\): .*Unauthorized/],
      ['exa', /Exa rejected the API key \(HTTP 401\): Invalid API key/],
    ] as const)
      expect(await run(server, { provider, apiKey: 'wrong-key-123' })).toMatchObject({
        code: 'INTERNAL_ERROR',
        message: expect.stringMatching(says),
      });
    expect(server.requests).toHaveLength(3);
  });

  verifies('search.web/errors', 'says that a quota is used up and how long to wait', async () => {
    await using server = await startSearchServer();
    server.faults.push({
      status: 429,
      headers: { 'x-ratelimit-remaining': '0, 0', 'x-ratelimit-reset': '1, 1419704' },
      body: '{"type":"ErrorResponse","error":{"code":"RATE_LIMITED","detail":"Request rate limit exceeded for plan."}}',
    });
    expect(await run(server, { provider: 'brave', apiKey: SEARCH_KEY })).toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringMatching(/Brave Search is limiting requests.*Try again in 395 h/),
    });
    server.faults.push({ status: 432, body: '{"detail":{"error":"This request exceeds your plan\'s set usage limit."}}' });
    expect(await run(server, { provider: 'tavily', apiKey: SEARCH_KEY })).toMatchObject({
      message: expect.stringContaining('The quota of Tavily is used up (HTTP 432)'),
    });
    server.faults.push({ status: 429, headers: { 'retry-after': '120' } });
    expect(await run(server, { provider: 'exa', apiKey: SEARCH_KEY })).toMatchObject({
      code: 'RATE_LIMITED',
      extra: { retryAfterMs: 120_000 },
    });
  });

  verifies('search.web/errors', 'is tried again after a failure of the server, and explains what it sent', async () => {
    await using server = await startSearchServer();
    const clock = new FakeClock();
    const t = await createSearchGateway(server, toSettings(server, { provider: 'searxng' }), { clock });
    await using gw = t.gw;
    const search = async (count: number): Promise<unknown> => {
      const before = server.requests.length;
      let isDone = false;
      const found = t.client
        .call('web.search', { query: 'tulip' })
        .catch((error: unknown) => error)
        .finally(() => (isDone = true));
      await waitFor(() => {
        // The waits between attempts.
        clock.advance(100);
        return isDone;
      });
      expect(server.requests.length - before).toBe(count);
      return found;
    };
    server.faults.push({ status: 503 }, 'break');
    expect(await search(3)).toMatchObject({ results: [{ title: 'Tulips & roses' }, {}] });
    server.faults.push({ status: 500 }, { status: 502 }, { status: 503, body: 'overloaded' });
    expect(await search(3)).toMatchObject({ code: 'INTERNAL_ERROR', message: 'SearXNG failed (HTTP 503): overloaded.' });
    server.faults.push({ status: 200, body: '<html>' }, { status: 200, body: '{"results":5}' }, { status: 200, body: '' });
    expect(await search(3)).toMatchObject({ message: 'SearXNG sent a response that Perch can’t read.' });
    server.state.isJsonAllowed = false;
    expect(await search(1)).toMatchObject({ message: expect.stringContaining('Add `json` to `search.formats` in its settings.yml') });
    server.state.isJsonAllowed = true;
    server.faults.push({ status: 302, headers: { location: 'http://169.254.169.254/' } });
    expect(await search(1)).toMatchObject({ message: expect.stringContaining('SearXNG redirects to another URL') });
    expect(gw.faults).toEqual([]);
  });

  it('ends after 15 seconds without a response', async () => {
    await using server = await startSearchServer();
    const clock = new FakeClock();
    const t = await createSearchGateway(server, toSettings(server, { provider: 'searxng' }), { clock });
    await using _ = t.gw;
    server.faults.push('hang');
    const hanging = t.client.call('web.search', { query: 'tulip' });
    let isDone = false;
    void hanging.catch(() => {}).finally(() => (isDone = true));
    await waitFor(() => server.requests.length === 1);
    const began = clock.now();
    await waitFor(() => {
      clock.advance(1000);
      return isDone;
    });
    expect(clock.now() - began).toBeGreaterThanOrEqual(14_000);
    await expect(hanging).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: expect.stringContaining('15 s') });
    expect(server.requests).toHaveLength(1);
  });

  it('names engines of SearXNG that did not respond', async () => {
    await using server = await startSearchServer([]);
    server.state.silentEngines = [
      ['google', 'timeout'],
      ['bing', 'CAPTCHA'],
    ];
    expect(await run(server, { provider: 'searxng' })).toMatchObject({
      results: [],
      note: 'These search engines did not respond: google, bing.',
    });
  });

  it('refuses settings that cannot search, and does not send a key to another address', async () => {
    await using server = await startSearchServer();
    const t = await createSearchGateway(server, toSettings(server, { provider: 'brave', apiKey: SEARCH_KEY }));
    await using _ = t.gw;
    const set = (webSearch: object): Promise<unknown> => t.client.call('config.patch', { patch: { tools: { webSearch } } });
    await expect(set({ provider: 'searxng', url: null })).rejects.toThrow('`tools.webSearch.url` is required for SearXNG');
    await expect(set({ provider: 'model' })).rejects.toThrow('`tools.webSearch.model` is required');
    await expect(set({ url: 'ftp://x.test' })).rejects.toThrow('must be an http or https URL');
    await expect(set({ url: 'http://127.0.0.1:1' })).rejects.toThrow('must be entered again');
    expect(await t.client.call('config.get', { key: 'tools.webSearch.apiKey' })).toMatchObject({ value: '***' });
    await set({ provider: 'model', model: 'gone/model', apiKey: null, url: null });
    await expect(t.client.call('web.search', { query: 'x' })).rejects.toThrow('has no provider');
  });
});

describe('the tool', () => {
  verifies('search.web/tool', 'is offered once a service is set up', async () => {
    await using server = await startSearchServer();
    const t = await createSearchGateway(server, null);
    await using gw = t.gw;
    const offered = async (): Promise<boolean> => {
      await t.client.call('chat.send', { sessionId: 'main', message: 'Hi' });
      return JSON.stringify(t.model.calls.at(-1)?.body.tools).includes('web_search');
    };
    expect(await offered()).toBe(false);
    await expect(t.client.call('tools.run', { tool: 'web_search', args: { query: 'x' } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await t.client.call('config.set', { key: 'tools.webSearch', value: { provider: 'searxng', url: server.url } });
    expect(await offered()).toBe(true);
    expect(gw.faults).toEqual([]);
  });

  verifies('search.web/tool', 'cites its results, taints the run, and asks for nothing', async () => {
    await using server = await startSearchServer();
    const calls = [[{ query: 'tulip' }], [{ query: 'tulip roses' }, { query: '' }, { query: 'x', site: 'https://a.test/b' }]];
    const steps: ModelScript = (_call, count) => calls[count - 1]?.map((args) => ({ tool: 'web_search', args })) ?? ['done'];
    const t = await createSearchGateway(server, toSettings(server, { provider: 'searxng' }), { model: steps });
    await using gw = t.gw;
    await t.client.call('chat.send', { sessionId: 'main', message: 'What blooms?' });
    expect((await t.client.call('approvals.list', {})).approvals).toEqual([]);
    const { messages } = await t.client.call('chat.history', { sessionId: 'main' });
    expect(messages.at(-1)).toMatchObject({ outside: ['web:flowers.test', 'web:history.test'] });
    const results = JSON.stringify(t.model.calls.at(-1)?.body.messages);
    expect(results).toContain('https://flowers.test/tulips');
    expect(results).toContain('Titles and snippets come from outside');
    expect(results).toContain('Invalid arguments for web_search');
    expect(server.requests).toHaveLength(2);
    expect(gw.faults).toEqual([]);
  });

  verifies('search.web/tool', 'opens what it found without asking; other pages and private hosts ask', async () => {
    await using server = await startSearchServer([
      { title: 'Tulips', url: 'https://flowers.test/tulips', text: 'Tulips' },
      { title: 'Private', url: 'http://nas.test:8080/', text: 'Private' },
    ]);
    const fetched: string[] = [];
    const bridge = new FakeBridge(
      createCapability(webPort, {
        'web.fetch': async ({ url }) => {
          fetched.push(url);
          return { url, status: 200, contentType: 'text/plain', body: btoa('Tulips bloom in April.') };
        },
      }),
    );
    const urls = ['https://flowers.test/tulips', 'http://nas.test:8080/', 'https://flowers.test/tulips?note=secret'];
    const model: ModelScript = (_call, count) =>
      count === 1
        ? [{ tool: 'web_search', args: { query: 'tulip' } }]
        : count === 2
          ? urls.map((url) => ({ tool: 'web_fetch', args: { url } }))
          : ['done'];
    const t = await createSearchGateway(server, { provider: 'searxng', url: server.url }, { model, bridge });
    await using gw = t.gw;
    await t.client.call('config.set', { key: 'tools.webFetch.allow', value: ['nas.test:8080'] });
    const sent = t.client.call('chat.send', { sessionId: 'main', message: 'What blooms?' });
    const list = async () => (await t.client.call('approvals.list', {})).approvals;
    await waitFor(async () => fetched.length === 1 && (await list()).length === 2);
    expect(fetched).toEqual(['https://flowers.test/tulips']);
    const approvals = await list();
    expect(approvals.map(({ summary }) => summary).sort()).toEqual(urls.slice(1).map((url) => `Fetch ${url}`));
    for (const { id } of approvals) await t.client.call('approvals.resolve', { id, decision: 'deny' });
    await sent;
    expect(gw.faults).toEqual([]);
    bridge.detach();
  });

  verifies('search.web/hosted', 'runs for a hosted web search of /v1/responses', async () => {
    await using server = await startSearchServer();
    const script: ModelScript = ({ body }) =>
      body.messages.at(-1)?.role === 'tool' ? ['In April.'] : [{ tool: 'web_search', args: { query: 'tulip' } }];
    const t = await createSearchGateway(server, null, { model: script });
    await using gw = t.gw;
    const post = async (model: string): Promise<[string | null, unknown, unknown]> => {
      const tools = [{ type: 'web_search_preview' }];
      const request = new Request('http://gateway.test/v1/responses', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, input: 'When do tulips bloom?', tools }),
      });
      const response = await gw.gateway.fetch(request, { id: 'owner', scopes: ['admin'] });
      const { tools: echo, output } = (await response.json()) as { tools: unknown; output: { content: { text: string }[] }[] };
      return [response.headers.get('x-perch-ignored'), echo, output.at(-1)?.content?.[0]?.text];
    };
    expect((await post('perch/main')).slice(0, 2)).toEqual(['tools[0]', []]);
    expect(server.requests).toEqual([]);
    await t.client.call('config.set', { key: 'tools.webSearch', value: { provider: 'searxng', url: server.url } });
    expect(await post('perch/main')).toEqual([null, [{ type: 'web_search_preview' }], 'In April.']);
    expect(server.requests).toHaveLength(1);
    expect(await post('test/scripted')).toEqual([null, [{ type: 'web_search_preview' }], 'In April.']);
    expect(gw.faults).toEqual([]);
  });

  it('gives each result the number by which an answer cites it', async () => {
    const results = [{ title: 'Tulips', url: 'https://flowers.test/tulips', snippet: 'In April' }];
    const tool = createWebSearchTool({
      canSearch: () => true,
      webSearch: { load: async () => ({ search: async () => ({ provider: 'S', results }) }) as never },
    });
    const cited: CitableSource[] = [];
    const taint = new RunTaint();
    const context: ToolContext = {
      ...{ agentId: 'main', sessionKey: 'main/main', runId: 'r', principal: 'owner', signal: new AbortController().signal, taint },
      cite: (sources) => sources.map((source) => cited.push(source) + 4),
    };
    expect(await tool.run({ query: 'tulips' }, context)).toMatchObject({ results: [{ ref: 5, url: 'https://flowers.test/tulips' }] });
    expect(cited).toEqual([
      { id: 'https://flowers.test/tulips', kind: 'web', title: 'Tulips', text: 'In April', url: 'https://flowers.test/tulips' },
    ]);
    expect(taint.sources).toEqual(['web:flowers.test']);
  });
});

verifies('search.web/off', 'a chat can do without the web, and its sub-agents too', async () => {
  await using server = await startSearchServer();
  const script: ModelScript = ({ body }) => {
    const asked = String(body.messages.findLast(({ role }) => role === 'user')?.content);
    if (body.messages.at(-1)?.role === 'tool') return ['done'];
    return asked === 'Search'
      ? [
          { tool: 'agent_run', args: { task: 'Find' } },
          { tool: 'web_search', args: { query: 'tulip' } },
        ]
      : [{ tool: 'web_search', args: { query: 'tulip' } }];
  };
  const t = await createSearchGateway(server, toSettings(server, { provider: 'searxng' }), { model: script });
  await using gw = t.gw;
  const path = 'main/quiet.jsonl';
  await t.client.call('sessions.setWeb', { path, enabled: false, create: true });
  await t.client.call('chat.send', { sessionId: 'quiet', message: 'Search' });
  expect(server.requests).toEqual([]);
  expect(JSON.stringify(t.model.calls[0]?.body.tools)).not.toContain('web_');
  expect(t.model.calls).toHaveLength(4);
  expect(await t.client.call('sessions.setWeb', { path, enabled: true })).toMatchObject({ session: { web: true } });
  await t.client.call('chat.send', { sessionId: 'quiet', message: 'Search' });
  expect(server.requests).toHaveLength(2);
  expect(gw.faults).toEqual([]);
});
