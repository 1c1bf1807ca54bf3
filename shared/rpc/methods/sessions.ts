import { canBeSeen, UNSEEN } from '../../seen.ts';
import { call } from '../contract.ts';
import { agentId, compaction, historyMessage, sessionEntry, sessionId, sessionPath } from '../records.ts';
import { z } from '../zod.ts';
import { filters, folder, tag } from './session-list.ts';

const entry = z.object({ session: sessionEntry });
const recallState = z.object({
  path: z.string(),
  /** The session's own switch. */
  enabled: z.boolean(),
  /** Memory is searched before each reply. */
  active: z.boolean(),
  /** Why it is not, in a sentence; null where it is. */
  reason: z.string().nullable(),
});
export type RecallState = z.infer<typeof recallState>;
const title = z
  .string()
  // One line, whatever was pasted.
  .overwrite((text) => text.replaceAll(/\s*[\n\r\v\f\u0085\u2028\u2029]\s*/g, ' '))
  .trim()
  .min(1)
  .max(200)
  .refine(canBeSeen, UNSEEN);
/** From and to, in UTF-16 units. */
const spans = z.array(z.tuple([z.number(), z.number()]));

/** Managing sessions (interface document 1, section 4.1; decisions, "Sessions …"). */
export const sessions = {
  'sessions.search': call({
    params: z.strictObject({
      /** White space after the last word says that it is finished. */
      query: z.string().max(1000).regex(/\S/, 'must have a word'),
      limit: z.number().int().min(1).max(100).default(20),
      cursor: z
        .string()
        .regex(/^\d{1,6}$/, 'is no cursor that sessions.search has given')
        .optional(),
      ...filters,
    }),
    result: z.object({
      results: z.array(
        z.object({
          session: sessionEntry,
          /** The message that fits best; null where only the title does. */
          messageId: z.string().nullable(),
          role: historyMessage.shape.role.nullable(),
          timestamp: z.number(),
          snippet: z.string(),
          matches: spans,
          titleMatches: spans,
        }),
      ),
      /** Sessions that were found; null where too many texts would have to be looked at to tell. */
      total: z.number().nullable(),
      cursor: z.string().nullable(),
      /** Not all messages are in the index yet. */
      incomplete: z.boolean().optional(),
    }),
    docs: 'Finds sessions by their titles and messages: all words, "phrases" as they are, the last word perhaps unfinished. The best first, each with the message that fits best.',
    policy: { scope: 'read' },
  }),
  'sessions.preview': call({
    params: z.strictObject({ path: sessionPath, limit: z.number().int().min(1).max(200).default(50) }),
    result: z.object({ messages: z.array(historyMessage) }),
    docs: 'The last messages of a session, oldest first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'sessions.delete': call({
    params: z.strictObject({ path: sessionPath }),
    result: z.object({ deleted: z.boolean() }),
    docs: 'Deletes a session and its messages; a run under way in it is aborted first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.reset': call({
    params: z.strictObject({ path: sessionPath }),
    result: z.object({ reset: z.boolean() }),
    docs: 'Clears the content of a session and keeps its entry.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.rename': call({
    params: z.strictObject({ path: sessionPath, title }),
    result: entry,
    docs: 'Gives a session a title of your own.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.pin': call({
    params: z.strictObject({ path: sessionPath, pinned: z.boolean().default(true) }),
    result: entry,
    docs: 'Keeps a session at the top of the list, or no longer.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.archive': call({
    params: z.strictObject({ path: sessionPath, archived: z.boolean().default(true) }),
    result: entry,
    docs: 'Puts a session away without deleting it, or takes it out again.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.move': call({
    params: z.strictObject({ path: sessionPath, folder: folder.nullable() }),
    result: entry,
    docs: 'Puts a session into a folder, `Work/Perch` for one within another; null takes it out.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.tag': call({
    params: z.strictObject({ path: sessionPath, tags: z.array(tag).max(50) }),
    result: entry,
    docs: 'Gives a session these tags in the place of those it has.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.recall': call({
    params: z.strictObject({ path: sessionPath }),
    result: recallState,
    docs: 'Whether memory is searched before each reply in a session (active recall), and if it is not, why.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'sessions.setRecall': call({
    params: z.strictObject({ path: sessionPath, enabled: z.boolean() }),
    result: recallState,
    docs: 'Switches active recall on or off in a session. The `main` session of an agent can be switched before it has begun.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.compact': call({
    params: z.strictObject({ agentId: agentId.default('main'), sessionId: sessionId.default('main') }),
    result: z.object({
      /** False: there is too little to summarise. */
      compacted: z.boolean(),
      /** The message up to which models are told the summary. */
      messageId: z.string().nullable(),
      compaction: compaction.nullable(),
    }),
    docs: 'Has the conversation summarised now for its models, but for its newest messages; what was said stays as it is. Models do that by themselves as it grows too long.',
    emits: ['sessions.compacted'],
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.fork': call({
    params: z.strictObject({ path: sessionPath, messageId: z.string().max(300).optional(), sessionId: sessionId.optional() }),
    result: entry,
    docs: 'Makes a session of its own from the active branch, up to a message where one is given.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'sessions.export': call({
    params: z.strictObject({
      path: sessionPath,
      format: z.enum(['jsonl', 'markdown']).default('jsonl'),
      cursor: z.string().max(300).optional(),
    }),
    result: z.object({ filename: z.string(), mimeType: z.string(), content: z.string(), cursor: z.string().nullable() }),
    docs: 'A session as text: JSON Lines with every branch, the active one last, or the active branch in Markdown. Long ones come in parts: `cursor` is passed to get the next.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'sessions.import': call({
    params: z.strictObject({
      content: z.string().min(1),
      title: title.optional(),
      agentId: agentId.default('main'),
      sessionId: sessionId.optional(),
    }),
    result: entry,
    docs: 'Makes a session of what `sessions.export` gave: of JSON Lines with all branches, the active one ending in the last line, and the times of the messages; or of Markdown, with what was said alone.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
};
