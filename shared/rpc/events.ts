import { errorShape } from './frames.ts';
import { approval } from './methods/approvals.ts';
import { configFileState } from './methods/config.ts';
import { execRequest } from './methods/exec.ts';
import { usage } from './records.ts';
import { z } from './zod.ts';

const chat = { sessionId: z.string(), agentId: z.string(), runId: z.string() };

/** Every event the server pushes, and its payload (interface document 1, section 6; decisions, "Chat"). */
export const events = {
  'connect.challenge': z.object({ nonce: z.string(), ts: z.number() }),
  tick: z.object({ ts: z.number() }),
  /** `offset`: length of the run's text before this delta, in UTF-16 units, so that a reader who joins late neither repeats nor misses any. */
  'chat.delta': z.object({ ...chat, delta: z.string(), role: z.literal('assistant'), offset: z.number().int() }),
  'chat.tool_call': z.object({ ...chat, tool: z.string(), args: z.record(z.string(), z.unknown()), toolCallId: z.string() }),
  'chat.tool_result': z.object({ ...chat, tool: z.string(), result: z.unknown(), toolCallId: z.string(), isError: z.boolean().optional() }),
  'chat.done': z.object({ ...chat, usage, messageId: z.string() }),
  'chat.error': z.object({ ...chat, error: errorShape, messageId: z.string().optional() }),
  /** A message was stored by a person's send: other tabs show it at once. */
  'chat.message': z.object({ ...chat, messageId: z.string(), parentId: z.string().nullable(), content: z.string(), timestamp: z.number() }),
  /** A session was made, changed or deleted: lists refresh. */
  'sessions.changed': z.object({ path: z.string(), agentId: z.string(), sessionId: z.string(), deleted: z.boolean().optional() }),
  'config.changed': z.object({ hash: z.string() }),
  'plan.changed': z.object({ planId: z.string(), deleted: z.boolean().optional() }),
  /** A job was added, changed, removed, or has run: `jobId` says which. */
  'cron.changed': z.object({ jobId: z.string() }),
  /** A command waits for a person's word. */
  'exec.requested': z.object({ request: execRequest }),
  /** A request was approved, denied, cancelled, has expired, or its command has ended. Requests in events come without their output. */
  'exec.resolved': z.object({ request: execRequest }),
  /** More output of a command that runs; `offset`: length of that output before it, in UTF-16 units. */
  'exec.output': z.object({ requestId: z.string(), stream: z.enum(['stdout', 'stderr']), text: z.string(), offset: z.number().int() }),
  /** A tool waits for a person's word, and what was said. */
  'approval.requested': z.object({ approval }),
  'approval.resolved': z.object({ approval }),
  /** The configuration file was read, written, or cannot be used. */
  'config.file': configFileState,
  /** How this host stands with the journal has changed, or a version was put aside: `sync.status` and `sync.conflicts` tell. */
  'sync.changed': z.object({ state: z.string() }),
  /** The gateway is about to leave (update or hand-over): finish, then reconnect. */
  shutdown: z.object({ reason: z.string() }),
} as const;

export type EventName = keyof typeof events;
export type EventPayload<E extends EventName> = z.infer<(typeof events)[E]>;
export type AnyEvent = { [E in EventName]: { event: E; payload: EventPayload<E> } }[EventName];
/** The five events of a chat run, whose terminal ones are `chat.done` and `chat.error`. */
export const CHAT_EVENTS = ['chat.delta', 'chat.tool_call', 'chat.tool_result', 'chat.done', 'chat.error'] as const;
