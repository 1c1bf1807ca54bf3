import { call } from '../contract.ts';
import { historyMessage, sessionEntry, sessionPath } from '../records.ts';
import { z } from '../zod.ts';

/** Managing sessions (interface document 1, section 4.1; decisions, "Sessions …"). */
export const sessions = {
  'sessions.list': call({
    params: z.strictObject({}),
    result: z.object({ sessions: z.array(sessionEntry) }),
    docs: 'Lists sessions, the most recently used first.',
    policy: { scope: 'read' },
  }),
  'sessions.preview': call({
    params: z.strictObject({ path: sessionPath, limit: z.number().int().min(1).max(200).default(50) }),
    result: z.object({ messages: z.array(historyMessage) }),
    docs: 'The last messages of a session, oldest first.',
    policy: { scope: 'read' },
  }),
  'sessions.delete': call({
    params: z.strictObject({ path: sessionPath }),
    result: z.object({ deleted: z.boolean() }),
    docs: 'Deletes a session and its messages; a run under way in it is aborted first.',
    policy: { scope: 'write' },
  }),
  'sessions.reset': call({
    params: z.strictObject({ path: sessionPath }),
    result: z.object({ reset: z.boolean() }),
    docs: 'Clears the content of a session and keeps its entry.',
    policy: { scope: 'write' },
  }),
  'sessions.rename': call({
    params: z.strictObject({ path: sessionPath, title: z.string().trim().min(1).max(200) }),
    result: z.object({ session: sessionEntry }),
    docs: 'Gives a session a title of your own.',
    policy: { scope: 'write' },
  }),
};
