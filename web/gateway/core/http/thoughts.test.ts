import { expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import type { ModelEvent, ModelMessage } from '../providers/provider.ts';
import { Thoughts } from './thoughts.ts';

const kept = (value: unknown): { wire: string; value: unknown } => ({ wire: 'anthropic', value });

async function turn(thoughts: Thoughts, ids: string[], value: unknown, principal = 'key:a'): Promise<ModelEvent[]> {
  const out: ModelEvent[] = [];
  const events = async function* (): AsyncGenerator<ModelEvent> {
    for (const id of ids) yield { type: 'tool_call', call: { id, tool: 't', args: {} } };
    yield { type: 'keep', kept: kept(value) };
    yield { type: 'finish', reason: 'tool_calls' };
  };
  for await (const event of thoughts.noting(principal, events())) out.push(event);
  return out;
}

const asked = (...ids: string[]): ModelMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: ids.map((id) => ({ id, tool: 't', args: {} })),
});
const back = (thoughts: Thoughts, message: ModelMessage, principal = 'key:a'): unknown =>
  thoughts.restored(principal, [{ role: 'user', content: 'Hi' }, message])[1]?.kept?.value;

verifies('http.chat/translated', 'thoughts go back to the program whose turn it was, with all of its calls', async () => {
  const thoughts = new Thoughts();
  expect(await turn(thoughts, ['1', '2'], 'seen')).toHaveLength(4);
  expect(back(thoughts, asked('1', '2'))).toBe('seen');
  expect(back(thoughts, asked('1', '2'), 'key:b')).toBeUndefined();
  expect(back(thoughts, asked('1'))).toBeUndefined();
  expect(back(thoughts, { role: 'assistant', content: 'no calls' })).toBeUndefined();
  await turn(thoughts, ['1', '2'], 'seen anew');
  expect(back(thoughts, asked('1', '2'))).toBe('seen anew');
});

it('forgets the oldest, by their number and by their size', async () => {
  const many = new Thoughts();
  for (let count = 0; count <= 500; count++) await turn(many, [String(count)], count);
  expect([back(many, asked('0')), back(many, asked('1')), back(many, asked('500'))]).toEqual([undefined, 1, 500]);
  const large = new Thoughts();
  for (const id of ['a', 'b', 'c']) await turn(large, [id], id.repeat(3_000_000));
  expect([back(large, asked('a')), back(large, asked('c'))]).toEqual([undefined, 'c'.repeat(3_000_000)]);
  await turn(large, ['d'], 'd'.repeat(9_000_000));
  expect(back(large, asked('d'))).toBeUndefined();
});
