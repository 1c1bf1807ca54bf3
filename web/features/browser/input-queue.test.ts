import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Input, InputQueue } from './input-queue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A page that answers each input on demand. */
function slowPage() {
  const got: Input[] = [];
  const failed: unknown[] = [];
  let answers: PromiseWithResolvers<void>[] = [];
  const queue = new InputQueue(
    (input) => {
      got.push(input);
      const reply = Promise.withResolvers<void>();
      answers.push(reply);
      return reply.promise;
    },
    (error) => failed.push(error),
  );
  const all = async (end: (answer: PromiseWithResolvers<void>) => void): Promise<void> => {
    while (answers.length > 0) {
      const now = answers;
      answers = [];
      now.forEach(end);
      await vi.runAllTimersAsync();
    }
  };
  return {
    queue,
    got,
    failed,
    answerAll: () => all(({ resolve }) => resolve()),
    refuseAll: () => all(({ reject }) => reject(new Error('no'))),
  };
}

test('one after the other, in order; moves, turns and texts that wait are joined', async () => {
  const { queue, got, answerAll } = slowPage();
  queue.add({ type: 'press', x: 1, y: 1 });
  for (const x of [2, 3, 4]) queue.add({ type: 'move', x, y: 0 });
  queue.add({ type: 'release', x: 4, y: 0 });
  for (const deltaY of [10, 20]) queue.add({ type: 'wheel', x: 5, y: 5, deltaX: 1, deltaY });
  queue.add({ type: 'text', text: 'Grü' });
  queue.add({ type: 'text', text: 'ße' });
  queue.add({ type: 'key', key: 'a' });
  queue.add({ type: 'key', key: 'a' });
  await vi.runAllTimersAsync();
  expect(got).toHaveLength(1);
  await answerAll();
  expect(got).toEqual([
    { type: 'press', x: 1, y: 1 },
    { type: 'move', x: 4, y: 0 },
    { type: 'release', x: 4, y: 0 },
    { type: 'wheel', x: 5, y: 5, deltaX: 2, deltaY: 30 },
    { type: 'text', text: 'Grüße' },
    { type: 'key', key: 'a' },
    { type: 'key', key: 'a' },
  ]);
});

test('moves are kept apart in time, and the newest goes', async () => {
  const got: Input[] = [];
  const queue = new InputQueue(
    async (input) => void got.push(input),
    () => {},
  );
  for (let x = 0; x < 20; x++) {
    queue.add({ type: 'move', x, y: 0 });
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.runAllTimersAsync();
  expect(got.length).toBeLessThanOrEqual(3);
  expect(got.at(-1)).toEqual({ type: 'move', x: 19, y: 0 });
});

test('a refused input is reported, and the next continues', async () => {
  const { queue, got, failed, refuseAll } = slowPage();
  queue.add({ type: 'key', key: 'a' });
  queue.add({ type: 'key', key: 'b' });
  await refuseAll();
  expect([got.length, failed.length]).toEqual([2, 2]);
});

test('a long text goes in pieces that halve no character; a page that answers nothing is not flooded, and every button is let go', async () => {
  const { queue, got, answerAll } = slowPage();
  const text = `${'a'.repeat(9_999)}👋${'b'.repeat(5)}`;
  queue.add({ type: 'text', text });
  await answerAll();
  expect(got.map((input) => input.text?.length)).toEqual([9_999, 7]);
  expect(got.map((input) => input.text).join('')).toBe(text);
  got.length = 0;
  for (let n = 0; n < 1_000; n++) queue.add({ type: 'key', key: 'a' });
  queue.add({ type: 'release', x: 0, y: 0 });
  await answerAll();
  expect(got.length).toBeLessThan(300);
  expect(got.at(-1)?.type).toBe('release');
});
