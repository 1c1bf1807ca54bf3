import type { MemoryConfigFields } from '../memory-config.ts';
import type { MemoryMessage } from '../memory-message.ts';
import { type GivenMessage, toMemoryMessage } from '../openai-message.ts';
import { StructuredSummary } from './structured-summary.ts';

/** Counts the tokens of a message for the current model. */
type CountTokens = (message: MemoryMessage) => number;

/** Whether a conversation is too long, and which messages would be summarised. */
export interface ContextCheckResult<M extends GivenMessage = MemoryMessage> {
  needsCompaction: boolean;
  /** The oldest messages in order, possibly beginning with an earlier summary; empty if no compaction is needed. */
  messagesToCompact: M[];
  /** The newest messages, which stay unchanged. */
  messagesToKeep: M[];
  /** Leading system messages, which stay unchanged. Summaries are not among them. */
  systemMessages: M[];
  totalTokens: number;
  /** Number of tokens from which compaction is needed. */
  threshold: number;
  maxTokens: number;
}

/**
 * Splits a conversation: the newest messages that fit into the share `reserveRatio` of the context stay, all earlier ones are summarised. A
 * tool call is never separated from its results: a cut between them moves before the call. An earlier summary is summarised again together
 * with the messages after it, so that summaries do not fill the context.
 */
export function checkContext<M extends GivenMessage = MemoryMessage>(
  input: readonly M[],
  { enabled, maxTokens, compactionThreshold, reserveRatio, minMessagesToCompact }: MemoryConfigFields['compaction'],
  count: CountTokens,
): ContextCheckResult<M> {
  const messages = input.map(toMemoryMessage);
  const first = messages.findIndex((message) => message.role !== 'system' || StructuredSummary.ofMessage(message) !== undefined);
  const begin = first === -1 ? messages.length : first;
  const conversation = messages.slice(begin);
  const tokens = conversation.map(count);
  const totalTokens =
    messages.slice(0, begin).reduce((sum, message) => sum + count(message), 0) + tokens.reduce((sum, message) => sum + message, 0);
  const threshold = Math.floor(compactionThreshold * maxTokens);
  const cut = findCut(conversation, tokens, reserveRatio * maxTokens);
  const needsCompaction = enabled && totalTokens >= threshold && cut >= minMessagesToCompact;
  return {
    needsCompaction,
    messagesToCompact: needsCompaction ? input.slice(begin, begin + cut) : [],
    messagesToKeep: input.slice(needsCompaction ? begin + cut : begin),
    systemMessages: input.slice(0, begin),
    totalTokens,
    threshold,
    maxTokens,
  };
}

/** Number of messages before those that stay. */
function findCut(conversation: readonly MemoryMessage[], tokens: readonly number[], reserve: number): number {
  // The last message stays, however long it is.
  let cut = Math.max(0, conversation.length - 1);
  let keptTokens = tokens[cut] ?? 0;
  while (cut > 0 && keptTokens + (tokens[cut - 1] ?? 0) <= reserve) keptTokens += tokens[--cut] ?? 0;
  for (;;) {
    // A result stays with its call, and the results of one call stay together.
    while (cut > 0 && conversation[cut]?.role === 'tool') cut--;
    const call = findCallBefore(conversation, cut);
    if (call === -1) return cut;
    cut = call;
  }
}

/**
 * Index of the first message before the cut with a call whose result is after it (other messages may come between a call and its result);
 * -1 if there is none.
 */
function findCallBefore(conversation: readonly MemoryMessage[], cut: number): number {
  // Of several calls with one id the latest counts: some models restart their numbering with each turn.
  const calls = new Map<string, number>();
  let first = -1;
  for (const [index, { toolCalls = [], toolCallId }] of conversation.entries()) {
    for (const { id } of toolCalls) calls.set(id, index);
    const call = index < cut || toolCallId === undefined ? undefined : calls.get(toolCallId);
    if (call !== undefined && call < cut && (first === -1 || call < first)) first = call;
  }
  return first;
}

/**
 * Returns the conversation with the summarised messages replaced by a summary. Nothing changes if the summary is empty or the result
 * requires no compaction.
 */
export function applyCompaction<M extends GivenMessage = MemoryMessage>(
  messages: readonly M[],
  summary: MemoryMessage | null,
  result: ContextCheckResult<M>,
): (M | MemoryMessage)[] {
  if (!result.needsCompaction || summary === null || result.messagesToCompact.length === 0) return [...messages];
  const last = result.messagesToCompact.at(-1);
  const end = last ? messages.indexOf(last) : -1;
  // Messages may have been added since the check. If those to compact are gone, they were already summarised.
  if (end === -1) return [...messages];
  return [...messages.slice(0, result.systemMessages.length), summary, ...messages.slice(end + 1)];
}
