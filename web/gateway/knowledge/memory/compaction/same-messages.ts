import { getText } from '../memory-message.ts';
import { type GivenMessage, toMemoryMessage } from '../openai-message.ts';
import type { ContextCheckResult } from './check-context.ts';

/**
 * Maps a result onto another array of the same messages, matching them by id, or by role and content. If the array does not begin with the
 * checked messages, the result requires no compaction.
 */
export function remapResult<M extends GivenMessage>(messages: readonly M[], result: ContextCheckResult<M>): ContextCheckResult<M> {
  const begin = result.systemMessages.length;
  const same = messages.slice(begin, begin + result.messagesToCompact.length);
  const isSame = result.messagesToCompact.every((message, index) => isSameMessage(message, same[index]));
  return isSame ? { ...result, messagesToCompact: same } : { ...result, needsCompaction: false };
}

function isSameMessage(message: GivenMessage, candidate: GivenMessage | undefined): boolean {
  if (!candidate) return false;
  const [a, b] = [toMemoryMessage(message), toMemoryMessage(candidate)];
  if (a.role !== b.role) return false;
  return a === b || (a.id !== undefined && a.id === b.id) || (a.id === b.id && a.toolCallId === b.toolCallId && getText(a) === getText(b));
}
