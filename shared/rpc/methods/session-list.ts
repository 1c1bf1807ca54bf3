import { canBeSeen, inOrder, UNSEEN } from '../../seen.ts';
import { call } from '../contract.ts';
import { agentId, sessionEntry, sessionPath } from '../records.ts';
import { visibleName } from '../visible-name.ts';
import { z } from '../zod.ts';

/** Names in a row, `/` between them. */
export const folder = z
  .string()
  .overwrite(inOrder)
  .trim()
  .max(300)
  .regex(/^[^/]+(\/[^/]+)*$/, 'must be names with / between them')
  .refine((names) => names.split('/').every(canBeSeen), UNSEEN);
export const tag = visibleName(50);
/** Only sessions that are so; all of them where nothing is said. `folder`: in it or in one within it. */
export const filters = {
  agentId: agentId.optional(),
  folder: folder.optional(),
  tag: tag.optional(),
  archived: z.boolean().optional(),
  pinned: z.boolean().optional(),
};
const cursor = z
  .string()
  .max(500)
  .regex(/^\d{1,16}(\.\d{1,20})? [\w-]{1,128}\/[\w-]{1,128}$/, 'is no cursor that sessions.list has given');
/** What a page shows of sessions at its start. */
export const sessionList = {
  'sessions.list': call({
    params: z.strictObject({
      limit: z.number().int().min(1).max(10_000).optional(),
      cursor: cursor.optional(),
      paths: z.array(sessionPath).max(100).optional(),
      ...filters,
    }),
    result: z.object({ sessions: z.array(sessionEntry), total: z.number(), cursor: z.string().nullable() }),
    docs: 'Lists sessions, the most recently used first: all of them, or `limit` and a `cursor` to pass for the next ones; `paths` for single ones. `total` counts all that fit.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
