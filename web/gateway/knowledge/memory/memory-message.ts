import type { MessagePart, ToolCall } from '#shared/rpc/record-schemas.ts';

/** A message of a conversation: the input of a model, with the time it was sent. */
export interface MemoryMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | MessagePart[];
  /** The caller's id. A message without one is stored without one. */
  id?: string | undefined;
  /** Name of the speaker, if the role alone does not identify them. */
  name?: string | undefined;
  /** Milliseconds since the Unix epoch. */
  timestamp?: number | undefined;
  toolCalls?: ToolCall[] | undefined;
  toolCallId?: string | undefined;
}

/** Text content of a message. */
export const getText = ({ content }: Pick<MemoryMessage, 'content'>): string =>
  typeof content === 'string' ? content : content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
