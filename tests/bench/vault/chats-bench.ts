import { SocketCaller } from '../caller.ts';
import type { Figure } from '../figures.ts';
import { startBenchGateway } from '../bench-gateway.ts';
import { measureConcurrent, computeMedian } from '../stats.ts';

const CALLER_COUNT = 64;

/** Complete chats through Perch: the question, the guide's answer, and their runs, measured from outside. */
export async function benchChats({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using perch = await startBenchGateway({ host: 'headless' });
  await using lines = new AsyncDisposableStack();
  const callers = await Promise.all(
    Array.from({ length: CALLER_COUNT }, async () => lines.use(await SocketCaller.connect(perch.wsUrl, perch.token))),
  );
  const send = (count: number): ReturnType<typeof measureConcurrent> =>
    measureConcurrent(
      count,
      callers.map((caller, i) => () => caller.call('chat.send', { message: 'What can you do?', sessionId: `chat-${i}` })),
    );
  await send(CALLER_COUNT);
  const { rate, samples } = await send(quick ? 500 : 3_000);
  return [
    { what: '`chat.send` with the guide, 64 callers', unit: '/s', ours: rate },
    { what: '  p50', unit: 'ms', ours: computeMedian(samples) },
  ];
}
