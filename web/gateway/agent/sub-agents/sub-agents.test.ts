import { describe, expect } from 'vitest';
import type { SubAgentEntry } from '#shared/rpc/record-schemas.ts';
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
    const { messages } = await client.call('chat.history', { sessionId: subAgents[0]?.sessionId ?? '' });
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
