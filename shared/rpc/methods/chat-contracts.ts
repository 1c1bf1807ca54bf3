import { RUN_EVENTS } from '../chat-events.ts';
import { defineMethod, type MethodPolicy } from '../contract.ts';
import { PROTOCOL_LIMITS } from '../frames.ts';
import { temperature, thinkingLevel } from '../model-parameters.ts';
import { agentId, historyMessage, sessionId, toolCall, usage } from '../record-schemas.ts';
import { citedSource } from '../passage.ts';
import { z } from '../zod.ts';

const DEFAULT_ID = 'main';

export const attachmentInput = z
  .strictObject({
    /** `fileName` is another name for it. One of the two is required. */
    filename: z.string().min(1).max(255).optional(),
    fileName: z.string().min(1).max(255).optional(),
    mimeType: z.string().min(3).max(255),
    /** Base64, or a data URL. `base64` is another name for it. */
    content: z.string().optional(),
    base64: z.string().optional(),
    size: z.number().int().nonnegative().optional(),
  })
  .refine((value) => value.filename !== undefined || value.fileName !== undefined, 'must include filename')
  .refine((value) => value.content !== undefined || value.base64 !== undefined, 'must include content');
export type AttachmentInput = z.infer<typeof attachmentInput>;

const sessionParams = { sessionId: sessionId.default(DEFAULT_ID), agentId: agentId.default(DEFAULT_ID) };
const modelParams = {
  /** The key of a model. Defaults to the agent's model. */
  model: z.string().min(1).max(300).optional(),
  /** The provider, if `model` does not name it. */
  provider: z.string().min(1).max(128).optional(),
  /** For this run. Takes precedence over the parameters of the session, job or channel, and agent. */
  thinking: thinkingLevel.optional(),
  temperature: temperature.optional(),
};
const message = z.string().min(1, 'must not be empty').max(PROTOCOL_LIMITS.maxMessageChars);
/** A key chosen by the client, to repeat a request safely. */
const idempotencyKey = z.string().min(1).max(256).optional();

const completedRun = z.object({ completed: z.literal(true), sessionId: z.string(), runId: z.string(), messageId: z.string(), usage });

/** A tool call of a run in progress. */
const runningCall = toolCall.extend({
  /** Length of the run's text before the call, in UTF-16 code units. */
  at: z.number().int(),
  /** Null until the tool has returned. Long results are truncated. */
  result: z.string().nullable(),
});
export type RunningCall = z.infer<typeof runningCall>;

const runningRun = z.object({
  runId: z.string(),
  text: z.string(),
  reasoning: z.string(),
  calls: z.array(runningCall),
  /** Tools of the calls that the model is writing. */
  pending: z.array(z.string()),
  /** The texts that tools have read and that the reply can cite. */
  sources: z.array(citedSource).optional(),
});
/** A run in progress and its output so far. */
export type RunningRun = z.infer<typeof runningRun>;

const runPolicy: MethodPolicy = { scope: 'write', idempotent: true, metered: true };

/** Chat with an agent. */
export const chatContracts = {
  'chat.send': defineMethod({
    params: z.strictObject({
      /** May be empty if there are attachments. */
      message: z.string().max(PROTOCOL_LIMITS.maxMessageChars),
      ...sessionParams,
      ...modelParams,
      /** Replaces the agent's system prompt for this run. */
      systemPrompt: z.string().max(PROTOCOL_LIMITS.maxMessageChars).optional(),
      attachments: z.array(attachmentInput).max(50).optional(),
      /** Stop the current run of the session first. */
      abortPrevious: z.boolean().optional(),
      /** Add the message to the current run between two of its steps, ahead of all queued messages. */
      steer: z.boolean().optional(),
      idempotencyKey,
    }),
    result: completedRun,
    emits: RUN_EVENTS,
    docs: 'Sends a message to an agent and starts a run. The text streams as `chat.delta` events; the response is returned when the run ends. With `steer: true` the message goes to the current run instead of waiting for it to end: running tools finish and their results are kept, text being written stops, and the reply continues from the new message. If no run is in progress, or another host executes it, `steer` has no effect.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: runPolicy,
  }),
  'chat.abort': defineMethod({
    params: z.strictObject({
      sessionId,
      agentId: agentId.default(DEFAULT_ID),
      /** Remove only the message that this caller sent with this `idempotencyKey`, if it is still queued. */
      sentWith: z.string().min(1).max(256).optional(),
    }),
    result: z.object({ aborted: z.boolean(), runIds: z.array(z.string()) }),
    emits: ['chat.error'],
    docs: 'Stops the current run. The partial reply is kept and marked `aborted`. With `sentWith`, the `idempotencyKey` of an earlier `chat.send`, removes that message from the queue instead and leaves the current run alone; a removed message is not stored.',
    policy: { scope: 'write' },
  }),
  'chat.history': defineMethod({
    params: z.strictObject({
      sessionId,
      agentId: agentId.default(DEFAULT_ID),
      limit: z.number().int().min(1).max(1000).default(200),
      /** A message ID. Only messages above it in the active branch are returned. */
      before: z.string().max(128).optional(),
    }),
    result: z.object({
      messages: z.array(historyMessage),
      /** Alternatives by message ID: the IDs of all messages at the same position, oldest first. */
      versions: z.record(z.string(), z.array(z.string())),
      cursor: z.string().nullable(),
      runs: z.array(runningRun),
    }),
    docs: 'Returns the active branch of a session, oldest message first. To get the previous page, pass `cursor` as `before`. `runs` contains the runs in progress with their text, reasoning and tool calls so far. `versions` lists the alternatives that `chat.branch` can switch to.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'chat.branch': defineMethod({
    params: z.strictObject({ ...sessionParams, messageId: z.string().min(1).max(128) }),
    result: z.object({
      /** The last message of the new active branch. */
      headId: z.string(),
    }),
    emits: ['sessions.changed'],
    docs: 'Switches the active branch to the one that contains a message, down to the latest message below it. History and new messages then follow this branch. Returns `ALREADY_EXISTS` while a run is in progress.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'chat.attachment': defineMethod({
    params: z.strictObject({
      sessionId,
      agentId: agentId.default(DEFAULT_ID),
      messageId: z.string().min(1).max(128),
      /** Index of the attachment in the message's `attachments`, from 0. */
      index: z.number().int().min(0).max(1000),
    }),
    result: z.object({ filename: z.string(), mimeType: z.string(), content: z.string() }),
    docs: 'Returns the contents of a message’s attachment, base64-encoded. Use it for large attachments, which `chat.history` leaves out.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'chat.text': defineMethod({
    params: z.strictObject({ sessionId, agentId: agentId.default(DEFAULT_ID), messageId: z.string().min(1).max(128) }),
    result: z.object({ text: z.string() }),
    docs: 'Returns the full text of a message. Use it for long messages, which `chat.history` leaves out (see `leftOut`).',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'chat.resend': defineMethod({
    params: z.strictObject({ messageId: z.string().min(1).max(128).optional(), ...sessionParams, ...modelParams, idempotencyKey }),
    result: completedRun,
    emits: RUN_EVENTS,
    docs: 'Runs the last user message again, or the one given as `messageId`. The earlier reply and everything after it are kept as a branch.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: runPolicy,
  }),
  'chat.edit': defineMethod({
    params: z.strictObject({ message, messageId: z.string().min(1).max(128).optional(), ...sessionParams, ...modelParams, idempotencyKey }),
    result: completedRun,
    emits: RUN_EVENTS,
    docs: 'Replaces the last user message, or the one given as `messageId`, and runs it. The earlier message is kept as a branch.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: runPolicy,
  }),
};
