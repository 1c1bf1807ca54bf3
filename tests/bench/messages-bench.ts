import { startChild } from './child-process.ts';
import { toMinBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { STREAM_KINDS, requestStreams, type CompletionTarget, requestCompletions } from './http-bench.ts';
import { measureInTurns, type LoadResult, computeMedian, computeMedianRatio } from './stats.ts';

/** Forwarded messages must be as fast as forwarded completions. */
const MIN_RATIO = 0.9;

/**
 * `/v1/benchMessages` of an Anthropic provider compared with `/v1/chat/completions`, both passed on. Rounds are short and many, so that other
 * load on the machine affects both alike.
 */
export async function benchMessages({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using upstream = await startChild('upstream');
  await using perch = await startBenchGateway({ upstream: `http://127.0.0.1:${upstream.port}/v1` });
  const headers = { authorization: `Bearer ${perch.token}` };
  const chat: CompletionTarget = { url: `${perch.url}/v1/chat/completions`, headers, model: (name) => `bench/${name}` };
  const passed: CompletionTarget = { url: `${perch.url}/v1/messages`, headers, model: (name) => `messages/${name}` };
  const figures: Figure[] = [];
  const compare = async (what: string, load: (target: CompletionTarget) => Promise<LoadResult>): Promise<void> => {
    for (const target of [chat, passed, chat, passed]) await load(target);
    const runs = await measureInTurns(quick ? 15 : 61, { chat: () => load(chat), messages: () => load(passed) });
    const rates = (name: keyof typeof runs): number[] => runs[name].map(({ rate }) => rate);
    const ratio = computeMedianRatio(rates('messages'), rates('chat'));
    const floor = { name: 'completions', value: computeMedian(rates('chat')) };
    figures.push({ what, unit: '/s', ours: computeMedian(rates('messages')), floor, ratio, bar: toMinBar(ratio, MIN_RATIO, '×') });
  };
  for (const callers of [1, 16]) {
    const label = `${callers} ${callers === 1 ? 'caller' : 'callers'}`;
    const factor = callers === 1 ? 1 : 4;
    await compare(`/v1/messages, ${label}, requests`, (target) => requestCompletions(target, callers, 100 * factor));
    for (const kind of ['deltas', 'singles'] as const)
      await compare(`/v1/messages streamed, 200 ${STREAM_KINDS[kind]}, ${label}, requests`, (target) =>
        requestStreams(target, `${kind}-200`, callers, 20 * factor),
      );
  }
  return figures;
}
