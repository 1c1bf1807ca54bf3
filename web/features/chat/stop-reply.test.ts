import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConnectionClosed } from '#shared/client/client.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { verifies } from '../../../tests/requirements.ts';
import { stopReply } from './stop-reply.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A reply that continues until the gateway has answered this often: with `false` (nothing was stopped) or an error. */
function reply(...answers: (boolean | Error)[]) {
  const self = {
    goesOn: true,
    asked: 0,
    stop: () =>
      stopReply({
        abort: async () => {
          const answer = answers[Math.min(self.asked++, answers.length - 1)] ?? false;
          if (answer instanceof Error) throw answer;
          return answer;
        },
        isRunning: () => self.goesOn,
      }),
  };
  return self;
}

verifies('app/streams-and-stops', 'a Stop that ended nothing, or was lost on the way, is repeated until the reply ends by it', async () => {
  const given = reply(false, new ConnectionClosed(1012, 'handed over to another host'), false, true);
  const stopped = given.stop();
  await vi.runAllTimersAsync();
  await stopped;
  expect(given.asked).toBe(4);
});

test('a Stop is not repeated once the reply is seen to have ended', async () => {
  const given = reply(false);
  const stopped = given.stop();
  await vi.advanceTimersByTimeAsync(1_500);
  expect(given.asked).toBe(2);
  given.goesOn = false;
  await vi.runAllTimersAsync();
  await stopped;
  expect(given.asked).toBe(2);
});

test('a Stop that is refused, or in vain for long, says so', async () => {
  const refused = reply(new RpcError('AUTH_REQUIRED', 'no'));
  await expect(refused.stop()).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  expect(refused.asked).toBe(1);
  const vain = expect(reply(false).stop()).rejects.toThrow('isn’t responding');
  await vi.runAllTimersAsync();
  await vain;
});
