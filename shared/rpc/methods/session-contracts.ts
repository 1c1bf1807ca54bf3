import { hasVisibleText, INVISIBLE_NAME_MESSAGE } from '../../display-name.ts';
import { defineMethod } from '../contract.ts';
import { modelParameters } from '../model-parameters.ts';
import { agentId, compaction, historyMessage, sessionEntry, sessionId, sessionPath, subAgentEntry } from '../record-schemas.ts';
import { z } from '../zod.ts';
import { attachedCollections } from './collection-contracts.ts';
import { sessionFilters, sessionFolder, sessionTag } from './session-list-contracts.ts';

const sessionResult = z.object({ session: sessionEntry });
const recallState = z.object({
  path: z.string(),
  /** The setting of the session. */
  enabled: z.boolean(),
  /** Whether memory is searched before each reply. */
  active: z.boolean(),
  /** Why recall is not active, in one sentence; null if it is. */
  reason: z.string().nullable(),
});
export type RecallState = z.infer<typeof recallState>;
const title = z
  .string()
  // Always one line, even if several were pasted.
  .overwrite((text) => text.replaceAll(/\s*[\n\r\v\f\u0085\u2028\u2029]\s*/g, ' '))
  .trim()
  .min(1)
  .max(200)
  .refine(hasVisibleText, INVISIBLE_NAME_MESSAGE);
/** Start and end of each match, in UTF-16 code units. */
const spans = z.array(z.tuple([z.number(), z.number()]));

/** Managing sessions. */
/** Create the session if it does not exist, for what must hold from its first message on. */
const createSession = z.boolean().default(false);

