import { familyOf } from '#shared/tokens/family.ts';
import type { Compaction } from '#shared/rpc/records.ts';
import { checkContext, type ContextCheckResult } from '../memory/compaction/check-context.ts';
import type { MemoryMessage } from '../memory/message.ts';
import { countMessage, estimateMessage } from '../providers/estimate.ts';
import { letOthers } from '../tokens/turn.ts';
import { addText } from '../runs/run-context.ts';
import type { MessageRecord } from '../vault.ts';
import type { CompactionSettings } from './settings.ts';
import { shownSummary, type Told } from './since-summary.ts';

/** Tokens of the parts of a conversation. */
export interface Measured {
  /** Tokens of each message. */
  tokens: ReadonlyMap<MessageRecord, number>;
  /** Tokens of the previous summary. */
  summary: number;
  /** Tokens of the system message and other parts of every prompt. */
  fixed: number;
  total: number;
}

/** Share of the limit from which an estimate is not precise enough. */
const NEAR = 0.7;

/** A conversation to measure. */
export interface Conversation {
  told: Told;
  /** Texts that every prompt contains in addition. */
  beside: readonly string[];
  /** Key of the model. */
  model: string;
}

/** Measures with an estimate. */
export async function estimated(conversation: Conversation, signal: AbortSignal): Promise<Measured> {
  return measure(conversation, async (content) => {
    await letOthers(signal);
    return estimateMessage(content, conversation.model);
  });
}

/** Returns the estimate, or an actual count if that is close to `most` tokens and the model's tokenizer is available. */
export async function measured(conversation: Conversation, guess: Measured, most: number, signal: AbortSignal): Promise<Measured> {
  const { model } = conversation;
  const family = familyOf(model);
  if (guess.total < NEAR * most || (family !== 'o200k' && family !== 'cl100k')) return guess;
  return measure(conversation, (content) => countMessage(content, model, signal));
}

/** Measures as exactly as possible. */
export const counted = async (conversation: Conversation, signal: AbortSignal): Promise<Measured> =>
  measured(conversation, await estimated(conversation, signal), 0, signal);

type Count = (message: Pick<MessageRecord, 'content' | 'toolCalls'>) => Promise<number>;

async function measure({ told, beside }: Conversation, count: Count): Promise<Measured> {
  const tokens = new Map<MessageRecord, number>();
  let [total, fixed] = [0, 0];
  for (const message of told.messages) {
    const { runContext } = message;
    const size = await count(runContext ? addText(message, runContext.text, 'before') : message);
    tokens.set(message, size);
    total += size;
  }
  for (const text of beside) fixed += await count({ content: text });
  const summary = told.summary ? await count({ content: shownSummary(told.summary) }) : 0;
  return { tokens, summary, fixed, total: total + fixed + summary };
}

/**
 * Selects the messages to summarise. `urgent`: as many as possible, because the context is full. `asked`: on a user's request, keeps the
 * newest share of the conversation.
 */
export function planned(
  { messages }: Pick<Told, 'messages'>,
  { tokens, summary, fixed, total }: Measured,
  settings: CompactionSettings & { limit: number },
  how: 'usual' | 'urgent' | 'asked',
): Omit<ContextCheckResult, 'messagesToCompact'> & { messagesToCompact: MessageRecord[] } {
  const talk = total - fixed - summary;
  const sizes: ReadonlyMap<MemoryMessage, number> = tokens;
  const config = {
    enabled: true,
    maxTokens: how === 'asked' ? Math.min(settings.limit, Math.max(1, talk)) : settings.limit,
    reserveRatio: settings.reserve_ratio,
    compactionThreshold: how === 'asked' ? 0 : settings.compaction_threshold,
    minMessagesToCompact: how === 'usual' ? settings.min_messages_to_compact : how === 'asked' ? 2 : 1,
  };
  // All fixed parts of the prompt count as one system message.
  const result = checkContext([{ role: 'system', content: '' }, ...messages], config, (message) => sizes.get(message) ?? fixed + summary);
  return { ...result, messagesToCompact: messages.slice(0, result.messagesToCompact.length) };
}

/** Tokens before and after a summary. */
export function outcome(
  { tokens, summary, total, fixed }: Measured,
  compacted: readonly MessageRecord[],
  after: number,
): Pick<Compaction, 'tokensBefore' | 'tokensAfter'> {
  const gone = compacted.reduce((sum, message) => sum + (tokens.get(message) ?? 0), summary);
  const tokensBefore = total - fixed;
  return { tokensBefore, tokensAfter: tokensBefore - gone + after };
}
