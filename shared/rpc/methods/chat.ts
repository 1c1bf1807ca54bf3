import { call, type Policy } from '../contract.ts';
import { LIMITS } from '../frames.ts';
import { agentId, historyMessage, sessionId, usage } from '../records.ts';
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
const emits = ['chat.recalled', 'chat.delta', 'chat.tool_call', 'chat.tool_result', 'chat.done', 'chat.error'] as const;
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
      temperature: z.number().min(0).max(2).optional(),
      idempotencyKey,
    }),
    result: completed,
    emits,
    docs: 'Triggers an agent reply. The response comes when the run ends; the text streams as `chat.delta` events.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: run,
  }),
  'chat.abort': call({
    params: z.strictObject({ sessionId, agentId: agentId.default(DEFAULT_ID) }),
    result: z.object({ aborted: z.boolean(), runIds: z.array(z.string()) }),
    emits: ['chat.error'],
    docs: 'Aborts the current generation. The partial reply is kept, marked `aborted`.',
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
      cursor: z.string().nullable(),
      runs: z.array(z.object({ runId: z.string(), text: z.string() })),
    }),
    docs: 'The active branch of a session, oldest first. `cursor` is passed as `before` for the page above; `runs` are those under way, with the text so far.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
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
  'chat.resend': call({
    params: z.strictObject({ ...where, ...route, idempotencyKey }),
    result: completed,
    emits,
    docs: 'Re-sends the last user message; the earlier reply is kept as a branch.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: run,
  }),
  'chat.edit': call({
    params: z.strictObject({ message, ...where, ...route, idempotencyKey }),
    result: completed,
    emits,
    docs: 'Edits the last user message and reruns; the earlier message is kept as a branch.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: run,
  }),
};
