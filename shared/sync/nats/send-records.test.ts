import { expect, test } from 'vitest';
import { sendRecords } from './send-records.ts';

const createRecords = (count: number, payload: string, blobs?: string[]) =>
  Array.from({ length: count }, (_, at) => ({ name: at, payload, ...(blobs && { blobs }) }));

/** Sends that complete on demand. */
function createControlledSend() {
  const pending = new Map<number, PromiseWithResolvers<number>>();
  const maxPending = { value: 0 };
  const send = ({ name }: { name: number }): Promise<number> => {
    const completion = Promise.withResolvers<number>();
    pending.set(name, completion);
    maxPending.value = Math.max(maxPending.value, pending.size);
    return completion.promise.finally(() => pending.delete(name));
  };
  return { under: pending, most: maxPending, send };
}
const flushTasks = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test.each([
  ['small records, many at once', createRecords(450, 'x'), 200],
  ['large records, few', createRecords(20, 'x'.repeat(100_000)), 2],
  ['records with attachments, as if they were large', createRecords(20, 'x', ['hash']), 2],
  ['one that is larger than may be on its way by itself', createRecords(3, 'x'.repeat(5_000_000)), 2],
])('%s', async (_, all, width) => {
  const { under, most, send } = createControlledSend();
  const sending = sendRecords(all, send);
  while (under.size > 0) {
    for (const [name, one] of under) one.resolve(name * 10);
    await flushTasks();
  }
  expect(await sending).toEqual(all.map(({ name }) => name * 10));
  expect(most.value).toBe(width);
});

test('nothing to send', async () => {
  expect(await sendRecords([], () => Promise.reject(new Error('nothing is sent')))).toEqual([]);
});

test('starts nothing after a failure, and reports it once nothing is in flight', async () => {
  const { under, send } = createControlledSend();
  const sending = sendRecords(createRecords(20, 'x'.repeat(100_000)), send);
  let failure: unknown;
  sending.catch((error: unknown) => (failure = error));
  under.get(0)?.reject(new Error('refused'));
  await flushTasks();
  expect([failure, ...under.keys()]).toEqual([undefined, 1]);
  under.get(1)?.resolve(1);
  await flushTasks();
  expect(failure).toEqual(new Error('refused'));
  expect(under.size).toBe(0);
});
