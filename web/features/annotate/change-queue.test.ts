import { expect, test, vi } from 'vitest';
import type { Change } from '#shared/canvas/change.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { ChangeQueue } from './change-queue.ts';

const change = (id: string, text = ''): Change => ({ id, at: '000000000001000-0000-here', set: { text } });

/** A gateway that answers on demand, and the storage of a browser. */
function createHarness() {
  const calls: { ids: string[]; answer: (error?: Error) => void }[] = [];
  const storedChanges = new Set<readonly Change[]>();
  const states: { waiting: number; error?: unknown }[] = [];
  const came: (() => void)[] = [];
  const queue = new ChangeQueue({
    send: (changes) =>
      new Promise<void>((resolve, reject) => {
        calls.push({ ids: changes.map(({ id }) => id), answer: (error) => (error ? reject(error) : resolve()) });
        came.shift()?.();
      }),
    store: {
      store: (changes) => {
        storedChanges.add(changes);
        return Promise.resolve(() => Promise.resolve(void storedChanges.delete(changes)));
      },
    },
    onState: (state) => void states.push(state),
  });
  const call = async (n: number) => {
    while (calls.length < n) await new Promise<void>((resolve) => came.push(resolve));
    return calls[n - 1] ?? expect.fail();
  };
  return { queue, calls, call, kept: storedChanges, states };
}

/** Waits until all reactions to answers have run. */
const flush = () => new Promise((resolve) => setImmediate(resolve));

test('changes go in order, one call at a time, and those made meanwhile go together', async () => {
  const { queue, calls, call, kept, states } = createHarness();
  queue.add([change('a')]);
  queue.add([change('b')]);
  const first = await call(1);
  expect(first.ids).toEqual(['a', 'b']);
  queue.add([change('c')]);
  queue.add([change('d')]);
  await flush();
  expect(calls).toHaveLength(1);
  first.answer();
  const second = await call(2);
  expect(second.ids).toEqual(['c', 'd']);
  expect(kept.size).toBe(2);
  second.answer();
  await flush();
  expect(kept.size).toBe(0);
  expect(states.at(-1)).toEqual({ waiting: 0 });
});

test('failed changes stay, in order, until they are flushed', async () => {
  const { queue, calls, call, kept, states } = createHarness();
  queue.add([change('a')]);
  const lost = new Error('lost');
  (await call(1)).answer(lost);
  await flush();
  queue.add([change('b')]);
  await flush();
  expect(calls).toHaveLength(1);
  expect(states.at(-1)).toEqual({ waiting: 1, error: lost });
  expect(kept.size).toBe(2);
  queue.flush();
  const again = await call(2);
  expect(again.ids).toEqual(['a', 'b']);
  again.answer();
  await flush();
  expect(kept.size).toBe(0);
});

test('a call carries no more than a frame may, and a large change goes alone', async () => {
  const { queue, call } = createHarness();
  queue.add([change('small')]);
  queue.add([change('large', 'x'.repeat(900_000))]);
  queue.add([change('next')]);
  for (const [at, ids] of [['small'], ['large'], ['next']].entries()) {
    const one = await call(at + 1);
    expect(one.ids).toEqual(ids);
    one.answer();
  }
});

test('changes that the gateway defers are sent again when it says', async () => {
  vi.useFakeTimers();
  try {
    const { queue, calls, call, states } = createHarness();
    queue.add([change('a')]);
    (await call(1)).answer(new RpcError('RATE_LIMITED', 'Too many requests', { retryable: true, retryAfterMs: 500 }));
    await vi.advanceTimersByTimeAsync(499);
    queue.add([change('b')]);
    expect(calls).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    const again = await call(2);
    expect(again.ids).toEqual(['a', 'b']);
    again.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(states.at(-1)).toEqual({ waiting: 0 });
  } finally {
    vi.useRealTimers();
  }
});
