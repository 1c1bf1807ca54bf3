import { createTestGateway, type Say } from '../support/test-gateway.ts';
import { type Figure, toMaxBar } from './figures.ts';

/** How long the scripted model takes for each step, in milliseconds. */
const MODEL_MS = 100;
const STEPS = 8;
const SIDE_BY_SIDE = 10;

/** Measures the time that sub-agents side by side add to each other's steps (NOTES.md, "Sub-agents"). */
export async function benchSubAgents({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 2 : 6;
  // The first round loads the code.
  await measureSteps(1, 1);
  const alone = await measureSteps(1, rounds);
  const together = await measureSteps(SIDE_BY_SIDE, rounds);
  const added = together - alone;
  return [
    { what: 'step of a sub-agent alone, without its model', unit: 'ms', ours: alone },
    { what: `  of ${SIDE_BY_SIDE} side by side`, unit: 'ms', ours: together },
    { what: '  added', unit: 'ms', ours: added, bar: toMaxBar(added, 10, 'ms') },
  ];
}

/** Mean time of a step without its model's, over all sub-agents and rounds, in milliseconds. */
async function measureSteps(count: number, rounds: number): Promise<number> {
  /** Times at which a sub-agent's model was called, by its task. */
  const calls = new Map<string, number[]>();
  let round = 0;
  const answer = (task: string, results: number): Say[] => {
    if (task === 'Plan' && results > 0) return ['Done'];
    if (task === 'Plan')
      return Array.from({ length: count }, (_, index) => ({ tool: 'agent_run', args: { task: `Task ${round}-${index}` } }));
    calls.set(task, [...(calls.get(task) ?? []), performance.now()]);
    const wait = { wait: new Promise((resolve) => setTimeout(resolve, MODEL_MS)) };
    return results < STEPS ? [wait, { tool: 'current_time', args: {} }] : [wait, 'Done'];
  };
  await using gw = await createTestGateway({
    usage: { prompt_tokens: 500, completion_tokens: 20, total_tokens: 520 },
    model({ body }) {
      const { content } = body.messages.findLast(({ role }) => role === 'user') ?? {};
      return answer(String(content), body.messages.filter(({ role }) => role === 'tool').length);
    },
  });
  const { client } = await gw.client();
  await client.call('config.patch', {
    patch: { chat: { timeZone: 'UTC' }, agents: { main: { subAgents: { maxParallel: SIDE_BY_SIDE } } } },
  });
  for (; round < rounds; round++) await client.call('chat.send', { sessionId: `round-${round}`, message: 'Plan' });
  const steps = [...calls.values()].flatMap((times) => times.slice(1).map((at, index) => at - (times[index] ?? 0) - MODEL_MS));
  if (steps.length !== count * rounds * STEPS) throw new Error(`${steps.length} steps instead of ${count * rounds * STEPS}`);
  return steps.reduce((sum, ms) => sum + ms, 0) / steps.length;
}
