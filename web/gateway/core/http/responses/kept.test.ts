import { expect, it } from 'vitest';
import { FakeClock } from '../../../../../tests/support/clock.ts';
import { until } from '../../../../../tests/support/gateway.ts';
import { memoryCollection } from '../../../../../tests/support/memory-collection.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { KEPT, KeptResponses, newResponseId } from './kept.ts';
import type { ResponseRecord } from './record.ts';
import { truncated } from './truncate.ts';

function kept(limits: Partial<typeof KEPT> = {}) {
  const clock = new FakeClock();
  const responses = memoryCollection<ResponseRecord>();
  const fault = (error: unknown): never => {
    throw error;
  };
  const store = new KeptResponses({ responses, clock, fault, limits: { ...KEPT, ...limits } });
  const put = async (previousId: string | null = null, text = ''): Promise<string> => {
    const id = newResponseId(clock.now());
    const put = await store.put({ id, principal: 'owner', createdAt: clock.now(), previousId, input: [], output: [], fields: { text } });
    expect(put).toBe(true);
    clock.advance(1);
    return id;
  };
  return { clock, responses, store, put };
}

verifies('http.responses/stored', 'the oldest go where there are too many, or they are too long together', async () => {
  const { responses, put } = kept({ count: 3 });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await put());
  await until(() => responses.records.size === 3);
  expect([...responses.records.keys()].sort()).toEqual(ids.slice(2));

  const long = kept({ chars: 2000 });
  const first = await long.put(null, 'x'.repeat(1000));
  const second = await long.put(null, 'x'.repeat(1000));
  await until(() => !long.responses.records.has(first));
  expect([...long.responses.records.keys()]).toEqual([second]);
});

verifies('http.responses/stored', 'one of more than 30 days is not there, and goes when another comes', async () => {
  const { clock, responses, store, put } = kept();
  const old = await put();
  const next = await put(old);
  expect(await store.conversation(next, 'owner')).toMatchObject([{ id: old }, { id: next }]);
  clock.advance(KEPT.ageMs);
  expect(await store.get(old, 'owner')).toBeUndefined();
  expect(await store.conversation(next, 'owner')).toBeUndefined();
  const fresh = await put();
  await until(() => responses.records.size === 1);
  expect(responses.records.has(fresh)).toBe(true);
});

it('what other hosts have added is counted after an hour', async () => {
  const { clock, responses, put } = kept({ count: 2 });
  const first = await put();
  await until(() => responses.records.size === 1);
  responses.records.set('resp_0', { ...responses.records.get(first)!, id: 'resp_0' });
  clock.advance(2 * 60 * 60_000);
  await put();
  await until(() => !responses.records.has('resp_0'));
  expect(responses.records.size).toBe(2);
});

it('drops the oldest items that exceed the window, and no result without its call', () => {
  const long = 'word '.repeat(100);
  const messages = [
    { role: 'system' as const, content: 'Be brief' },
    { role: 'user' as const, content: long },
    { role: 'assistant' as const, content: '', toolCalls: [{ id: 'c', tool: 't', args: { long } }] },
    { role: 'tool' as const, content: 'short', toolCallId: 'c' },
    { role: 'assistant' as const, content: 'Yes' },
    { role: 'user' as const, content: 'And?' },
  ];
  expect(truncated(messages, 10_000, 'test/x')).toEqual(messages);
  expect(truncated(messages, 100, 'test/x')).toEqual([messages[0], messages[4], messages[5]]);
  expect(truncated(messages, 1, 'test/x')).toEqual([messages[0], messages[5]]);
});
