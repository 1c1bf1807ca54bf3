import { hasVisibleText, stripBidiControls, INVISIBLE_NAME_MESSAGE } from '../../display-name.ts';
import { defineMethod } from '../contract.ts';
import { id } from '../frames.ts';
import { agentId, sessionEntry, sessionPath } from '../record-schemas.ts';
import { createVisibleName } from '../visible-name.ts';
import { z } from '../zod.ts';

/** Folder names separated by `/`. */
export const sessionFolder = z
  .string()
  .overwrite(stripBidiControls)
  .trim()
  .max(300)
  .regex(/^[^/]+(\/[^/]+)*$/, 'must be names separated by /')
  .refine((names) => names.split('/').every(hasVisibleText), INVISIBLE_NAME_MESSAGE);
export const sessionTag = createVisibleName(50);
/** Filters; all sessions by default. `folder` includes nested folders. */
export const sessionFilters = {
  agentId: agentId.optional(),
  folder: sessionFolder.optional(),
  tag: sessionTag.optional(),
  projectId: id.optional(),
  archived: z.boolean().optional(),
  pinned: z.boolean().optional(),
};
const cursor = z
  .string()
  .max(500)
  .regex(/^\d{1,16}(\.\d{1,20})? [\w-]{1,128}\/[\w-]{1,128}$/, 'must be a cursor from sessions.list');
/** The list of sessions, which a page needs at its start. */
export const sessionListContracts = {
  'sessions.list': defineMethod({
    params: z.strictObject({
      limit: z.number().int().min(1).max(10_000).optional(),
      cursor: cursor.optional(),
      paths: z.array(sessionPath).max(100).optional(),
      ...sessionFilters,
    }),
    result: z.object({ sessions: z.array(sessionEntry), total: z.number(), cursor: z.string().nullable() }),
    docs: 'Lists sessions, most recently used first. Returns all of them, or one page with `limit`: pass `cursor` to get the next page. `paths` selects individual sessions. `total` is the number of all matching sessions.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
