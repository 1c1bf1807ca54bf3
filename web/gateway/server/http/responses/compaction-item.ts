import { fromBase64, toBase64 } from '#shared/base64.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ModelMessage } from '../../../providers/provider.ts';
import type { Item, MessageItem } from '../../../storage/records/response-record.ts';

/** Requests the summary that replaces a conversation. */
export const COMPACTION_PROMPT: ModelMessage = {
  role: 'user',
  content:
    'Summarise this conversation so that the work can continue from the summary alone: goals, decisions, facts, names, open tasks, and the state of the current task. Answer with the summary only.',
};

const SUMMARY_HEADING = 'Summary of the conversation so far:\n';

const compactionContent = z.strictObject({ perch: z.literal('compaction'), summary: z.string() });

/** The item that replaces the summarised conversation. Clients send it back unchanged. */
export const toCompactionItem = (id: string, summary: string): Record<string, unknown> => ({
  ...{ type: 'compaction', id },
  encrypted_content: toBase64(new TextEncoder().encode(JSON.stringify({ perch: 'compaction', summary }))),
});

/** The message that models receive for such an item; undefined if another server created it. */
export function readCompaction(id: string, encrypted: string): MessageItem | undefined {
  try {
    const { summary } = compactionContent.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(fromBase64(encrypted))));
    const text = `${SUMMARY_HEADING}${summary}`;
    return { type: 'message', id, role: 'user', status: 'completed', content: [{ type: 'input_text', text }] };
  } catch {
    return undefined;
  }
}

/** Whether a user's message is a summary: a model wrote it, perhaps after reading outside content. */
export const isSummary = (content: MessageItem['content']): boolean =>
  content.some((part) => part.type === 'input_text' && part.text.startsWith(SUMMARY_HEADING));

/** Whether an item stays unchanged: messages of people and of the client. */
export const isPreserved = (item: Item): boolean => item.type === 'message' && item.role !== 'assistant';
