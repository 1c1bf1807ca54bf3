import { expect, it } from 'vitest';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { waitFor } from '../../../../../tests/support/test-gateway.ts';
import { createMemoryCollection } from '../../../../../tests/support/memory-collection.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { RESPONSE_LIMITS, ResponseStore, createResponseId } from './response-store.ts';
import type { ResponseRecord } from '../../../storage/records/response-record.ts';
import { truncateMessages } from './truncate-messages.ts';

function createStore(limits: Partial<typeof RESPONSE_LIMITS> = {}) {
  const clock = new FakeClock();
  const responses = createMemoryCollection<ResponseRecord>();
  const fault = (error: unknown): never => {
    throw error;
  };
  const store = new ResponseStore({ responses, clock, fault, limits: { ...RESPONSE_LIMITS, ...limits } });
  const put = async (previousId: string | null = null, text = ''): Promise<string> => {
    const id = createResponseId(clock.now());
    const put = await store.put({ id, principal: 'owner', createdAt: clock.now(), previousId, input: [], output: [], fields: { text } });
    expect(put).toBe(true);
    clock.advance(1);
    return id;
  };
  return { clock, responses, store, put };
}

verifies('http.responses/stored', 'the oldest go where there are too many, or they are too long together', async () => {
  const { responses, put } = createStore({ count: 3 });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await put());
  await waitFor(() => responses.records.size === 3);
  expect([...responses.records.keys()].sort()).toEqual(ids.slice(2));

  const long = createStore({ chars: 2000 });
  const first = await long.put(null, 'x'.repeat(1000));
  const second = await long.put(null, 'x'.repeat(1000));
  await waitFor(() => !long.responses.records.has(first));
  expect([...long.responses.records.keys()]).toEqual([second]);
});

verifies('http.responses/stored', 'one of more than 30 days is not there, and goes when another comes', async () => {
  const { clock, responses, store, put } = createStore();
  const old = await put();
  const next = await put(old);
  expect(await store.getConversation(next, 'owner')).toMatchObject([{ id: old }, { id: next }]);
  clock.advance(RESPONSE_LIMITS.ageMs);
  expect(await store.get(old, 'owner')).toBeUndefined();
  expect(await store.getConversation(next, 'owner')).toBeUndefined();
  const fresh = await put();
  await waitFor(() => responses.records.size === 1);
  expect(responses.records.has(fresh)).toBe(true);
});

it('what other hosts have added is counted after an hour', async () => {
  const { clock, responses, put } = createStore({ count: 2 });
  const first = await put();
  await waitFor(() => responses.records.size === 1);
  responses.records.set('resp_0', { ...responses.records.get(first)!, id: 'resp_0' });
  clock.advance(2 * 60 * 60_000);
  await put();
  await waitFor(() => !responses.records.has('resp_0'));
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
  expect(truncateMessages(messages, 10_000, 'test/x')).toEqual(messages);
  expect(truncateMessages(messages, 100, 'test/x')).toEqual([messages[0], messages[4], messages[5]]);
  expect(truncateMessages(messages, 1, 'test/x')).toEqual([messages[0], messages[5]]);
});