export const sessionContracts = {
  'sessions.search': defineMethod({
    params: z.strictObject({
      /** Whitespace after the last word marks it as complete. */
      query: z.string().max(1000).regex(/\S/, 'must contain a word'),
      limit: z.number().int().min(1).max(100).default(20),
      cursor: z
        .string()
        .regex(/^\d{1,6}$/, 'must be a cursor from sessions.search')
        .optional(),
      ...sessionFilters,
    }),
    result: z.object({
      results: z.array(
        z.object({
          session: sessionEntry,
          /** The best matching message; null if only the title matches. */
          messageId: z.string().nullable(),
          role: historyMessage.shape.role.nullable(),
          timestamp: z.number(),
          snippet: z.string(),
          matches: spans,
          titleMatches: spans,
        }),
      ),
      /** Number of matching sessions; null if it would take too long to count them. */
      total: z.number().nullable(),
      cursor: z.string().nullable(),
      /** Some messages are not indexed yet. */
      incomplete: z.boolean().optional(),
    }),
    docs: 'Searches the titles and messages of sessions. All words must match. Text in quotation marks matches as a phrase. The last word may be incomplete. Returns the best matches first, each with its best matching message.',
    policy: { scope: 'read' },
  }),
  'sessions.preview': defineMethod({
    params: z.strictObject({ path: sessionPath, limit: z.number().int().min(1).max(200).default(50) }),
    result: z.object({ messages: z.array(historyMessage) }),
    docs: 'Returns the last messages of a session, oldest first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'sessions.subAgents': defineMethod({
    params: z.strictObject({ path: sessionPath }),
    result: z.object({ subAgents: z.array(subAgentEntry) }),
    docs: 'Lists the sub-agents of a session, including nested ones, in the order in which they were started. `chat.history` shows what one of them does, `chat.send` with `steer` gives it a message, and `chat.abort` stops it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'sessions.delete': defineMethod({
    params: z.strictObject({ path: sessionPath }),
    result: z.object({
      deleted: z.boolean(),
      /** ID for `trash.restore`; missing if storage is full and nothing could be kept. */
      trashId: z.string().optional(),
    }),
    emits: ['trash.changed'],
    docs: 'Moves a session and its messages to the trash. A run in progress is aborted first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.reset': defineMethod({
    params: z.strictObject({ path: sessionPath }),
    result: z.object({
      reset: z.boolean(),
      /** ID for `trash.restore`; missing if storage is full and nothing could be kept. */
      trashId: z.string().optional(),
    }),
    emits: ['trash.changed'],
    docs: 'Moves the messages of a session to the trash and keeps the session itself.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.rename': defineMethod({
    params: z.strictObject({ path: sessionPath, title }),
    result: sessionResult,
    docs: 'Sets the title of a session.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.pin': defineMethod({
    params: z.strictObject({ path: sessionPath, pinned: z.boolean().default(true) }),
    result: sessionResult,
    docs: 'Pins a session to the top of the list, or unpins it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.archive': defineMethod({
    params: z.strictObject({ path: sessionPath, archived: z.boolean().default(true) }),
    result: sessionResult,
    docs: 'Archives a session, or restores it from the archive.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.move': defineMethod({
    params: z.strictObject({ path: sessionPath, folder: sessionFolder.nullable() }),
    result: sessionResult,
    docs: 'Moves a session to a folder; use `Work/Perch` for a nested one. Pass null to remove it from its folder.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.tag': defineMethod({
    params: z.strictObject({ path: sessionPath, tags: z.array(sessionTag).max(50) }),
    result: sessionResult,
    docs: 'Replaces the tags of a session.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.recall': defineMethod({
    params: z.strictObject({ path: sessionPath }),
    result: recallState,
    docs: 'Returns whether memory is searched before each reply in a session (active recall), and the reason if it is not.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'sessions.setRecall': defineMethod({
    params: z.strictObject({ path: sessionPath, enabled: z.boolean(), create: createSession }),
    result: recallState,
    docs: 'Turns active recall on or off for a session. The `main` session of an agent can be set before its first message, and any other with `create`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.setParameters': defineMethod({
    params: z.strictObject({
      path: sessionPath,
      /** Replaces all parameters of the session; null resets them. */
      parameters: modelParameters.nullable(),
      create: createSession,
    }),
    result: sessionResult,
    emits: ['sessions.changed'],
    docs: 'Sets how the model answers in a session: thinking, temperature and the like. They apply from the next run. What is left out is inherited from the job or channel, then from the agent, then from the model. The `main` session of an agent can be set before its first message, and any other with `create`. `instructions` can only be set by persons.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.setCollections': defineMethod({
    params: z.strictObject({ path: sessionPath, collectionIds: attachedCollections, create: createSession }),
    result: sessionResult,
    emits: ['sessions.changed'],
    docs: 'Attaches collections to a session, besides those of its agent, and detaches all others. They apply from the next run. The `main` session of an agent can be set before its first message, and any other with `create`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.setWeb': defineMethod({
    params: z.strictObject({
      path: sessionPath,
      enabled: z.boolean(),
      create: createSession,
      /** `browser`: the tools that drive the browser. */
      tools: z.enum(['web', 'browser']).default('web'),
    }),
    result: sessionResult,
    emits: ['sessions.changed'],
    docs: 'Turns the tools that search the web and read its pages, or those that drive the browser, on or off for a session. It applies from the next run, to its sub-agents too. The `main` session of an agent can be set before its first message, and any other with `create`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.compact': defineMethod({
    params: z.strictObject({ agentId: agentId.default('main'), sessionId: sessionId.default('main') }),
    result: z.object({
      /** False if there was too little to summarise. */
      compacted: z.boolean(),
      /** The message up to which the model is given the summary. */
      messageId: z.string().nullable(),
      compaction: compaction.nullable(),
    }),
    docs: 'Summarises the conversation for the model now, except its newest messages. The messages themselves are not changed. Runs do this automatically when a conversation becomes too long for its model.',
    emits: ['sessions.compacted'],
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'sessions.fork': defineMethod({
    params: z.strictObject({ path: sessionPath, messageId: z.string().max(300).optional(), sessionId: sessionId.optional() }),
    result: sessionResult,
    docs: 'Creates a session from the active branch, up to `messageId` if given.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'sessions.export': defineMethod({
    params: z.strictObject({
      path: sessionPath,
      format: z.enum(['jsonl', 'markdown']).default('jsonl'),
      cursor: z.string().max(300).optional(),
    }),
    result: z.object({ filename: z.string(), mimeType: z.string(), content: z.string(), cursor: z.string().nullable() }),
    docs: 'Exports a session as JSON Lines with every branch, the active one last, or its active branch as Markdown. The first line of JSON Lines carries the parameters of the session as `sessionParameters`. Long sessions are returned in parts: pass `cursor` to get the next one.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'sessions.import': defineMethod({
    params: z.strictObject({
      content: z.string().min(1),
      title: title.optional(),
      agentId: agentId.default('main'),
      sessionId: sessionId.optional(),
    }),
    result: sessionResult,
    docs: 'Creates a session from an export of `sessions.export`. JSON Lines restore all branches and message times; the active branch is the one that ends in the last line. The parameters of the session are restored, except its `instructions`. Markdown restores the text of the messages only.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
};
