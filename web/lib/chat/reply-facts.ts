import { money, number } from '#lib/usage/measures.ts';
import { duration } from './durations.ts';
import type { ReplyItem } from './items.ts';

type Made = Pick<ReplyItem, 'usage' | 'elapsedMs' | 'timestamp'>;

/** What a reply took, on one line. */
export function spentWords({ usage }: Pick<ReplyItem, 'usage'>): string {
  if (!usage) return '';
  const tokens = `${number(usage.totalTokens)} tokens${usage.estimated ? ', estimated' : ''}`;
  return usage.cost ? `${tokens} · ${money(usage.cost)}` : tokens;
}

/** The same in full: what it is called, and how much. */
export function replyFacts({ usage, elapsedMs, timestamp }: Made, model: string | null): [name: string, value: string][] {
  const facts: [string, string][] = [];
  if (model !== null) facts.push(['Model', model]);
  if (usage) {
    facts.push(['Tokens in', number(usage.inputTokens)]);
    if (usage.cacheReadTokens) facts.push(['of them cached', number(usage.cacheReadTokens)]);
    facts.push(['Tokens out', number(usage.outputTokens)], ['Counted', usage.estimated ? 'by an estimate' : 'by the provider']);
    if (usage.cost !== undefined) facts.push(['Cost', money(usage.cost)]);
  }
  if (elapsedMs !== undefined) {
    facts.push(['Time', elapsedMs < 1000 ? 'under 1 s' : duration(elapsedMs)]);
    if (usage && elapsedMs > 0) facts.push(['Speed', `${number(Math.round(usage.outputTokens / (elapsedMs / 1000)))} tokens/s`]);
  }
  return [...facts, ['Written', new Date(timestamp).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' })]];
}
