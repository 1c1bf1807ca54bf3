import type { MemoryConfigFields } from '../config.ts';
import type { MemoryMessage } from '../message.ts';
import { type GivenMessage, toMemoryMessage } from '../openai-message.ts';
import { StructuredSummary } from './structured-summary.ts';

/** Tokens of a message, for the model in use. */
export type CountTokens = (message: MemoryMessage) => number;

/** Whether a conversation is too long, and what of it would be summarised (interface document 2, section 2.5; decisions, "Memory …"). */
export interface ContextCheckResult<M extends GivenMessage = MemoryMessage> {
  needsCompaction: boolean;
  /** The oldest, in their order, of which the first may be an earlier summary; empty where nothing is to be done. */
  messagesToCompact: M[];
  /** The newest, which stay as they are. */
  messagesToKeep: M[];
  /** System messages at the beginning, which stay too; a summary is none of them. */
  systemMessages: M[];
  totalTokens: number;
  /** Tokens from which on it is too long. */
  threshold: number;
  maxTokens: number;
}

/**
 * The newest messages stay, as many as have a share of `reserveRatio` of the context; all before are summarised. A tool call and its results are never parted: where
 * the cut would fall between them it falls before the call. An earlier summary is summarised with what followed it, so that summaries do not fill the context.
 */
export function checkContext<M extends GivenMessage = MemoryMessage>(
  given: readonly M[],
  { enabled, maxTokens, compactionThreshold, reserveRatio, minMessagesToCompact }: MemoryConfigFields['compaction'],
  count: CountTokens,
): ContextCheckResult<M> {
  const messages = given.map(toMemoryMessage);
  const first = messages.findIndex((message) => message.role !== 'system' || StructuredSummary.ofMessage(message) !== undefined);
  const begin = first === -1 ? messages.length : first;
  const talk = messages.slice(begin);
  const tokens = talk.map(count);
  const totalTokens = messages.slice(0, begin).reduce((sum, each) => sum + count(each), 0) + tokens.reduce((sum, each) => sum + each, 0);
  const threshold = Math.floor(compactionThreshold * maxTokens);
  const cut = cutOf(talk, tokens, reserveRatio * maxTokens);
  const needsCompaction = enabled && totalTokens >= threshold && cut >= minMessagesToCompact;
  return {
    needsCompaction,
    messagesToCompact: needsCompaction ? given.slice(begin, begin + cut) : [],
    messagesToKeep: given.slice(needsCompaction ? begin + cut : begin),
    systemMessages: given.slice(0, begin),
    totalTokens,
    threshold,
    maxTokens,
  };
}

/** How many messages lie before what stays. */
function cutOf(talk: readonly MemoryMessage[], tokens: readonly number[], reserve: number): number {
  // The last message stays, however long it is.
  let cut = Math.max(0, talk.length - 1);
  let kept = tokens[cut] ?? 0;
  while (cut > 0 && kept + (tokens[cut - 1] ?? 0) <= reserve) kept += tokens[--cut] ?? 0;
  for (;;) {
    // A result stays with its call, and results of one call stay together.
    while (cut > 0 && talk[cut]?.role === 'tool') cut--;
    const call = callBefore(talk, cut);
    if (call === -1) return cut;
    cut = call;
  }
}

/** The first message before the cut with a call whose result lies behind it, for something may have been said while a tool ran; -1: there is none. */
function callBefore(talk: readonly MemoryMessage[], cut: number): number {
  // Of several calls of one id the latest counts: some models number those of each turn anew.
  const calls = new Map<string, number>();
  let first = -1;
  for (const [at, { toolCalls = [], toolCallId }] of talk.entries()) {
    for (const { id } of toolCalls) calls.set(id, at);
    const call = at < cut || toolCallId === undefined ? undefined : calls.get(toolCallId);
    if (call !== undefined && call < cut && (first === -1 || call < first)) first = call;
  }
  return first;
}

/** The conversation with a summary in place of what was summarised. An empty summary, or a result that asks for none, changes nothing. */
export function applyCompaction<M extends GivenMessage = MemoryMessage>(
  messages: readonly M[],
  summary: MemoryMessage | null,
  result: ContextCheckResult<M>,
): (M | MemoryMessage)[] {
  if (!result.needsCompaction || summary === null || result.messagesToCompact.length === 0) return [...messages];
  const last = result.messagesToCompact.at(-1);
  const end = last ? messages.indexOf(last) : -1;
  // Messages may have come since it was looked; those that are no longer there were summarised already.
  if (end === -1) return [...messages];
  return [...messages.slice(0, result.systemMessages.length), summary, ...messages.slice(end + 1)];
}
