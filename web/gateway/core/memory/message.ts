import type { Part, ToolCall } from '#shared/rpc/records.ts';

/** A message of a conversation, as memory is given it: what models are asked with, and when it was said. */
export interface MemoryMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | Part[];
  /** The caller's id; a message without one has none in the records either. */
  id?: string | undefined;
  /** Who spoke, where that is more than the role. */
  name?: string | undefined;
  /** Milliseconds since 1970. */
  timestamp?: number | undefined;
  toolCalls?: ToolCall[] | undefined;
  toolCallId?: string | undefined;
}

/** What is text of a message. */
export const textOf = ({ content }: Pick<MemoryMessage, 'content'>): string =>
  typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
