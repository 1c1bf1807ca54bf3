import { canBeSeen, inOrder, UNSEEN } from '../../seen.ts';
import { call } from '../contract.ts';
import { agentId, sessionEntry, sessionPath } from '../records.ts';
import { visibleName } from '../visible-name.ts';
import { z } from '../zod.ts';

/** Folder names separated by `/`. */
export const folder = z
  .string()
  .overwrite(inOrder)
  .trim()
  .max(300)
  .regex(/^[^/]+(\/[^/]+)*$/, 'must be names separated by /')
  .refine((names) => names.split('/').every(canBeSeen), UNSEEN);
export const tag = visibleName(50);
/** Filters; all sessions by default. `folder` includes nested folders. */
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
  .regex(/^\d{1,16}(\.\d{1,20})? [\w-]{1,128}\/[\w-]{1,128}$/, 'must be a cursor from sessions.list');
/** The list of sessions, which a page needs at its start. */
export const sessionList = {
  'sessions.list': call({
    params: z.strictObject({
      limit: z.number().int().min(1).max(10_000).optional(),
      cursor: cursor.optional(),
      paths: z.array(sessionPath).max(100).optional(),
      ...filters,
    }),
    result: z.object({ sessions: z.array(sessionEntry), total: z.number(), cursor: z.string().nullable() }),
    docs: 'Lists sessions, most recently used first. Returns all of them, or one page with `limit`: pass `cursor` to get the next page. `paths` selects individual sessions. `total` is the number of all matching sessions.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
