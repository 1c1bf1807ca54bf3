import type { MessageRecord } from '../vault.ts';
import type { ModelMessage } from '../providers/provider.ts';
import { toWrittenBranch } from '../tools/routed-call.ts';

/** The line that tells a model what time it is; added to the run, never to the stored message (decisions, "Chat"). */
export function timeContext(now: number, timeZone: string): string {
  const at = new Date(now).toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
  return `Current date and time: ${at} (${timeZone}).`;
}

/** The system message: what is set, what the agent is to know of how things stand, and the time with what has happened. */
export const systemOf = (systemPrompt: string | undefined, notes: readonly string[], context: string): string =>
  [systemPrompt, ...notes, context].filter(Boolean).join('\n\n');

/** What a model is told of a call whose result is not in the branch. */
const NO_RESULT = '{"error":"the result of this call is not here"}';

/**
 * What a model is asked with: the system message, then the branch as it stands. Where that was cut (by its length, a fork, or whoever wrote a chat that was
 * imported), calls and results are made to fit again: servers refuse a request with one that lacks the other, and would from then on.
 */
export function promptOf(system: string, branch: readonly MessageRecord[]): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: 'system', content: system }];
  /** Calls whose results are still to come. */
  const open = new Map<string, string>();
  const close = (): void => {
    for (const [toolCallId, name] of open) messages.push({ role: 'tool', content: NO_RESULT, toolCallId, name });
    open.clear();
  };
  for (const message of toWrittenBranch(branch)) {
    const { role, toolCalls, toolCallId, name } = message;
    if (role !== 'tool') close();
    else if (toolCallId === undefined || !open.delete(toolCallId)) continue;
    for (const call of toolCalls ?? []) open.set(call.id, call.tool);
    const content = role === 'assistant' ? withoutFiles(message.content) : message.content;
    // An empty reply (stopped before the first word) would be refused by some servers.
    if (role === 'assistant' && content === '' && !toolCalls?.length) continue;
    messages.push({
      role,
      content,
      ...(toolCalls ? { toolCalls } : {}),
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(name === undefined ? {} : { name }),
    });
  }
  close();
  return messages;
}

/** Marks what is sent now, which is the last message, and what the session had before. */
export const inSession = (messages: readonly ModelMessage[]): ModelMessage[] =>
  messages.map((message, index) => ({ ...message, inSession: index === messages.length - 1 ? 'now' : 'earlier' }));

/** What an agent has sent is named to it, and not sent back to its model. */
function withoutFiles(content: MessageRecord['content']): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => (part.type === 'text' ? part.text : `[You sent the file ${part.filename ?? 'without a name'}.]`))
    .join('\n\n');
}

/**
 * The messages with what memory has on one of them in front of its words. Not as a message of its own: the templates of some models refuse two messages of the
 * person in a row.
 */
export const withRecalled = (messages: readonly ModelMessage[], place: number, recalled: string): ModelMessage[] =>
  messages.map((message, index) => {
    if (index !== place) return message;
    const { content } = message;
    return {
      ...message,
      content: typeof content === 'string' ? `${recalled}\n\n${content}` : [{ type: 'text', text: recalled }, ...content],
    };
  });
