import type { Usage } from '#shared/rpc/records.ts';
import { dateTime, number } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/later.ts';
import { money } from '#lib/i18n/money.ts';
import { duration } from './durations.ts';
import type { ReplyItem } from './items.ts';

type Made = Pick<ReplyItem, 'usage' | 'elapsedMs' | 'timestamp'>;

/** How many tokens, and whether that is an estimate. */
export const tokenWords = ({ totalTokens: count, estimated }: Usage): string =>
  estimated ? m.reply_tokens_estimated({ count }) : m.reply_tokens({ count });

/** Usage of a reply, on one line. */
export function spentWords({ usage }: Pick<ReplyItem, 'usage'>): string {
  if (!usage) return '';
  const tokens = tokenWords(usage);
  return usage.cost ? `${tokens} · ${money(usage.cost)}` : tokens;
}

/** Full details of a reply as pairs of name and value. */
export function replyFacts({ usage, elapsedMs, timestamp }: Made, model: string | null): [name: string, value: string][] {
  const facts: [string, string][] = [];
  if (model !== null) facts.push([m.reply_fact_model(), model]);
  if (usage) {
    facts.push([m.reply_fact_tokens_in(), number(usage.inputTokens)]);
    if (usage.cacheReadTokens) facts.push([m.reply_fact_cached(), number(usage.cacheReadTokens)]);
    if (usage.cacheWriteTokens) facts.push([m.reply_fact_cache_written(), number(usage.cacheWriteTokens)]);
    facts.push(
      [m.reply_fact_tokens_out(), number(usage.outputTokens)],
      [m.reply_fact_counted(), usage.estimated ? m.reply_counted_by_estimate() : m.reply_counted_by_provider()],
    );
    if (usage.cost !== undefined) facts.push([m.reply_fact_cost(), money(usage.cost)]);
  }
  if (elapsedMs !== undefined) {
    facts.push([m.reply_fact_time(), elapsedMs < 1000 ? m.reply_span_under_second() : duration(elapsedMs)]);
    if (usage && elapsedMs > 0) {
      const tokens = number(Math.round(usage.outputTokens / (elapsedMs / 1000)));
      facts.push([m.reply_fact_speed(), m.reply_tokens_per_second({ tokens })]);
    }
  }
  return [...facts, [m.reply_fact_written(), dateTime(timestamp, { dateStyle: 'medium', timeStyle: 'short' })]];
}
