import type { MessageRecord } from '../vault.ts';
import type { ModelMessage } from '../providers/provider.ts';

/** The line that tells a model what time it is; added to the run, never to the stored message (decisions, "Chat"). */
export function timeContext(now: number, timeZone: string): string {
  const at = new Date(now).toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
  return `Current date and time: ${at} (${timeZone}).`;
}

/** The system message: what is set, what the agent is to know of how things stand, and the time with what has happened. */
export const systemOf = (systemPrompt: string | undefined, notes: readonly string[], context: string): string =>
  [systemPrompt, ...notes, context].filter(Boolean).join('\n\n');

/** What a model is asked with: the system message, then the branch as it stands. */
export function promptOf(system: string, branch: readonly MessageRecord[]): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: 'system', content: system }];
  for (const message of branch) {
    const { role, toolCalls, toolCallId, name } = message;
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
  return messages;
}

/** What an agent has sent is named to it, and not sent back to its model. */
function withoutFiles(content: MessageRecord['content']): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => (part.type === 'text' ? part.text : `[You sent the file ${part.filename ?? 'without a name'}.]`))
    .join('\n\n');
}
