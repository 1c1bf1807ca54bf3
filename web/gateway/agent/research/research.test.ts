import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { webPort } from '#shared/ports/web-port.ts';
import { createWebHandlers } from '../../../../bridge/capabilities/web-handlers.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createCapability, FakeBridge } from '../../../../tests/support/fake-bridge.ts';
import { startSearchServer } from '../../../../tests/support/search-server.ts';
import {
  createScriptedModel,
  createTestGateway,
  type ModelCall,
  type ModelScript,
  type Say,
  waitFor,
} from '../../../../tests/support/test-gateway.ts';
import { RESEARCH_AGENT_ID } from './research-agent.ts';

const FACTS = {
  tulips: 'Tulips bloom in April and their bulbs are planted in October.',
  herons: 'Grey herons nest in colonies of up to 40 pairs.',
};
type Topic = keyof typeof FACTS;
const TOPICS = Object.keys(FACTS) as Topic[];

/** Pages of a site, each with a fact in an article. */
async function startSite() {
  const server = createServer(({ url = '' }, response) => {
    const fact = FACTS[url.slice(1) as Topic];
    const filler = `<p>${'This page was written by people who watch nature, and it is checked every spring by others. '.repeat(4)}</p>`;
    response.writeHead(fact === undefined ? 404 : 200, { 'content-type': 'text/html' });
    response.end(
      `<title>${url}</title><div class="nav"><a href="/x">Menu</a></div><div><h1>About</h1>${filler}<h2>Facts</h2><p>${fact}</p>${filler}</div>`,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

const getText = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content));
const isSubAgent = ({ body }: ModelCall): boolean =>
  body.messages.some(({ role, content }) => role === 'system' && getText(content).includes('You are a sub-agent: another'));
const getResults = ({ body }: ModelCall): Record<string, unknown>[] => {
  const last = body.messages.findLastIndex(({ role }) => role === 'user');
  return body.messages
    .slice(last)
    .flatMap(({ role, content }) => (role === 'tool' ? [JSON.parse(getText(content)) as Record<string, unknown>] : []));
};
const call = (tool: string, args: object): Say => ({ tool, args });

/** A researcher that works as the instructions say. `onSearch` is awaited by each sub-agent before its search. */
const toResearcher =
  (onSearch: () => Promise<unknown> = async () => {}): ModelScript =>
  (request) => {
    const results = getResults(request);
    const topic = TOPICS.find((each) => getText(request.body.messages.findLast(({ role }) => role === 'user')?.content).includes(each));
    if (isSubAgent(request)) {
      const [search, page] = results as [{ results?: { url: string }[] }?, { text?: string }?];
      if (!search) return [{ wait: onSearch() }, call('web_search', { query: topic })];
      if (!page) return [call('web_fetch', { url: search.results?.[0]?.url })];
      // The passage below the heading "Facts".
      const number = /\[(\d+)\]\n## Facts/.exec(page.text ?? '')?.[1];
      return [`${topic ? FACTS[topic] : ''} [${number}]`];
    }
    // The plan is in the context if the chat has one.
    const isContinued = request.context.includes('Compare');
    const step = results.length + (isContinued ? 1 : 0);
    if (step === 0) return [call('plan_create', { goal: 'Compare', steps: ['Tulips', 'Herons', 'Report'] })];
    if (step === 1)
      return TOPICS.map((each) => call('agent_run', { task: `Find out about ${each}`, title: each, tools: ['web_search', 'web_fetch'] }));
    const answers = results.map(({ answer }) => answer).filter((answer) => typeof answer === 'string');
    if (step === 3)
      return [
        call('file_write', { path: 'research/nature/facts.md', content: answers.join('\n') }),
        call('plan_update', { status: 'completed', result: 'Found' }),
      ];
    return [`In short: two facts. ${answers.join(' ')}`];
  };

async function createResearch(script: ModelScript) {
  const site = await startSite();
  const search = await startSearchServer(
    TOPICS.map((topic) => ({ title: topic, url: `http://${site.host}/${topic}`, text: FACTS[topic].slice(0, 20) })),
  );
  const model = createScriptedModel(script);
  const gw = await createTestGateway({
    bridge: new FakeBridge(createCapability(webPort, createWebHandlers())),
    fetch: (url, init) =>
      url.startsWith(search.url)
        ? fetch(url, { headers: init.headers ?? {}, signal: init.signal, redirect: 'manual' })
        : model.fetch(url, init),
  });
  const { client } = await gw.client();
  await client.call('config.patch', {
    patch: {
      tools: { webSearch: { provider: 'searxng', url: search.url }, policies: { web_fetch: 'auto' }, webFetch: { allow: [site.host] } },
    },
  });
  return {
    ...{ gw, client, model, site, search },
    async [Symbol.asyncDispose]() {
      await gw[Symbol.asyncDispose]();
      await search[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

const CHAT = { agentId: RESEARCH_AGENT_ID, sessionId: 'main' };

verifies('research/report', 'plans, searches side by side, and ends in a report whose sources open', async () => {
  const both = Promise.withResolvers<void>();
  let searching = 0;
  await using t = await createResearch(
    toResearcher(() => {
      if (++searching === TOPICS.length) both.resolve();
      return both.promise;
    }),
  );
  const { client, gw, site } = t;
  await client.call('chat.send', { ...CHAT, message: 'Compare what is known' });
  const { messages } = await client.call('chat.history', CHAT);
  const report = messages.at(-1);
  expect(report?.content).toBe(`In short: two facts. ${FACTS.tulips} ${FACTS.herons}`);
  expect(report?.sources?.map(({ url }) => url).sort()).toEqual([`http://${site.host}/herons`, `http://${site.host}/tulips`]);
  for (const { url = '', number, locator } of report?.sources ?? []) {
    expect(locator?.headings?.at(-1)).toBe('Facts');
    const page = await (await fetch(url)).text();
    for (const { quote } of report?.citations?.filter((each) => each.number === number) ?? []) expect(page).toContain(quote.text);
  }
  expect(report?.citations).toHaveLength(2);
  expect(report).toMatchObject({ outside: [`web:${site.host}`] });
  const { subAgents } = await client.call('sessions.subAgents', { path: `${RESEARCH_AGENT_ID}/main.jsonl` });
  expect(subAgents.map(({ title, status }) => [title, status])).toEqual([
    ['tulips', 'done'],
    ['herons', 'done'],
  ]);
  const { plans } = await client.call('plan.list', {});
  expect(plans[0]?.steps[0]).toMatchObject({ status: 'completed', result: 'Found' });
  expect((await client.call('approvals.list', {})).approvals).toEqual([]);
  expect(gw.faults).toEqual([]);
});

verifies('research/continues', 'is stopped with its sub-agents, and goes on with its plan', async () => {
  const never = new Promise(() => {});
  let isStuck = true;
  await using t = await createResearch(toResearcher(async () => (isStuck ? never : undefined)));
  const { client, gw, search } = t;
  const sent = client.call('chat.send', { ...CHAT, message: 'Compare what is known' }).catch((error: unknown) => error);
  await waitFor(() => t.model.calls.filter(isSubAgent).length === 2);
  await client.call('chat.abort', CHAT);
  expect(await sent).toMatchObject({ code: 'ABORTED' });
  expect(search.requests).toEqual([]);
  isStuck = false;
  await client.call('chat.send', { ...CHAT, message: 'Continue' });
  const { messages } = await client.call('chat.history', CHAT);
  expect(messages.at(-1)?.sources).toHaveLength(2);
  expect((await client.call('plan.list', {})).plans).toHaveLength(1);
  expect(gw.faults).toEqual([]);
});

verifies('research/agent', 'exists while a search service is set up, with few tools and no memories', async () => {
  await using t = await createResearch(() => ['Hello']);
  const { client, model } = t;
  const find = async () => (await client.call('agents.list', {})).agents.find(({ id }) => id === RESEARCH_AGENT_ID);
  expect(await find()).toMatchObject({ config: { name: 'Research', memory: false } });
  await client.call('chat.send', { ...CHAT, message: 'Hi' });
  const tools = (model.calls.at(-1)?.body.tools ?? []) as { function: { name: string } }[];
  expect(tools.map((tool) => tool.function.name).sort()).toEqual([
    ...['agent_run', 'current_time', 'file_list', 'file_read', 'file_write', 'plan_create', 'plan_get', 'plan_update'],
    ...['web_fetch', 'web_search'],
  ]);
  await expect(client.call('agents.remove', { agent_id: RESEARCH_AGENT_ID })).rejects.toThrow('is built in');
  await client.call('config.set', { key: `agents.${RESEARCH_AGENT_ID}`, value: { name: 'Ada' } });
  expect(await find()).toMatchObject({ config: { name: 'Ada', memory: false } });
  await client.call('agents.remove', { agent_id: RESEARCH_AGENT_ID });
  expect(await find()).toMatchObject({ config: { name: 'Research' } });
  await client.call('config.set', { key: 'tools.webSearch', value: null });
  expect(await find()).toBeUndefined();
});
