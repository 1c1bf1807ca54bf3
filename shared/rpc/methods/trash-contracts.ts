import { TRASH_DAYS } from '../../trash-retention.ts';
import { defineMethod } from '../contract.ts';
import { id } from '../frames.ts';
import { z } from '../zod.ts';

const trashKind = z.enum(['chat', 'memory', 'page', 'drawing', 'project']);

const trashEntry = z.object({
  id: z.string(),
  kind: trashKind,
  /** Title of the chat, page or drawing; name of the project; text of the memory. */
  title: z.string(),
  /** The agent that it belonged to; null for drawings and projects. */
  agentId: z.string().nullable(),
  deletedAt: z.number(),
  /** When it is deleted permanently. */
  expiresAt: z.number(),
});
/** Something deleted that can be restored. */
export type TrashEntry = z.infer<typeof trashEntry>;

/** Deleted chats, memories, wiki pages, drawings and projects (docs/decisions/0130-trash.md). No other method reads the trash, and only people use these. */
export const trashContracts = {
  'trash.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ items: z.array(trashEntry), count: z.number().int() }),
    docs: `Lists deleted chats, memories, wiki pages, drawings and projects, last deleted first. They are deleted permanently after ${TRASH_DAYS} days.`,
    policy: { scope: 'read' },
  }),
  'trash.restore': defineMethod({
    params: z.strictObject({ id }),
    result: z.object({ kind: trashKind, agentId: z.string().nullable(), path: z.string() }),
    emits: ['trash.changed', 'project.changed'],
    docs: 'Restores an item. `path` is the path of the session or page, or the ID of the memory, drawing or project. If another session or page has its path by now, it gets a new one.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'trash.delete': defineMethod({
    params: z.strictObject({ id }),
    result: z.object({ deleted: z.literal(true) }),
    emits: ['trash.changed'],
    docs: 'Deletes an item permanently.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'trash.empty': defineMethod({
    params: z.strictObject({}),
    result: z.object({ deleted: z.number().int() }),
    emits: ['trash.changed'],
    docs: 'Deletes all items in the trash permanently. `deleted` is their number.',
    policy: { scope: 'write' },
  }),
};
