import { expect } from 'vitest';
import { RpcError } from '#shared/rpc/errors.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/clock.ts';
import type { ModelEvent, Provider } from '../providers/provider.ts';
import { type Generation, type GenerationEvent, generate } from './generate.ts';

/** A provider that says these events, one list to each call. */
const says = (...answers: ModelEvent[][]): Provider => ({
  id: 'test',
  name: 'Test',
  async *stream() {
    yield* answers.shift() ?? [{ type: 'text', text: 'ok' }, end];
  },
  models: async () => [],
});
const end: ModelEvent = { type: 'finish', reason: 'stop' };
const call = (id: string, args: Record<string, unknown> = {}): ModelEvent => ({ type: 'tool_call', call: { id, tool: 'look', args } });

function started(provider: Provider, runTool: Generation['runTool']) {
  const clock = new FakeClock();
  const abort = new AbortController();
  const chosen = { key: 'test/m', provider, model: 'm' };
  const events: GenerationEvent[] = [];
  const run: Generation = {
    chosen,
    fallbacks: [],
    models: { resolve: async () => chosen, priced: async (_key, usage) => usage, sees: async () => true, contextOf: async () => null },
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ name: 'look', description: '', schema: {} }],
    signal: abort.signal,
    clock,
    runTool,
  };
  const ended = (async () => {
    for await (const event of generate(run)) events.push(event);
  })();
  return { clock, abort, events, ended };
}

verifies('chat.abort/reaches-provider', 'a tool that does not hear of it does not hold up the end of the run', async () => {
  const begun = Promise.withResolvers<void>();
  const { clock, abort, ended, events } = started(says([call('1'), end]), () => {
    begun.resolve();
    return new Promise(() => {});
  });
  await begun.promise;
  const waits = clock.waitsFor(2_000);
  abort.abort(new RpcError('ABORTED', 'The run was aborted'));
  await waits;
  clock.advance(2_000);
  await expect(ended).rejects.toMatchObject({ code: 'ABORTED' });
  expect(events.some(({ type }) => type === 'tool_result')).toBe(false);
  expect(clock.pending()).toBe(0);
});

verifies('providers/tool-calls', 'calls that come with one id, or none, are told apart', async () => {
  const { ended, events } = started(
    says([call('same', { n: 1 }), call('same', { n: 2 }), call('', { n: 3 }), end]),
    async ({ args }) => args,
  );
  await ended;
  const asked = events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
  expect(asked[0]?.id).toBe('same');
  expect(new Set(asked.map(({ id }) => id)).size).toBe(3);
  expect(asked.map(({ id }) => id)).not.toContain('');
  const told = events.flatMap((event) => (event.type === 'tool_result' ? [[event.call.id, event.result]] : []));
  expect(told).toEqual(asked.map(({ id, args }) => [id, args]));
  const step = events.find((event) => event.type === 'step');
  expect(step?.calls).toEqual(asked);
});
