import { formatMemory } from '../../web/gateway/knowledge/memory/long-term.ts';
import { connectOutside } from '../e2e/outside-client.ts';
import { startChild } from './child-process.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { conversations } from './memory-search-bench.ts';
import { computePercentile } from './stats.ts';

const MINUTE = 60_000;
const FIRST_DAY = Date.UTC(2025, 0, 1);
/** Messages of one chat: each but the first has earlier turns. */
const MESSAGES_PER_CHAT = 8;
const MAX_RECALL_MS = 30;
/** Length of a memory in characters, so that 50,000 fit into a file. */
const MAX_MEMORY_CHARS = 100;

/**
 * Time that recall adds before a reply, without a model: in the managed Chromium's worker, as the gateway itself measures it, for long-term
 * memories of several sizes.
 */
export async function benchRecall({ quick }: { quick: boolean }): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const entries of quick ? [500, 5000] : [500, 5000, 50_000]) {
    const { first, later, health } = await measureRecall(entries, quick ? 60 : 240);
    const many = entries.toLocaleString('en');
    const p50 = computePercentile(later, 0.5);
    figures.push(
      { what: `recall among ${many} memories, p50`, unit: 'ms', ours: p50, bar: toMaxBar(p50, MAX_RECALL_MS, 'ms') },
      { what: '  p95', unit: 'ms', ours: computePercentile(later, 0.95) },
      { what: '  the first told after a start', unit: 'ms', ours: first },
      { what: '  health meanwhile, the longest', unit: 'ms', ours: health },
    );
  }
  return figures;
}

async function measureRecall(entries: number, messages: number): Promise<{ first: number; later: number[]; health: number }> {
  await using writer = await startChild('writer');
  await using perch = await startBenchGateway({ upstream: `http://127.0.0.1:${writer.port}/v1` });
  using outside = await connectOutside(perch, 'all');
  const { client, events } = outside;
  const utterances = conversations().flatMap(({ sessions }) => sessions.flatMap(({ turns }) => turns.map(([, , text]) => text)));
  // A unique word distinguishes each from similar ones.
  const lines = Array.from({ length: entries }, (_, nth) => {
    const text = `${(utterances[nth % utterances.length] ?? '').slice(0, MAX_MEMORY_CHARS)} w${nth.toString(36)}`;
    return `${formatMemory({ text, category: 'fact', createdAt: FIRST_DAY + nth * MINUTE }).trimEnd()}\n`;
  });
  await client.call('workspace.write', {
    path: 'MEMORY.md',
    content: Buffer.from(lines.join('')).toString('base64'),
    encoding: 'base64',
  });
  const questions = conversations().flatMap((each) => each.questions.map(({ question }) => question));
  const send = (nth: number): Promise<unknown> =>
    client.call('chat.send', {
      message: questions[nth % questions.length] ?? '',
      sessionId: `chat-${Math.floor(nth / MESSAGES_PER_CHAT)}`,
      model: 'bench/short',
    });
  const getTimes = (): number[] =>
    events.flatMap(({ event, payload }) => (event === 'chat.recalled' ? [(payload as { elapsedMs: number }).elapsedMs] : []));
  // The first recall loads code on demand and builds the index; other calls must be answered in the meantime.
  const startedAt = performance.now();
  let nth = 0;
  let isWarmingUp = true;
  const warmUp = (async () => {
    while (getTimes().length === 0) await send(nth++);
  })().finally(() => (isWarmingUp = false));
  warmUp.catch(() => {});
  let health = 0;
  while (isWarmingUp) {
    const since = performance.now();
    await client.call('health', {});
    health = Math.max(health, performance.now() - since);
  }
  await warmUp;
  const first = performance.now() - startedAt;
  for (const end = nth + messages; nth < end; nth++) await send(nth);
  const later = getTimes().slice(1);
  if (later.length < messages / 3) throw new Error(`of ${messages} messages only ${later.length} were told something`);
  return { first, later, health };
}
