import { expect } from 'vitest';
import { memoryPair } from '#shared/link/link.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { waitFor } from '../../../../../tests/support/test-gateway.ts';
import { LocalResponses } from './local-responses.ts';
import { ResponsesSockets } from './responses-socket.ts';

const HOUR = 60 * 60_000;
const create = JSON.stringify({ type: 'response.create', model: 'main', input: 'Hi' });

/** A connection whose answers come when they are let go. */
function connection(clock: FakeClock) {
  const [client, far] = memoryPair<string>();
  const messages: { type: string; error?: { code: string } }[] = [];
  const closes: { code: number; reason: string }[] = [];
  const answers: ((response: Response) => void)[] = [];
  const signals: AbortSignal[] = [];
  client.receive({
    message: (text) => messages.push(JSON.parse(text) as { type: string }),
    close: (code, reason) => closes.push({ code, reason }),
  });
  new ResponsesSockets(true).accept(far, {
    ...{ headers: {}, clock },
    answer: (request) => {
      signals.push(request.signal);
      return new Promise((resolve) => answers.push(resolve));
    },
  });
  return { client, messages, closes, answers, signals };
}
const done = (): Response => new Response('data: {"type":"response.completed"}\n\n');

verifies('http.responses/websocket-admission', 'after 60 minutes a connection ends with an error event', async () => {
  const clock = new FakeClock();
  const { messages, closes } = connection(clock);
  clock.advance(HOUR - 1);
  expect(closes).toEqual([]);
  clock.advance(1);
  await waitFor(() => closes.length > 0);
  expect(messages).toMatchObject([{ type: 'error', status: 400, error: { code: 'websocket_connection_limit_reached' } }]);
  expect(closes).toEqual([{ code: 1000, reason: 'the connection is 60 minutes old' }]);
});

verifies('http.responses/websocket-admission', 'after 60 minutes the current turn ends first, and no other begins', async () => {
  const clock = new FakeClock();
  const { client, messages, closes, answers } = connection(clock);
  client.send(create);
  client.send(create);
  await waitFor(() => answers.length === 1);
  clock.advance(HOUR);
  expect(closes).toEqual([]);
  answers[0]?.(done());
  await waitFor(() => closes.length > 0);
  expect(messages.map(({ type }) => type)).toEqual(['response.completed', 'error']);
  expect(answers).toHaveLength(1);
});

verifies('http.responses/websocket', 'a turn ends when the connection closes', async () => {
  const { client, signals } = connection(new FakeClock());
  client.send(create);
  await waitFor(() => signals.length === 1);
  client.close(1001, 'gone');
  await waitFor(() => signals[0]?.aborted === true);
});

verifies('http.responses/websocket-state', 'a connection has at most 32 conversations, none of them too large', () => {
  const local = new LocalResponses();
  const record = (id: string, text = '') => ({
    ...{ id, principal: 'owner', createdAt: 0, previousId: null, input: [], output: [], fields: { text } },
  });
  for (let i = 0; i < 33; i++) local.add([], record(`resp_${i}`));
  expect(local.find('resp_0')).toBeUndefined();
  expect(local.find('resp_1')).toMatchObject([{ id: 'resp_1' }]);
  const large = 'x'.repeat(9 * 1024 * 1024);
  local.add([], record('resp_large', large));
  local.add(local.find('resp_large') ?? [], record('resp_larger', large));
  expect([local.find('resp_large')?.length, local.find('resp_larger')]).toEqual([1, undefined]);
});
