import { RUN_EVENTS } from '../chat-events.ts';
import { call, type Policy } from '../contract.ts';
import { LIMITS } from '../frames.ts';
import { agentId, historyMessage, sessionId, toolCall, usage } from '../records.ts';
import { z } from '../zod.ts';

const DEFAULT_ID = 'main';

export const attachment = z
  .strictObject({
    filename: z.string().min(1).max(255).optional(),
    fileName: z.string().min(1).max(255).optional(),
    mimeType: z.string().min(3).max(255),
    content: z.string().optional(),
    base64: z.string().optional(),
    size: z.number().int().nonnegative().optional(),
  })
  .refine((value) => value.filename !== undefined || value.fileName !== undefined, 'needs filename')
  .refine((value) => value.content !== undefined || value.base64 !== undefined, 'needs content');
export type AttachmentInput = z.infer<typeof attachment>;

const where = { sessionId: sessionId.default(DEFAULT_ID), agentId: agentId.default(DEFAULT_ID) };
const route = { model: z.string().min(1).max(300).optional(), provider: z.string().min(1).max(128).optional() };
const message = z.string().min(1, 'must not be empty').max(LIMITS.maxMessageChars);
const idempotencyKey = z.string().min(1).max(256).optional();

const completed = z.object({ completed: z.literal(true), sessionId: z.string(), runId: z.string(), messageId: z.string(), usage });

/** A call of a tool by a run that is under way. */
const callUnder = toolCall.extend({
  /** Length of the run's text before it, UTF-16 units. */
  at: z.number().int(),
  /** Null before it has answered; its beginning where it is long. */
  result: z.string().nullable(),
});
export type CallUnder = z.infer<typeof callUnder>;

const runUnder = z.object({
  runId: z.string(),
  text: z.string(),
  reasoning: z.string(),
  calls: z.array(callUnder),
  /** Tools of the calls that its model is writing. */
  pending: z.array(z.string()),
});
/** A run that is under way, as far as it has come. */
export type RunUnder = z.infer<typeof runUnder>;

const run: Policy = { scope: 'write', idempotent: true, metered: true };

/** Talking with an agent (interface document 1, section 4.1; decisions, "Chat"). */
export const chat = {
  'chat.send': call({
    params: z.strictObject({
      message,
      ...where,
      ...route,
      systemPrompt: z.string().max(LIMITS.maxMessageChars).optional(),
      attachments: z.array(attachment).max(50).optional(),
      abortPrevious: z.boolean().optional(),
      /** Taken in by the run under way between two of its steps, ahead of all that waits. */
      steer: z.boolean().optional(),
      temperature: z.number().min(0).max(2).optional(),
      idempotencyKey,
    }),
    result: completed,
    emits: RUN_EVENTS,
    docs: 'Triggers an agent reply. The response comes when the run ends; the text streams as `chat.delta` events. With `steer` it does not wait for the end of the run under way: tools that run end first and their results are kept, text that is being written stops where it is, and the answer to this message goes on from there. Where nothing runs, or another host runs it, it is sent as usual.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: run,
  }),
  'chat.abort': call({
    params: z.strictObject({
      sessionId,
      agentId: agentId.default(DEFAULT_ID),
      /** Only the message that the caller sent with this key, and only while it waits in line. */
      sentWith: z.string().min(1).max(256).optional(),
    }),
    result: z.object({ aborted: z.boolean(), runIds: z.array(z.string()) }),
    emits: ['chat.error'],
    docs: 'Aborts the current generation. The partial reply is kept, marked `aborted`. With `sentWith`, the `idempotencyKey` of an earlier `chat.send`, nothing that runs is aborted: that message is taken back where it still waits in line, and is kept nowhere.',
    policy: { scope: 'write' },
  }),
  'chat.history': call({
    params: z.strictObject({
      sessionId,
      agentId: agentId.default(DEFAULT_ID),
      limit: z.number().int().min(1).max(1000).default(200),
      /** A message id: only messages above it in the active branch. */
      before: z.string().max(128).optional(),
    }),
    result: z.object({
      messages: z.array(historyMessage),
      /** By message id, where others stand in the same place: the ids of all of them, the first said first. */
      versions: z.record(z.string(), z.array(z.string())),
      cursor: z.string().nullable(),
      runs: z.array(runUnder),
    }),
    docs: 'The active branch of a session, oldest first. `cursor` is passed as `before` for the page above; `runs` are those under way, with the text, the thoughts and the calls of tools so far; `versions` names what `chat.branch` can go to.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'chat.branch': call({
    params: z.strictObject({ ...where, messageId: z.string().min(1).max(128) }),
    result: z.object({
      /** The message that the active branch ends in now. */
      headId: z.string(),
    }),
    emits: ['sessions.changed'],
    docs: 'Makes the branch through a message the active one, down to what was said last below it: that is what a history shows, and what the next message follows. `ALREADY_EXISTS` while a run is under way.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'chat.attachment': call({
    params: z.strictObject({
      sessionId,
      agentId: agentId.default(DEFAULT_ID),
      messageId: z.string().min(1).max(128),
      /** Which one of the message's `attachments`, from 0. */
      index: z.number().int().min(0).max(1000),
    }),
    result: z.object({ filename: z.string(), mimeType: z.string(), content: z.string() }),
    docs: 'The bytes of a file of a message, as base64: a history leaves out those that are large.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'chat.text': call({
    params: z.strictObject({ sessionId, agentId: agentId.default(DEFAULT_ID), messageId: z.string().min(1).max(128) }),
    result: z.object({ text: z.string() }),
    docs: 'The whole text of a message: a history leaves out one that is large (`leftOut`).',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'chat.resend': call({
    params: z.strictObject({ messageId: z.string().min(1).max(128).optional(), ...where, ...route, idempotencyKey }),
    result: completed,
    emits: RUN_EVENTS,
    docs: 'Re-sends the last user message, or the one of `messageId`; the earlier reply, and what followed it, is kept as a branch.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: run,
  }),
  'chat.edit': call({
    params: z.strictObject({ message, messageId: z.string().min(1).max(128).optional(), ...where, ...route, idempotencyKey }),
    result: completed,
    emits: RUN_EVENTS,
    docs: 'Edits the last user message, or the one of `messageId`, and reruns; the earlier message is kept as a branch.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: run,
  }),
};
