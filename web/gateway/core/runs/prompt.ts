import type { MessageRecord } from '../vault.ts';
import type { ModelMessage } from '../providers/provider.ts';

/** The line that tells a model what time it is; added to the run, never to the stored message (decisions, "Chat"). */
export function timeContext(now: number, timeZone: string): string {
  const at = new Date(now).toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
  return `Current date and time: ${at} (${timeZone}).`;
}

/** What a model is asked with: the system prompt and time, then the branch as it stands. */
export function promptOf(systemPrompt: string | undefined, time: string, branch: readonly MessageRecord[]): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: 'system', content: systemPrompt ? `${systemPrompt}\n\n${time}` : time }];
  for (const { role, content, toolCalls, toolCallId, name } of branch) {
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
