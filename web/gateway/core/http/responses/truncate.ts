import { estimateMessage } from '../../providers/estimate.ts';
import type { ModelMessage } from '../../providers/provider.ts';

/**
 * The messages without the oldest ones, so that they fit into `tokens` by an estimate for the model. What the system says stays, and so does everything from the last message of
 * the person on; a call never goes without its result.
 */
export function truncated(messages: readonly ModelMessage[], tokens: number, model: string): ModelMessage[] {
  const sizes = messages.map((message) => estimateMessage(message, model));
  let size = sizes.reduce((sum, each) => sum + each, 0);
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const dropped = new Set<number>();
  for (let at = 0; at < last; at++) {
    const role = messages[at]?.role;
    if (role === 'system') continue;
    if (size <= tokens && role !== 'tool') break;
    dropped.add(at);
    size -= sizes[at] ?? 0;
  }
  return messages.filter((_, at) => !dropped.has(at));
}
