import { errorShape } from './frames.ts';
import { compaction, recalledMemory, usage } from './records.ts';
import { z } from './zod.ts';

const chat = { sessionId: z.string(), agentId: z.string(), runId: z.string() };

/** Events of chats and of the sessions that they are in. */
export const chatEvents = {
  /** `offset`: length of the run's text before this delta, in UTF-16 units, so that a reader who joins late neither repeats nor misses any. */
  'chat.delta': z.object({ ...chat, delta: z.string(), role: z.literal('assistant'), offset: z.number().int() }),
  /** The tools of the calls that the model is writing, until `chat.tool_call` tells of them all. A try that failed leaves none. */
  'chat.tool_pending': z.object({ ...chat, tools: z.array(z.string()) }),
  'chat.tool_call': z.object({ ...chat, tool: z.string(), args: z.record(z.string(), z.unknown()), toolCallId: z.string() }),
  'chat.tool_result': z.object({ ...chat, tool: z.string(), result: z.unknown(), toolCallId: z.string(), isError: z.boolean().optional() }),
  'chat.done': z.object({ ...chat, usage, messageId: z.string() }),
  'chat.error': z.object({ ...chat, error: errorShape, messageId: z.string().optional() }),
  /** What the model is told from memory before it replies; only where there is something. */
  'chat.recalled': z.object({ ...chat, memories: z.array(recalledMemory), elapsedMs: z.number() }),
  /** What the model thinks before it speaks, where its provider tells. `offset`: length of the run's thoughts before it, in UTF-16 units. */
  'chat.reasoning': z.object({ ...chat, delta: z.string(), offset: z.number().int() }),
  /** A message was stored by a person's send: other tabs show it at once. */
  'chat.message': z.object({ ...chat, messageId: z.string(), parentId: z.string().nullable(), content: z.string(), timestamp: z.number() }),
  /** A session was made, changed or deleted: lists refresh. */
  'sessions.changed': z.object({ path: z.string(), agentId: z.string(), sessionId: z.string(), deleted: z.boolean().optional() }),
  /** A conversation was summarised for its models, up to and with that message; what was said stays as it is. */
  'sessions.compacted': z.object({
    path: z.string(),
    agentId: z.string(),
    sessionId: z.string(),
    messageId: z.string(),
    compaction,
  }),
} as const;

/** What a run tells its readers. */
export const RUN_EVENTS = [
  'chat.recalled',
  'chat.reasoning',
  'chat.delta',
  'chat.tool_pending',
  'chat.tool_call',
  'chat.tool_result',
  'chat.done',
  'chat.error',
] as const satisfies readonly (keyof typeof chatEvents)[];
