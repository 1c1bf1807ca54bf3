import { defineMethod } from '../contract.ts';
import { agentId, sessionId } from '../record-schemas.ts';
import { z } from '../zod.ts';

const reviewItem = z.object({
  /** `<kind>:<name>`, such as `file:main/notes/tulips.md`. */
  id: z.string(),
  kind: z.enum(['file', 'memory', 'plan', 'drawing']),
  /** Path of the file, first words of the memory, goal of the plan, title of the drawing. */
  title: z.string(),
  /** Content as text, up to 4,000 characters, or up to a million if only this item is listed; null if it is no text. */
  text: z.string().nullable(),
  /** Characters of the whole text, if `text` is only its beginning. */
  chars: z.number().int().optional(),
  /** Outside sources that were read before it was written, such as `web:example.com`. */
  sources: z.array(z.string()),
  /** When it was written, in milliseconds since the Unix epoch. */
  at: z.number(),
});
/** Content that an agent wrote after it had read from outside, and that no person has reviewed. */
export type ReviewItem = z.infer<typeof reviewItem>;

const id = z.string().min(1).max(1000);

/** Review of content that was written after reading from outside. */
export const reviewContracts = {
  'review.list': defineMethod({
    params: z.strictObject({ /** Only this item, with its whole text. */ id: id.optional() }),
    result: z.object({ items: z.array(reviewItem), count: z.number().int() }),
    docs: 'Lists content that agents wrote after they had read from outside, newest first. Until a person approves it, a run that reads it needs approvals as if it had read the source itself, and recall leaves such memories out.',
    policy: { scope: 'read' },
  }),
  'review.approve': defineMethod({
    params: z.strictObject({
      id,
      /** As `review.list` has it: content that has changed since is not approved. */ at: z.number().optional(),
    }),
    result: z.object({ approved: z.literal(true) }),
    emits: ['review.changed'],
    docs: 'Approves content: it counts as the owner’s from now on. `ALREADY_EXISTS` if it has changed since `at`. Not available to API keys and channels.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'admin' },
  }),
  'review.discard': defineMethod({
    params: z.strictObject({ id }),
    result: z.object({ discarded: z.literal(true) }),
    emits: ['review.changed'],
    docs: 'Deletes content that waits for review. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
  'review.trustChat': defineMethod({
    params: z.strictObject({ agentId: agentId.default('main'), sessionId }),
    result: z.object({ messages: z.number().int() }),
    emits: ['sessions.changed'],
    docs: 'Marks all messages and summaries of a session as reviewed: the next reply starts without outside content. `messages` is their number. Not available to API keys and channels.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin' },
  }),
};
