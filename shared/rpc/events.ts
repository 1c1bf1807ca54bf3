import { changeSchema } from '../canvas/change.ts';
import { shapeSchema } from '../canvas/shape-schema.ts';
import { chatEvents } from './chat-events.ts';
import { errorShape } from './frames.ts';
import { approval } from './methods/approvals.ts';
import { frame } from './methods/browser-view.ts';
import { configFileState } from './methods/config.ts';
import { execRequest } from './methods/exec.ts';
import { mcpAsk } from './methods/mcp.ts';
import { modelDownload } from '../ports/model-downloads.ts';
import { usage } from './records.ts';
import { z } from './zod.ts';

/** Every event the server pushes, and its payload (interface document 1, section 6; decisions, "Chat"). */
export const events = {
  'connect.challenge': z.object({ nonce: z.string(), ts: z.number() }),
  tick: z.object({ ts: z.number() }),
  ...chatEvents,
  /** A piece of an answer that is kept nowhere, to the connection that asked for it; `offset` as in `chat.delta`. */
  'incognito.delta': z.object({ runId: z.string(), delta: z.string(), offset: z.number().int() }),
  /** What the model thinks before it; `offset` as in `chat.reasoning`. */
  'incognito.reasoning': z.object({ runId: z.string(), delta: z.string(), offset: z.number().int() }),
  'incognito.done': z.object({ runId: z.string(), model: z.string(), usage }),
  'incognito.error': z.object({ runId: z.string(), error: errorShape }),
  'config.changed': z.object({ hash: z.string() }),
  'plan.changed': z.object({ planId: z.string(), deleted: z.boolean().optional() }),
  /** A drawing was made, renamed or deleted. */
  'drawings.changed': z.object({ drawingId: z.string(), deleted: z.boolean().optional() }),
  /** What others have done to a drawing, to connections that have opened it. `reopen`: it is too much for an event, and `drawings.open` has it. */
  'drawing.changed': z.object({ drawingId: z.string(), changes: z.array(changeSchema), reopen: z.boolean().optional() }),
  /** What somebody is drawing just now, to the others who have the drawing open; `from` tells those who draw apart. Null: it is done, or given up. */
  'drawing.draft': z.object({ drawingId: z.string(), from: z.string(), shape: shapeSchema.nullable() }),
  /** Pages or claims of a wiki were written or removed, by whomever: their paths and ids; null where there are many. */
  'wiki.changed': z.object({
    agentIds: z.array(z.string()),
    pages: z.array(z.string()).nullable(),
    claims: z.array(z.string()).nullable(),
  }),
  /** A job was added, changed, removed, or has run: `jobId` says which. */
  'cron.changed': z.object({ jobId: z.string() }),
  /** A run of dreaming has begun, is at another phase, or has ended; without one, what waits or the signals have changed. */
  'dreaming.changed': z.object({
    workspace: z.string(),
    run: z.object({ id: z.string(), state: z.string(), phase: z.string().nullable() }).nullable(),
  }),
  /** A command waits for a person's word. */
  'exec.requested': z.object({ request: execRequest }),
  /** A request was approved, denied, cancelled, has expired, or its command has ended. Requests in events come without their output. */
  'exec.resolved': z.object({ request: execRequest }),
  /** More output of a command that runs; `offset`: length of that output before it, in UTF-16 units. */
  'exec.output': z.object({ requestId: z.string(), stream: z.enum(['stdout', 'stderr']), text: z.string(), offset: z.number().int() }),
  /** A tool waits for a person's word, and what was said. */
  'approval.requested': z.object({ approval }),
  'approval.resolved': z.object({ approval }),
  /** What a driven browser shows, to the connection that watches it. */
  'browser.frame': z.object({ profile: z.string(), ...frame }),
  /** It is watched no more, and why. */
  'browser.unwatched': z.object({ profile: z.string(), reason: z.string() }),
  /** The configuration file was read, written, or cannot be used. */
  'config.file': configFileState,
  /** How it stands with a tool server has changed: `mcp.list` tells. */
  'mcp.changed': z.object({ name: z.string() }),
  /** A tool server wants a person to fill in a form. */
  'mcp.asked': z.object({ ask: mcpAsk }),
  /** How far a tool of a tool server has come; `total` and `message` as it says. */
  'mcp.progress': z.object({
    server: z.string(),
    tool: z.string(),
    runId: z.string().nullable(),
    /** The model's call, where a model has asked. */
    toolCallId: z.string().optional(),
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
  /** What the agents of a workspace remember has changed: memories, or notes of a day. */
  'memory.changed': z.object({ workspace: z.string() }),
  /** How far a download of a model has come, wherever it is kept. */
  'models.progress': modelDownload,
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
