import { formatMemory } from '../../web/gateway/knowledge/memory/long-term.ts';
import type { GatewayClient } from '#shared/client/client.ts';
import { connectOutside, type OutsideClient } from '../e2e/outside-client.ts';
import { startChild } from './child-process.ts';
import { toMaxBar, type Figure } from './figures.ts';
import { startBenchGateway } from './bench-gateway.ts';
import { conversations } from './memory-search-bench.ts';
import { computePercentile } from './stats.ts';

const MINUTE = 60_000;
const FIRST_DAY = Date.UTC(2025, 0, 1);
/** Messages of one chat: each but the first has earlier turns. */
const MESSAGES_PER_CHAT = 8;
const MAX_RECALL_MS = 10;
const MAX_FIRST_RECALL_MS = 500;
const MAX_HEALTH_MS = 50;
/** Length of a memory in characters, so that 50,000 fit into a file. */
const MAX_MEMORY_CHARS = 100;

/**
 * Time that recall adds before a reply, without a model: in the managed Chromium's worker, as the gateway itself measures it, for long-term
 * memories of several sizes.
 */
export async function benchRecall({ quick }: { quick: boolean }): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const entries of quick ? [500, 5000] : [500, 5000, 50_000]) {
    const { imported, restarted, later } = await measureRecall(entries, quick ? 60 : 240);
    const many = entries.toLocaleString('en');
    const p50 = computePercentile(later, 0.5);
    figures.push(
      { what: `recall among ${many} memories, p50`, unit: 'ms', ours: p50, bar: toMaxBar(p50, MAX_RECALL_MS, 'ms') },
      { what: '  p95', unit: 'ms', ours: computePercentile(later, 0.95) },
      { what: '  the first told after all were imported', unit: 'ms', ours: imported.first },
      { what: '  health meanwhile, the longest', unit: 'ms', ours: imported.health },
      {
        what: '  the first told after a restart',
        unit: 'ms',
        ours: restarted.first,
        bar: toMaxBar(restarted.first, MAX_FIRST_RECALL_MS, 'ms'),
      },
      {
        what: '  health meanwhile, the longest',
        unit: 'ms',
        ours: restarted.health,
        bar: toMaxBar(restarted.health, MAX_HEALTH_MS, 'ms'),
      },
    );
  }
  return figures;
}

/** The first recall, and the longest time that another call waited meanwhile, in milliseconds. */
interface FirstRecall {
  first: number;
  health: number;
}

async function measureRecall(
  entries: number,
  messages: number,
): Promise<{ imported: FirstRecall; restarted: FirstRecall; later: number[] }> {
  await using writer = await startChild('writer');
  await using perch = await startBenchGateway({ upstream: `http://127.0.0.1:${writer.port}/v1` });
  const questions = conversations().flatMap((each) => each.questions.map(({ question }) => question));
  let nth = 0;
  const send = (client: GatewayClient): Promise<unknown> => {
    const message = questions[nth % questions.length] ?? '';
    return client.call('chat.send', { message, sessionId: `chat-${Math.floor(nth++ / MESSAGES_PER_CHAT)}`, model: 'bench/short' });
  };
  /** Sends messages until one is told something; other calls must be answered in the meantime. */
  const measureFirst = async ({ client, events }: OutsideClient): Promise<FirstRecall> => {
    const startedAt = performance.now();
    let isWarmingUp = true;
    const warmUp = (async () => {
      while (getTimes(events).length === 0) await send(client);
    })().finally(() => (isWarmingUp = false));
    warmUp.catch(() => {});
    let health = 0;
    while (isWarmingUp) {
      const since = performance.now();
      await client.call('health', {});
      health = Math.max(health, performance.now() - since);
    }
    await warmUp;
    return { first: performance.now() - startedAt, health };
  };
  const { imported, later } = await (async () => {
    using outside = await connectOutside(perch, 'all');
    await outside.client.call('workspace.write', {
      path: 'MEMORY.md',
      content: Buffer.from(createMemories(entries)).toString('base64'),
      encoding: 'base64',
    });
    const imported = await measureFirst(outside);
    for (const end = nth + messages; nth < end;) await send(outside.client);
    return { imported, later: getTimes(outside.events).slice(1) };
  })();
  if (later.length < messages / 3) throw new Error(`of ${messages} messages only ${later.length} were told something`);
  await perch.restart();
  using outside = await connectOutside(perch, 'all');
  const restarted = await measureFirst(outside);
  return { imported, restarted, later };
}

const getTimes = (events: OutsideClient['events']): number[] =>
  events.flatMap(({ event, payload }) => (event === 'chat.recalled' ? [(payload as { elapsedMs: number }).elapsedMs] : []));

/** A long-term file. A unique word distinguishes each memory from similar ones. */
function createMemories(entries: number): string {
  const utterances = conversations().flatMap(({ sessions }) => sessions.flatMap(({ turns }) => turns.map(([, , text]) => text)));
  return Array.from({ length: entries }, (_, nth) => {
    const text = `${(utterances[nth % utterances.length] ?? '').slice(0, MAX_MEMORY_CHARS)} w${nth.toString(36)}`;
    return `${formatMemory({ text, category: 'fact', createdAt: FIRST_DAY + nth * MINUTE }).trimEnd()}\n`;
  }).join('');
}
