import { errorShape } from './frames.ts';
import { citedSource } from './passage.ts';
import { compaction, recalledMemory, subAgentEntry, usage } from './record-schemas.ts';
import { z } from './zod.ts';

const chatFields = { sessionId: z.string(), agentId: z.string(), runId: z.string() };

/** Events of chats and their sessions. */
export const chatEvents = {
  /** A piece of the reply's text. `offset` is the length of the run's text before it, in UTF-16 code units, so that a client that joins late neither repeats nor misses text. */
  'chat.delta': z.object({ ...chatFields, delta: z.string(), role: z.literal('assistant'), offset: z.number().int() }),
  /** The model is writing tool calls: the tools named so far. `chat.tool_call` follows with the complete calls, unless the attempt fails. */
  'chat.tool_pending': z.object({ ...chatFields, tools: z.array(z.string()) }),
  /** The model calls a tool. */
  'chat.tool_call': z.object({ ...chatFields, tool: z.string(), args: z.record(z.string(), z.unknown()), toolCallId: z.string() }),
  /** A tool call returned. `isError` is true if the tool failed. */
  'chat.tool_result': z.object({
    ...chatFields,
    tool: z.string(),
    result: z.unknown(),
    toolCallId: z.string(),
    isError: z.boolean().optional(),
  }),
  /** A tool has read texts that the reply can cite. Until the run ends, its text contains their numbers in brackets, such as `[3]`; the stored reply has `citations` instead. */
  'chat.sources': z.object({ ...chatFields, sources: z.array(citedSource) }),
  /** A sub-agent of the run was started, uses another tool, or has ended. Sent to the sessions of all runs above it. */
  'chat.sub_agent': z.object({ ...chatFields, subAgent: subAgentEntry }),
  /** The run completed and its reply was stored as the message `messageId`. */
  'chat.done': z.object({ ...chatFields, usage, messageId: z.string() }),
  /** The run failed or was aborted. `messageId` is the stored partial reply, if there is one. */
  'chat.error': z.object({ ...chatFields, error: errorShape, messageId: z.string().optional() }),
  /** The memories that the model is given before it replies. Not sent if there are none. */
  'chat.recalled': z.object({ ...chatFields, memories: z.array(recalledMemory), elapsedMs: z.number() }),
  /** A piece of the model's reasoning, if its provider returns it. `offset` is the length of the run's reasoning before it, in UTF-16 code units. */
  'chat.reasoning': z.object({ ...chatFields, delta: z.string(), offset: z.number().int() }),
  /** A person's message was stored. Other tabs show it immediately. */
  'chat.message': z.object({
    ...chatFields,
    messageId: z.string(),
    parentId: z.string().nullable(),
    content: z.string(),
    timestamp: z.number(),
  }),
  /** A session was created, changed or deleted. */
  'sessions.changed': z.object({ path: z.string(), agentId: z.string(), sessionId: z.string(), deleted: z.boolean().optional() }),
  /** The conversation was summarised for the model, up to and including the message `messageId`. The messages themselves are not changed. */
  'sessions.compacted': z.object({
    path: z.string(),
    agentId: z.string(),
    sessionId: z.string(),
    messageId: z.string(),
    compaction,
  }),
} as const;

/** Events that a run can emit. */
export const RUN_EVENTS = [
  'chat.recalled',
  'chat.reasoning',
  'chat.delta',
  'chat.tool_pending',
  'chat.tool_call',
  'chat.tool_result',
  'chat.sources',
  'chat.sub_agent',
  'chat.done',
  'chat.error',
] as const satisfies readonly (keyof typeof chatEvents)[];
