import { call } from '../contract.ts';
import { id, LIMITS } from '../frames.ts';
import { usage } from '../records.ts';
import { z } from '../zod.ts';
import { attachment } from './chat.ts';

/** A message of a conversation that its caller alone has. */
export const incognitoMessage = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.string().max(LIMITS.maxMessageChars),
  /** Of a message of the person. */
  attachments: z.array(attachment).max(50).optional(),
});
export type IncognitoMessage = z.infer<typeof incognitoMessage>;

/** Chats that are kept nowhere (docs/decisions/0061-incognito.md). */
export const incognito = {
  'incognito.send': call({
    params: z.strictObject({
      /** Chosen by the caller: its events have it, and `incognito.abort` takes it. */
      runId: id,
      /** The whole conversation, the oldest first; the last is the person's, and is answered. */
      messages: z.array(incognitoMessage).min(1).max(2000),
      model: z.string().min(1).max(300).optional(),
      provider: z.string().min(1).max(128).optional(),
      systemPrompt: z.string().max(LIMITS.maxMessageChars).optional(),
      temperature: z.number().min(0).max(2).optional(),
    }),
    result: z.object({ completed: z.literal(true), runId: z.string(), model: z.string(), usage }),
    emits: ['incognito.reasoning', 'incognito.delta', 'incognito.done', 'incognito.error'],
    docs: 'Has a conversation answered that is kept nowhere: only tokens and cost are counted, under the day, model and caller. No tools, nothing from memory, and no other model takes over. The answer streams to this connection alone, and ends when that closes; the response comes at its end.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS', 'ABORTED'],
    policy: { scope: 'write', metered: true },
  }),
  'incognito.abort': call({
    params: z.strictObject({ runId: id }),
    result: z.object({ aborted: z.boolean() }),
    emits: ['incognito.error'],
    docs: 'Aborts an answer of `incognito.send` that the same caller has asked for.',
    policy: { scope: 'write' },
  }),
};
