import type { Usage } from '#shared/rpc/record-schemas.ts';
import { formatDateTime, formatNumber } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';
import { formatMoney } from '#app/i18n/format-money.ts';
import { formatDuration } from './format-duration.ts';
import type { ReplyItem } from '#app/state/chat-items.ts';

type ReplyStats = Pick<ReplyItem, 'usage' | 'elapsedMs' | 'timestamp'>;

/** Formats the number of tokens, and whether it is an estimate. */
export const formatTokenUsage = ({ totalTokens: count, estimated }: Usage): string =>
  estimated ? m.reply_tokens_estimated({ count }) : m.reply_tokens({ count });

/** Usage of a reply, on one line. */
export function formatUsage({ usage }: Pick<ReplyItem, 'usage'>): string {
  if (!usage) return '';
  const tokens = formatTokenUsage(usage);
  return usage.cost ? `${tokens} · ${formatMoney(usage.cost)}` : tokens;
}

/** Full details of a reply as pairs of name and value. */
export function getReplyFacts({ usage, elapsedMs, timestamp }: ReplyStats, model: string | null): [name: string, value: string][] {
  const facts: [string, string][] = [];
  if (model !== null) facts.push([m.reply_fact_model(), model]);
  if (usage) {
    facts.push([m.reply_fact_tokens_in(), formatNumber(usage.inputTokens)]);
    if (usage.cacheReadTokens) facts.push([m.reply_fact_cached(), formatNumber(usage.cacheReadTokens)]);
    if (usage.cacheWriteTokens) facts.push([m.reply_fact_cache_written(), formatNumber(usage.cacheWriteTokens)]);
    facts.push(
      [m.reply_fact_tokens_out(), formatNumber(usage.outputTokens)],
      [m.reply_fact_counted(), usage.estimated ? m.reply_counted_by_estimate() : m.reply_counted_by_provider()],
    );
    if (usage.cost !== undefined) facts.push([m.reply_fact_cost(), formatMoney(usage.cost)]);
  }
  if (elapsedMs !== undefined) {
    facts.push([m.reply_fact_time(), elapsedMs < 1000 ? m.reply_span_under_second() : formatDuration(elapsedMs)]);
    if (usage && elapsedMs > 0) {
      const tokens = formatNumber(Math.round(usage.outputTokens / (elapsedMs / 1000)));
      facts.push([m.reply_fact_speed(), m.reply_tokens_per_second({ tokens })]);
    }
  }
  return [...facts, [m.reply_fact_written(), formatDateTime(timestamp, { dateStyle: 'medium', timeStyle: 'short' })]];
}
