import { changeSchema } from '../canvas/change.ts';
import { shapeSchema } from '../canvas/shape-schema.ts';
import { chatEvents } from './chat-events.ts';
import { errorShape } from './frames.ts';
import { approval } from './methods/approval-contracts.ts';
import { budgetGauge, budgetScope } from './methods/budget-contracts.ts';
import { download } from './methods/browser-contracts.ts';
import { browserFrame } from './methods/browser-view-contracts.ts';
import { collectionEvents } from './methods/collection-contracts.ts';
import { deliveryState } from './methods/delivery-contracts.ts';
import { configFileState } from './methods/config-contracts.ts';
import { execRequest } from './methods/exec-contracts.ts';
import { mcpElicitation } from './methods/mcp-contracts.ts';
import { modelDownload } from '../ports/model-downloads-port.ts';
import { usage } from './record-schemas.ts';
import { z } from './zod.ts';

/** Every event that the server sends, and its payload. */
export const events = {
  /** The first event of every connection. Clients that prove a credential by HMAC include `nonce` in the proof. */
  'connect.challenge': z.object({ nonce: z.string(), ts: z.number() }),
  /** Sent every 15 seconds, so that clients notice a dead connection. */
  tick: z.object({ ts: z.number() }),
  ...chatEvents,
  /** A piece of an incognito reply, sent only to the connection that requested it. `offset` as in `chat.delta`. */
  'incognito.delta': z.object({ runId: z.string(), delta: z.string(), offset: z.number().int() }),
  /** A piece of the model's reasoning for an incognito reply. `offset` as in `chat.reasoning`. */
  'incognito.reasoning': z.object({ runId: z.string(), delta: z.string(), offset: z.number().int() }),
  /** An incognito reply is complete. */
  'incognito.done': z.object({ runId: z.string(), model: z.string(), usage }),
  /** An incognito reply failed or was aborted. */
  'incognito.error': z.object({ runId: z.string(), error: errorShape }),
  /** A budget was set, removed or continued. */
  'budgets.changed': z.object({ scope: budgetScope }),
  /** A budget has reached 80 %. Sent once per budget and period. */
  'budgets.near': z.object({ scope: budgetScope, name: z.string().nullable(), gauge: budgetGauge }),
  /** A device turned push notifications on or off, or was removed. */
  'push.changed': z.object({ id: z.string(), deleted: z.boolean().optional() }),
  /** A delivery was added, or its state changed. */
  'delivery.changed': z.object({ id: z.string(), state: deliveryState, error: z.string().optional() }),
  /** The configuration changed. `hash` identifies the new one. */
  'config.changed': z.object({ hash: z.string() }),
  /** A plan was created, changed or deleted. */
  'plan.changed': z.object({ planId: z.string(), deleted: z.boolean().optional() }),
  /** A drawing was created, renamed or deleted. */
  'drawings.changed': z.object({ drawingId: z.string(), deleted: z.boolean().optional() }),
  /** Other clients changed a drawing that this connection has open. With `reopen`, the changes are too large for an event: call `drawings.open` again. */
  'drawing.changed': z.object({ drawingId: z.string(), changes: z.array(changeSchema), reopen: z.boolean().optional() }),
  ...collectionEvents,
  /** A project was created, changed, deleted or restored, or chats were moved to or from it. */
  'project.changed': z.object({ id: z.string(), deleted: z.boolean().optional() }),
  /** An item was moved to the trash, restored, or deleted permanently. */
  'trash.changed': z.object({}),
  /** Another client is drawing a shape on a drawing that this connection has open; null when it is finished or cancelled. `from` identifies the client. */
  'drawing.draft': z.object({ drawingId: z.string(), from: z.string(), shape: shapeSchema.nullable() }),
  /** Pages or claims of a wiki were written or removed. `pages` has their paths and `claims` their IDs; each is null if there are many. */
  'wiki.changed': z.object({
    agentIds: z.array(z.string()),
    pages: z.array(z.string()).nullable(),
    claims: z.array(z.string()).nullable(),
  }),
  /** A job was created, changed, removed or run, or the heartbeat went through its checklist (`heartbeat`). */
  'cron.changed': z.object({ jobId: z.string() }),
  /** A hook was created, changed, deleted or called. */
  'hook.changed': z.object({ name: z.string() }),
  /** A run of dreaming started, changed phase or ended. If `run` is null, the suggestions or signals changed. */
  'dreaming.changed': z.object({
    workspace: z.string(),
    run: z.object({ id: z.string(), state: z.string(), phase: z.string().nullable() }).nullable(),
  }),
  /** A command waits for approval. */
  'exec.requested': z.object({ request: execRequest }),
  /** A command request was approved, denied or cancelled, has expired, or its command has ended. `request` has no output. */
  'exec.resolved': z.object({ request: execRequest }),
  /** Output of a running command. `offset` is the length of that output before it, in UTF-16 code units. */
  'exec.output': z.object({ requestId: z.string(), stream: z.enum(['stdout', 'stderr']), text: z.string(), offset: z.number().int() }),
  /** A tool waits for approval. */
  'approval.requested': z.object({ approval }),
  /** An approval was given or denied, was cancelled or has expired. */
  'approval.resolved': z.object({ approval }),
  /** An image of a driven browser's tab, sent to the connection that watches it. */
  'browser.frame': z.object({ profile: z.string(), ...browserFrame }),
  /** A page of a driven browser downloaded a file, sent to the connection that watches it. The next result reports it as `happened` too. */
  'browser.downloaded': z.object({ profile: z.string(), download }),
  /** A stream of `browser.watch` ended. */
  'browser.unwatched': z.object({ profile: z.string(), reason: z.string() }),
  /** The configuration file was read or written, or cannot be used. */
  'config.file': configFileState,
  /** The state of an MCP server changed. Call `mcp.list` for the new state. */
  'mcp.changed': z.object({ name: z.string() }),
  /** An MCP server requests input from a person. */
  'mcp.asked': z.object({ ask: mcpElicitation }),
  /** Progress of a tool of an MCP server. `total` and `message` are as reported by the server. */
  'mcp.progress': z.object({
    server: z.string(),
    tool: z.string(),
    runId: z.string().nullable(),
    /** The ID of the model's tool call, if a model called the tool. */
    toolCallId: z.string().optional(),
    progress: z.number(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
  /** The memories or daily notes of a workspace changed. */
  'memory.changed': z.object({ workspace: z.string() }),
  /** Content waits for review, or was approved or discarded. Call `review.list`. */
  'review.changed': z.object({}),
  /** Progress of a model download. */
  'models.progress': modelDownload,
  /** The sync state of this host changed, or a version lost a conflict. Call `sync.status` and `sync.conflicts` for details. */
  'sync.changed': z.object({ state: z.string() }),
  /** The gateway is about to stop, for an update or to hand over to another host. Finish and reconnect. */
  shutdown: z.object({ reason: z.string() }),
} as const;

export type EventName = keyof typeof events;
export type EventPayload<E extends EventName> = z.infer<(typeof events)[E]>;
export type AnyEvent = { [E in EventName]: { event: E; payload: EventPayload<E> } }[EventName];
/** The basic events of a chat run. `chat.done` and `chat.error` end it. */
export const CHAT_EVENTS = ['chat.delta', 'chat.tool_call', 'chat.tool_result', 'chat.done', 'chat.error'] as const;
