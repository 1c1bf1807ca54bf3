import { createServer } from 'node:http';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { verifies } from '../../../tests/requirements.ts';
import { startUpstream } from '../../../tests/test-upstream.ts';
import { systemClock } from '#shared/async/clock.ts';
import type { Fetch } from '../ports/fetch.ts';
import { GuideProvider } from '../agent/guide/guide.ts';
import { LOCAL_SERVERS } from './server-discovery.ts';
import { Providers } from './providers.ts';

const sources = () => ({ memories: () => Promise.resolve([]), messages: () => Promise.resolve([]) });
const guide = new GuideProvider({ clock: systemClock, sources, paceMs: 0 });
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function upstream(options: Parameters<typeof startUpstream>[0] = {}): ReturnType<typeof startUpstream> {
  const server = await startUpstream(options);
  cleanups.push(() => server.close());
  return server;
}

/** A server on a port that is not a model server. */
async function startOtherServer(body: string, type = 'text/html'): Promise<number> {
  const server = createServer((_req, res) => void res.writeHead(200, { 'content-type': type }).end(body)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function providers(options: Partial<ConstructorParameters<typeof Providers>[0]> = {}): {
  all: Providers;
  clock: FakeClock;
  asked: string[];
} {
  const clock = new FakeClock();
  const asked: string[] = [];
  const counting: Fetch = (url, init) => {
    asked.push(url);
    return fetch(url, init);
  };
  return { all: new Providers({ guide, fetch: counting, clock, localServers: [], ...options }), clock, asked };
}

const keys = (models: { key: string }[]): string[] => models.map(({ key }) => key);

describe('discovery', () => {
  it('looks where the usual servers are', () => {
    expect(LOCAL_SERVERS.map(({ id, port }) => `${id} ${port}`)).toEqual(['ollama 11434', 'lmstudio 1234', 'llamacpp 8080', 'vllm 8000']);
  });

  verifies('providers/discovery', 'finds model servers, passes over strangers and closed ports', async () => {
    const ollama = await upstream({ models: ['llama3.2', 'qwen3'] });
    const closed = await upstream();
    await closed.close();
    const { all } = providers({
      localServers: [
        { id: 'ollama', name: 'Ollama', port: ollama.port },
        { id: 'lmstudio', name: 'LM Studio', port: closed.port },
        { id: 'llamacpp', name: 'llama.cpp', port: await startOtherServer('<html>router</html>') },
        { id: 'vllm', name: 'vLLM', port: await startOtherServer('{"data":"nothing"}', 'application/json') },
      ],
    });
    expect(keys(await all.list())).toEqual(['guide/guide', 'ollama/llama3.2', 'ollama/qwen3']);
    expect(await all.listStates()).toMatchObject([
      { id: 'guide', kind: 'guide', state: 'ready', models: 1 },
      { id: 'ollama', name: 'Ollama', kind: 'ollama', state: 'ready', discovered: true, models: 2 },
    ]);
    expect(await all.resolve('ollama/qwen3')).toMatchObject({ key: 'ollama/qwen3', model: 'qwen3', provider: { id: 'ollama' } });
  });

  it('waits a second for a server that does not answer', async () => {
    const { all, clock } = providers({ fetch: () => new Promise(() => {}), localServers: [{ id: 'ollama', name: 'Ollama', port: 1 }] });
    const listing = all.list();
    await clock.waitForTimer(1000);
    clock.advance(1000);
    expect(keys(await listing)).toEqual(['guide/guide']);
  });

  it('is found by name although nothing was listed before', async () => {
    const ollama = await upstream();
    const { all } = providers({ localServers: [{ id: 'ollama', name: 'Ollama', port: ollama.port }] });
    expect((await all.resolve('ollama/normal')).provider.name).toBe('Ollama');
  });

  it('knows a server without a model, and the null that Ollama lists then', async () => {
    const port = await startOtherServer('{"object":"list","data":null}', 'application/json');
    const { all } = providers({ localServers: [{ id: 'ollama', name: 'Ollama', port }] });
    expect(await all.listStates()).toMatchObject([{ id: 'guide' }, { id: 'ollama', state: 'ready', models: 0 }]);
  });

  it('steps back for what is configured by hand', async () => {
    const server = await upstream();
    const { all } = providers({ localServers: [{ id: 'ollama', name: 'Ollama', port: server.port }] });
    all.configure([{ id: 'mine', name: 'Mine', baseUrl: `${server.url}/` }]);
    expect((await all.listStates()).map(({ id }) => id)).toEqual(['guide', 'mine']);
  });
});

describe('lists and states', () => {
  it('are kept for a minute, and asked for again by refresh', async () => {
    const server = await upstream();
    const { all, clock, asked } = providers();
    all.configure([{ id: 'mine', name: 'Mine', baseUrl: server.url }]);
    await Promise.all([all.list(), all.list(), all.listStates()]);
    clock.advance(59_000);
    await all.list();
    expect(asked).toHaveLength(1);
    await all.listStates({ refresh: true });
    expect(asked).toHaveLength(2);
    clock.advance(60_000);
    await all.list();
    expect(asked).toHaveLength(3);
  });

  it('tell a missing key from a server that is gone', async () => {
    const locked = await upstream({ apiKey: 'k' });
    const gone = await upstream();
    await gone.close();
    const { all } = providers();
    all.configure([
      { id: 'locked', name: 'Locked', baseUrl: locked.url },
      { id: 'open', name: 'Open', baseUrl: locked.url, apiKey: 'k' },
      { id: 'gone', name: 'Gone', baseUrl: gone.url },
      { id: 'page', name: 'Page', baseUrl: `http://127.0.0.1:${await startOtherServer('<html></html>')}/v1` },
    ]);
    expect(await all.listStates()).toMatchObject([
      { id: 'guide' },
      { id: 'locked', state: 'needs_key', message: expect.stringContaining('API key') },
      { id: 'open', state: 'ready', models: 2 },
      { id: 'gone', state: 'unreachable', message: expect.stringContaining('Couldn’t reach') },
      { id: 'page', state: 'unreachable', message: expect.stringContaining('does not list models') },
    ]);
  });

  it('keep the last good list', async () => {
    const server = await upstream();
    const { all } = providers();
    all.configure([{ id: 'mine', name: 'Mine', baseUrl: server.url }]);
    const before = keys(await all.list());
    await server.close();
    expect(keys(await all.list({ refresh: true }))).toEqual(before);
    expect(await all.listStates()).toMatchObject([{ id: 'guide' }, { state: 'unreachable', models: 2 }]);
  });

  it('are requested again over another route, even if the last response arrives later', async () => {
    const server = await upstream();
    let way: Fetch = () => Promise.reject(new TypeError('not allowed from here'));
    const { all } = providers({ fetch: (url, init) => way(url, init) });
    all.configure([{ id: 'mine', name: 'Mine', baseUrl: server.url }]);
    expect(await all.listStates()).toMatchObject([{ id: 'guide' }, { state: 'unreachable' }]);
    way = fetch;
    expect(await all.listStates()).toMatchObject([{ id: 'guide' }, { state: 'unreachable' }]);
    all.handleConnectionChange();
    expect(await all.listStates()).toMatchObject([{ id: 'guide' }, { state: 'ready' }]);

    const answer = Promise.withResolvers<Response>();
    const asked = new Promise<void>((resolve) => (way = () => (resolve(), answer.promise)));
    const states = all.listStates({ refresh: true });
    await asked;
    way = fetch;
    all.handleConnectionChange();
    answer.reject(new TypeError('not allowed from here'));
    await states;
    expect(await all.listStates()).toMatchObject([{ id: 'guide' }, { state: 'ready' }]);
  });

  it('wait 5 s for a provider, and not for all one after another', async () => {
    const { all, clock } = providers({ fetch: () => new Promise(() => {}) });
    all.configure(['a', 'b'].map((id) => ({ id, name: id, baseUrl: `http://127.0.0.1:1/${id}` })));
    const states = all.listStates();
    await clock.waitForTimer(5000);
    clock.advance(5000);
    expect(await states).toMatchObject([{ id: 'guide' }, { state: 'unreachable' }, { state: 'unreachable' }]);
  });

  it('survive a change of other providers', async () => {
    const server = await upstream();
    const { all, asked } = providers();
    const mine = { id: 'mine', name: 'Mine', baseUrl: server.url };
    all.configure([mine]);
    await all.list();
    all.configure([{ ...mine }, { id: 'two', name: 'Two', baseUrl: `${server.url}#` }]);
    const { provider } = await all.resolve('mine/normal');
    all.configure([mine]);
    expect((await all.resolve('mine/normal')).provider).toBe(provider);
    expect(asked).toHaveLength(1);
    all.configure([{ ...mine, apiKey: 'new' }]);
    expect((await all.resolve('mine/normal')).provider).not.toBe(provider);
  });
});

describe('resolve', () => {
  it('means the guide when nothing is chosen', async () => {
    const { all } = providers();
    for (const model of [undefined, 'guide/guide'])
      expect(await all.resolve(model)).toMatchObject({ key: 'guide/guide', model: 'guide', provider: guide });
    expect(await all.resolve(undefined, 'guide')).toMatchObject({ key: 'guide/guide' });
  });

  it('takes keys, bare ids, ids with slashes, and a provider beside', async () => {
    const one = await upstream({ models: ['meta/llama', 'small'] });
    const two = await upstream({ models: ['small', 'other'] });
    const { all } = providers();
    all.configure([
      { id: 'one', name: 'One', baseUrl: one.url },
      { id: 'two', name: 'Two', baseUrl: two.url },
    ]);
    const key = async (model?: string, provider?: string): Promise<string> => (await all.resolve(model, provider)).key;
    expect(await key('one/meta/llama')).toBe('one/meta/llama');
    expect(await key('meta/llama')).toBe('one/meta/llama');
    expect(await key('small')).toBe('one/small');
    expect(await key('small', 'two')).toBe('two/small');
    expect(await key('two/small', 'two')).toBe('two/small');
    expect(await key(undefined, 'two')).toBe('two/small');
    expect(await key('one/not-listed')).toBe('one/not-listed');
  });

  it('returns NOT_FOUND for an unknown model', async () => {
    const { all } = providers();
    for (const [model, provider] of [
      ['nope'],
      ['no/pe'],
      ['guide/other'],
      ['x', 'nobody'],
      ['constructor'],
      ['__proto__/x'],
      ['/x'],
      ['x/'],
    ] as const) {
      await expect(all.resolve(model, provider), model).rejects.toMatchObject({ name: 'RpcError', code: 'NOT_FOUND' });
    }
  });
});

verifies('providers/keys', 'a key goes to its own origin alone', async () => {
  const one = await upstream({ apiKey: 'key-one' });
  const two = await upstream();
  const { all } = providers({ localServers: [{ id: 'ollama', name: 'Ollama', port: two.port }] });
  all.configure([{ id: 'one', name: 'One', baseUrl: one.url, apiKey: 'key-one' }]);
  const shown = JSON.stringify([await all.list(), await all.listStates()]);
  const { provider, model } = await all.resolve('one/normal');
  for await (const _ of provider.stream({ model, messages: [{ role: 'user', content: 'Hi' }] }, new AbortController().signal));
  expect(one.requests.every(({ headers }) => headers.authorization === 'Bearer key-one')).toBe(true);
  expect(two.requests.length).toBeGreaterThan(0);
  expect(JSON.stringify(two.requests)).not.toContain('key-one');
  expect(shown).not.toContain('key-one');
});

verifies(
  'providers/thinking',
  'models are known not to think from their server’s list or the table, and never from their name',
  async () => {
    const data = [
      { id: 'a/plain', supported_parameters: ['tools'] },
      { id: 'a/thinker', supported_parameters: ['reasoning'] },
      { id: 'a/quiet' },
    ];
    const { all } = providers({ fetch: () => Promise.resolve(Response.json({ object: 'list', data })) });
    all.configure([
      { id: 'or', name: 'OpenRouter', kind: 'openrouter', apiKey: 'k' },
      { id: 'oa', name: 'OpenAI', kind: 'openai', apiKey: 'k' },
    ]);
    expect(await all.lacksThinking('or/a/plain')).toBe(false);
    await all.list();
    const lacking = ['or/a/plain', 'or/a/thinker', 'or/a/quiet', 'oa/gpt-4.1', 'oa/gpt-5.4', 'oa/ft:mine', 'guide/guide', 'none/x'];
    expect(await Promise.all(lacking.map(async (key) => ((await all.lacksThinking(key)) ? [key] : [])))).toEqual([
      ...[['or/a/plain'], [], [], ['oa/gpt-4.1'], [], [], ['guide/guide'], []],
    ]);
  },
);
