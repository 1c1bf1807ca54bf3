import { startChild } from './child.ts';
import { atLeast, type Figure } from './figures.ts';
import { startGateway } from './gateway.ts';
import { KINDS, streamed, type Target, whole } from './http.ts';
import { inTurns, type Load, median, ratioOf } from './stats.ts';

/** Messages that pass must be as fast as completions that pass. */
const MIN_RATIO = 0.9;

/**
 * `/v1/messages` of an Anthropic provider compared with `/v1/chat/completions`, both passed on. Rounds are short and many, so that other
 * load on the machine affects both alike.
 */
export async function messages({ quick }: { quick: boolean }): Promise<Figure[]> {
  await using upstream = await startChild('upstream');
  await using perch = await startGateway({ upstream: `http://127.0.0.1:${upstream.port}/v1` });
  const headers = { authorization: `Bearer ${perch.token}` };
  const chat: Target = { url: `${perch.url}/v1/chat/completions`, headers, model: (name) => `bench/${name}` };
  const passed: Target = { url: `${perch.url}/v1/messages`, headers, model: (name) => `messages/${name}` };
  const figures: Figure[] = [];
  const compare = async (what: string, load: (target: Target) => Promise<Load>): Promise<void> => {
    for (const target of [chat, passed, chat, passed]) await load(target);
    const runs = await inTurns(quick ? 15 : 61, { chat: () => load(chat), messages: () => load(passed) });
    const rates = (name: keyof typeof runs): number[] => runs[name].map(({ rate }) => rate);
    const ratio = ratioOf(rates('messages'), rates('chat'));
    const floor = { name: 'completions', value: median(rates('chat')) };
    figures.push({ what, unit: '/s', ours: median(rates('messages')), floor, ratio, bar: atLeast(ratio, MIN_RATIO, '×') });
  };
  for (const callers of [1, 16]) {
    const who = `${callers} ${callers === 1 ? 'caller' : 'callers'}`;
    const more = callers === 1 ? 1 : 4;
    await compare(`/v1/messages, ${who}, requests`, (target) => whole(target, callers, 100 * more));
    for (const kind of ['deltas', 'singles'] as const)
      await compare(`/v1/messages streamed, 200 ${KINDS[kind]}, ${who}, requests`, (target) =>
        streamed(target, `${kind}-200`, callers, 20 * more),
      );
  }
  return figures;
}
