import { expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import type { ModelEvent, ModelMessage } from '../../providers/provider.ts';
import { ProviderStateCache } from './provider-state-cache.ts';

const createState = (value: unknown): { wire: string; value: unknown } => ({ wire: 'anthropic', value });

async function recordTurn(thoughts: ProviderStateCache, ids: string[], value: unknown, principal = 'key:a'): Promise<ModelEvent[]> {
  const out: ModelEvent[] = [];
  const events = async function* (): AsyncGenerator<ModelEvent> {
    for (const id of ids) yield { type: 'tool_call', call: { id, tool: 't', args: {} } };
    yield { type: 'keep', kept: createState(value) };
    yield { type: 'finish', reason: 'tool_calls' };
  };
  for await (const event of thoughts.recordFrom(principal, events())) out.push(event);
  return out;
}

const createCall = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: ids.map((id) => ({ id, tool: 't', args: {} })),
});
const restoreState = (thoughts: ProviderStateCache, message: ModelMessage, principal = 'key:a'): unknown =>
  thoughts.restoreInto(principal, [{ role: 'user', content: 'Hi' }, message])[1]?.kept?.value;

verifies('http.chat/translated', 'thoughts go back to the program whose turn it was, with all of its calls', async () => {
  const thoughts = new ProviderStateCache();
  expect(await recordTurn(thoughts, ['1', '2'], 'seen')).toHaveLength(4);
  expect(restoreState(thoughts, createCall('1', '2'))).toBe('seen');
  expect(restoreState(thoughts, createCall('1', '2'), 'key:b')).toBeUndefined();
  expect(restoreState(thoughts, createCall('1'))).toBeUndefined();
  expect(restoreState(thoughts, { role: 'assistant', content: 'no calls' })).toBeUndefined();
  await recordTurn(thoughts, ['1', '2'], 'seen anew');
  expect(restoreState(thoughts, createCall('1', '2'))).toBe('seen anew');
});

it('forgets the oldest, by their number and by their size', async () => {
  const many = new ProviderStateCache();
  for (let count = 0; count <= 500; count++) await recordTurn(many, [String(count)], count);
  expect([restoreState(many, createCall('0')), restoreState(many, createCall('1')), restoreState(many, createCall('500'))]).toEqual([
    undefined,
    1,
    500,
  ]);
  const large = new ProviderStateCache();
  for (const id of ['a', 'b', 'c']) await recordTurn(large, [id], id.repeat(3_000_000));
  expect([restoreState(large, createCall('a')), restoreState(large, createCall('c'))]).toEqual([undefined, 'c'.repeat(3_000_000)]);
  await recordTurn(large, ['d'], 'd'.repeat(9_000_000));
  expect(restoreState(large, createCall('d'))).toBeUndefined();
});
