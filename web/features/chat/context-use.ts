import { estimateTokens } from '#shared/estimate-tokens.ts';
import type { HistoryMessage } from '#shared/rpc/record-schemas.ts';
import { getContentText } from '#app/files/message-files.ts';

/** Tokens of a model's context that a conversation uses. */
interface ContextUse {
  tokens: number;
  /** Whether some of the tokens were estimated. */
  isEstimate: boolean;
}

/** Tokens that replies have read from the provider's cache, and their share of the input. Undefined if no provider has reported it. */
export function sumCached(messages: readonly HistoryMessage[]): { tokens: number; share: number } | undefined {
  const reported = messages.flatMap(({ usage }) =>
    usage?.cacheReadTokens === undefined ? [] : [{ ...usage, cached: usage.cacheReadTokens }],
  );
  const input = reported.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
  const tokens = reported.reduce((sum, { cached }) => sum + cached, 0);
  return input === 0 ? undefined : { tokens, share: tokens / input };
}

/**
 * Estimates the context of the next request: that of the last reply and its answer, or of the last summary, and an estimate for later
 * messages. `hasEarlier`: earlier messages are not loaded.
 */
export function estimateContextUse(messages: readonly HistoryMessage[], hasEarlier: boolean): ContextUse {
  const summary = messages.findLastIndex(({ compaction }) => compaction !== undefined);
  const summarised = messages[summary]?.compaction;
  let tokens = 0;
  let isEstimate = false;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (!message) break;
    // A count from before a summary no longer applies.
    if (message.contextTokens !== undefined && message.timestamp >= (summarised?.at ?? 0))
      return { tokens: tokens + message.contextTokens, isEstimate: isEstimate || message.usage?.estimated === true };
    if (summarised && at === summary) return { tokens: tokens + estimateTokens(summarised.summary), isEstimate: true };
    isEstimate = true;
    tokens += estimateTokens(getContentText(message.content)) + (message.toolCalls ? estimateTokens(JSON.stringify(message.toolCalls)) : 0);
  }
  return { tokens, isEstimate: isEstimate || hasEarlier };
}
