import { formatMemory } from '../../web/gateway/core/memory/long-term.ts';
import { connectOutside } from '../e2e/outside.ts';
import { startChild } from './child.ts';
import { atMost, type Figure } from './figures.ts';
import { startGateway } from './gateway.ts';
import { conversations } from './memory-search.ts';
import { percentile } from './stats.ts';

const MINUTE = 60_000;
const FIRST = Date.UTC(2025, 0, 1);
/** Messages of one chat: each but the first is asked with turns before it. */
const A_CHAT = 8;
const BAR_MS = 30;
/** Characters of a memory, so that 50,000 fit into a file. */
const LONGEST = 100;

/**
 * Time that recall adds before a reply, without a model: in the managed Chromium's worker, as the gateway itself measures it, for long-term
 * memories of several sizes.
 */
export async function recall({ quick }: { quick: boolean }): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const entries of quick ? [500, 5000] : [500, 5000, 50_000]) {
    const { first, later, health } = await measured(entries, quick ? 60 : 240);
    const many = entries.toLocaleString('en');
    const p50 = percentile(later, 0.5);
    figures.push(
      { what: `recall among ${many} memories, p50`, unit: 'ms', ours: p50, bar: atMost(p50, BAR_MS, 'ms') },
      { what: '  p95', unit: 'ms', ours: percentile(later, 0.95) },
      { what: '  the first told after a start', unit: 'ms', ours: first },
      { what: '  health meanwhile, the longest', unit: 'ms', ours: health },
    );
  }
  return figures;
}

async function measured(entries: number, messages: number): Promise<{ first: number; later: number[]; health: number }> {
  await using writer = await startChild('writer');
  await using perch = await startGateway({ upstream: `http://127.0.0.1:${writer.port}/v1` });
  using outside = await connectOutside(perch, 'all');
  const { client, events } = outside;
  const said = conversations().flatMap(({ sessions }) => sessions.flatMap(({ turns }) => turns.map(([, , text]) => text)));
  // A word of its own tells each from its likes.
  const lines = Array.from({ length: entries }, (_, nth) => {
    const text = `${(said[nth % said.length] ?? '').slice(0, LONGEST)} w${nth.toString(36)}`;
    return `${formatMemory({ text, category: 'fact', createdAt: FIRST + nth * MINUTE }).trimEnd()}\n`;
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
      sessionId: `chat-${Math.floor(nth / A_CHAT)}`,
      model: 'bench/short',
    });
  const told = (): number[] =>
    events.flatMap(({ event, payload }) => (event === 'chat.recalled' ? [(payload as { elapsedMs: number }).elapsedMs] : []));
  // The first one loads code on demand and builds the index; others must be answered in the meantime.
  const began = performance.now();
  let nth = 0;
  let waits = true;
  const begun = (async () => {
    while (told().length === 0) await send(nth++);
  })().finally(() => (waits = false));
  begun.catch(() => {});
  let health = 0;
  while (waits) {
    const since = performance.now();
    await client.call('health', {});
    health = Math.max(health, performance.now() - since);
  }
  await begun;
  const first = performance.now() - began;
  for (const end = nth + messages; nth < end; nth++) await send(nth);
  const later = told().slice(1);
  if (later.length < messages / 3) throw new Error(`of ${messages} messages only ${later.length} were told something`);
  return { first, later, health };
}
