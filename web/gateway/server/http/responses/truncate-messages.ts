import { estimateMessage } from '../../../providers/estimate-usage.ts';
import type { ModelMessage } from '../../../providers/provider.ts';

/**
 * Removes the oldest messages, so that the rest fits into `tokens` by an estimate for the model. Keeps system messages, and everything from
 * the user's last message on; a call and its result are removed together.
 */
export function truncateMessages(messages: readonly ModelMessage[], tokens: number, model: string): ModelMessage[] {
  const sizes = messages.map((message) => estimateMessage(message, model));
  let size = sizes.reduce((sum, each) => sum + each, 0);
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const dropped = new Set<number>();
  for (let index = 0; index < last; index++) {
    const role = messages[index]?.role;
    if (role === 'system') continue;
    if (size <= tokens && role !== 'tool') break;
    dropped.add(index);
    size -= sizes[index] ?? 0;
  }
  return messages.filter((_, index) => !dropped.has(index));
}
