import { getTokenFamily } from '#shared/tokens/token-family.ts';
import type { Compaction } from '#shared/rpc/record-schemas.ts';
import { checkContext, type ContextCheckResult } from '../../knowledge/memory/compaction/check-context.ts';
import type { MemoryMessage } from '../../knowledge/memory/memory-message.ts';
import { countMessage, estimateMessage } from '../../providers/estimate-usage.ts';
import { yieldIfDue } from '../../providers/tokens/yield-if-due.ts';
import { addText } from '../runs/run-context.ts';
import type { MessageRecord } from '../../storage/chat-records.ts';
import type { CompactionSettings } from '../../config/sections/compaction-settings.ts';
import { toSummaryText, type PromptHistory } from './prompt-history.ts';

/** Tokens of the parts of a conversation. */
export interface TokenCounts {
  /** Tokens of each message. */
  tokens: ReadonlyMap<MessageRecord, number>;
  /** Tokens of the previous summary. */
  summary: number;
  /** Tokens of the system message and other parts of every prompt. */
  fixed: number;
  total: number;
}

/** Share of the limit from which an estimate is not precise enough. */
const ESTIMATE_LIMIT_SHARE = 0.7;

/** A conversation to measure. */
export interface Conversation {
  history: PromptHistory;
  /** Texts that every prompt contains in addition. */
  extraTexts: readonly string[];
  /** Key of the model. */
  model: string;
}

/** Measures with an estimate. */
export async function estimateConversation(conversation: Conversation, signal: AbortSignal): Promise<TokenCounts> {
  return sumTokens(conversation, async (content) => {
    await yieldIfDue(signal);
    return estimateMessage(content, conversation.model);
  });
}

/** Returns the estimate, or an actual count if that is close to `threshold` tokens and the model's tokenizer is available. */
export async function measureConversation(
  conversation: Conversation,
  estimate: TokenCounts,
  threshold: number,
  signal: AbortSignal,
): Promise<TokenCounts> {
  const { model } = conversation;
  const family = getTokenFamily(model);
  if (estimate.total < ESTIMATE_LIMIT_SHARE * threshold || (family !== 'o200k' && family !== 'cl100k')) return estimate;
  return sumTokens(conversation, (content) => countMessage(content, model, signal));
}

/** Measures as exactly as possible. */
export const countConversation = async (conversation: Conversation, signal: AbortSignal): Promise<TokenCounts> =>
  measureConversation(conversation, await estimateConversation(conversation, signal), 0, signal);

type CountTokens = (message: Pick<MessageRecord, 'content' | 'toolCalls'>) => Promise<number>;

async function sumTokens({ history, extraTexts }: Conversation, count: CountTokens): Promise<TokenCounts> {
  const tokens = new Map<MessageRecord, number>();
  let [total, fixed] = [0, 0];
  for (const message of history.messages) {
    const { runContext } = message;
    const size = await count(runContext ? addText(message, runContext.text, 'before') : message);
    tokens.set(message, size);
    total += size;
  }
  for (const text of extraTexts) fixed += await count({ content: text });
  const summary = history.summary ? await count({ content: toSummaryText(history.summary) }) : 0;
  return { tokens, summary, fixed, total: total + fixed + summary };
}

/**
 * Selects the messages to summarise. `urgent`: as many as possible, because the context is full. `asked`: on a user's request, keeps the
 * newest share of the conversation.
 */
export function planCompaction(
  { messages }: Pick<PromptHistory, 'messages'>,
  { tokens, summary, fixed, total }: TokenCounts,
  settings: CompactionSettings & { limit: number },
  mode: 'usual' | 'urgent' | 'asked',
): Omit<ContextCheckResult, 'messagesToCompact'> & { messagesToCompact: MessageRecord[] } {
  const conversationTokens = total - fixed - summary;
  const sizes: ReadonlyMap<MemoryMessage, number> = tokens;
  const config = {
    enabled: true,
    maxTokens: mode === 'asked' ? Math.min(settings.limit, Math.max(1, conversationTokens)) : settings.limit,
    reserveRatio: settings.reserve_ratio,
    compactionThreshold: mode === 'asked' ? 0 : settings.compaction_threshold,
    minMessagesToCompact: mode === 'usual' ? settings.min_messages_to_compact : mode === 'asked' ? 2 : 1,
  };
  // All fixed parts of the prompt count as one system message.
  const result = checkContext([{ role: 'system', content: '' }, ...messages], config, (message) => sizes.get(message) ?? fixed + summary);
  return { ...result, messagesToCompact: messages.slice(0, result.messagesToCompact.length) };
}

/** Tokens before and after a summary. */
export function computeTokenChange(
  { tokens, summary, total, fixed }: TokenCounts,
  compacted: readonly MessageRecord[],
  after: number,
): Pick<Compaction, 'tokensBefore' | 'tokensAfter'> {
  const freedTokens = compacted.reduce((sum, message) => sum + (tokens.get(message) ?? 0), summary);
  const tokensBefore = total - fixed;
  return { tokensBefore, tokensAfter: tokensBefore - freedTokens + after };
}
