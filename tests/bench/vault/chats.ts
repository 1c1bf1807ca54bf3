import { Caller } from '../caller.ts';
import type { Figure } from '../figures.ts';
import { startGateway } from '../gateway.ts';
import { concurrent, median } from '../stats.ts';

const CALLERS = 64;

/** Whole chats by the product: the question, the guide's answer, and their runs, from outside. */
export async function chats({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using perch = await startGateway({ host: 'headless' });
  await using lines = new AsyncDisposableStack();
  const callers = await Promise.all(Array.from({ length: CALLERS }, async () => lines.use(await Caller.connect(perch.wsUrl, perch.token))));
  const send = (count: number): ReturnType<typeof concurrent> =>
    concurrent(
      count,
      callers.map((caller, i) => () => caller.call('chat.send', { message: 'What can you do?', sessionId: `chat-${i}` })),
    );
  await send(CALLERS);
  const { rate, samples } = await send(quick ? 500 : 3_000);
  return [
    { what: '`chat.send` with the guide, 64 callers', unit: '/s', ours: rate },
    { what: '  p50', unit: 'ms', ours: median(samples) },
  ];
}
