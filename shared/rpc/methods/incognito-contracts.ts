import { defineMethod } from '../contract.ts';
import { id, PROTOCOL_LIMITS } from '../frames.ts';
import { temperature, thinkingLevel } from '../model-parameters.ts';
import { usage } from '../record-schemas.ts';
import { z } from '../zod.ts';
import { attachmentInput } from './chat-contracts.ts';

/** A message of a conversation that only the caller stores. */
const incognitoMessage = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.string().max(PROTOCOL_LIMITS.maxMessageChars),
  /** Attachments of a user message. */
  attachments: z.array(attachmentInput).max(50).optional(),
});
export type IncognitoMessage = z.infer<typeof incognitoMessage>;

/** Chats that are not stored (docs/decisions/0061-incognito.md). */
export const incognitoContracts = {
  'incognito.send': defineMethod({
    params: z.strictObject({
      /** An ID chosen by the caller, used in events and by `incognito.abort`. */
      runId: id,
      /** The whole conversation, oldest message first. The last one must be from the user. */
      messages: z.array(incognitoMessage).min(1).max(2000),
      model: z.string().min(1).max(300).optional(),
      provider: z.string().min(1).max(128).optional(),
      systemPrompt: z.string().max(PROTOCOL_LIMITS.maxMessageChars).optional(),
      thinking: thinkingLevel.optional(),
      temperature: temperature.optional(),
    }),
    result: z.object({ completed: z.literal(true), runId: z.string(), model: z.string(), usage }),
    emits: ['incognito.reasoning', 'incognito.delta', 'incognito.done', 'incognito.error'],
    docs: 'Replies to a conversation without storing it. Only tokens and cost are recorded, by day, model and caller. Tools, memory and fallbacks are not used. The reply streams to this connection only and stops when it closes; the response is returned at its end.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS', 'ABORTED'],
    policy: { scope: 'write', metered: true },
  }),
  'incognito.abort': defineMethod({
    params: z.strictObject({ runId: id }),
    result: z.object({ aborted: z.boolean() }),
    emits: ['incognito.error'],
    docs: 'Stops a reply that the same caller requested with `incognito.send`.',
    policy: { scope: 'write' },
  }),
};
