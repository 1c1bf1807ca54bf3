import type { ServerResponse } from 'node:http';
import { PassThrough, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import type { PassthroughOutcome } from './validated-response.ts';
import { StreamingPassthrough } from './streaming-passthrough.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const IDLE = 1000;
const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] })}\n\n`;

/** A response to a caller that reads a chunk only on request. */
async function toSlowCaller() {
  const body = new PassThrough();
  const takes: (() => void)[] = [];
  const caller = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void takes.push(done) });
  const outcomes: PassthroughOutcome[] = [];
  body.write(event);
  const answer = await StreamingPassthrough.validate(body, {
    wire: 'chat',
    choices: 1,
    idleMs: IDLE,
    trailerMs: IDLE,
    stripUsage: false,
    thinksFirst: false,
  });
  if (!(answer instanceof StreamingPassthrough)) throw new Error('it is not held');
  answer.pipe(caller as unknown as ServerResponse, (outcome) => outcomes.push(outcome));
  const takeNext = async (): Promise<void> => {
    takes.shift()?.();
    await new Promise(setImmediate);
  };
  return { body, take: takeNext, outcomes };
}

verifies('http.chat/splice-back-pressure', 'a caller that does not read is not mistaken for a silent upstream', async () => {
  const { body, outcomes } = await toSlowCaller();
  await vi.advanceTimersByTimeAsync(100 * IDLE);
  expect(outcomes).toEqual([]);
  expect(body.isPaused()).toBe(true);
});

it('counts the upstream’s silence from when the caller has caught up', async () => {
  const { body, take, outcomes } = await toSlowCaller();
  await vi.advanceTimersByTimeAsync(0.9 * IDLE);
  await take();
  expect(body.isPaused()).toBe(false);
  await vi.advanceTimersByTimeAsync(0.9 * IDLE);
  expect(outcomes).toEqual([]);
  await vi.advanceTimersByTimeAsync(0.2 * IDLE);
  expect(outcomes).toMatchObject([{ how: 'silent' }]);
});
