import { expect, test } from 'vitest';
import { sendEach } from './send-each.ts';

const records = (count: number, payload: string, blobs?: string[]) =>
  Array.from({ length: count }, (_, at) => ({ name: at, payload, ...(blobs && { blobs }) }));

/** Sends that complete on demand. */
function held() {
  const under = new Map<number, PromiseWithResolvers<number>>();
  const most = { value: 0 };
  const send = ({ name }: { name: number }): Promise<number> => {
    const one = Promise.withResolvers<number>();
    under.set(name, one);
    most.value = Math.max(most.value, under.size);
    return one.promise.finally(() => under.delete(name));
  };
  return { under, most, send };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test.each([
  ['small records, many at once', records(450, 'x'), 200],
  ['large records, few', records(20, 'x'.repeat(100_000)), 2],
  ['records with attachments, as if they were large', records(20, 'x', ['hash']), 2],
  ['one that is larger than may be on its way by itself', records(3, 'x'.repeat(5_000_000)), 2],
])('%s', async (_, all, width) => {
  const { under, most, send } = held();
  const sending = sendEach(all, send);
  while (under.size > 0) {
    for (const [name, one] of under) one.resolve(name * 10);
    await settled();
  }
  expect(await sending).toEqual(all.map(({ name }) => name * 10));
  expect(most.value).toBe(width);
});

test('nothing to send', async () => {
  expect(await sendEach([], () => Promise.reject(new Error('nothing is sent')))).toEqual([]);
});

test('starts nothing after a failure, and reports it once nothing is in flight', async () => {
  const { under, send } = held();
  const sending = sendEach(records(20, 'x'.repeat(100_000)), send);
  let told: unknown;
  sending.catch((error: unknown) => (told = error));
  under.get(0)?.reject(new Error('refused'));
  await settled();
  expect([told, ...under.keys()]).toEqual([undefined, 1]);
  under.get(1)?.resolve(1);
  await settled();
  expect(told).toEqual(new Error('refused'));
  expect(under.size).toBe(0);
});
