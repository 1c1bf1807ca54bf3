import { defineMethod } from '../contract.ts';
import { agentId } from '../record-schemas.ts';
import { z } from '../zod.ts';

/** Maximum number of pieces of one request. */
export const MAX_FORGET_PIECES = 2000;

/**
 * `context`: what models were given for earlier replies, such as recalled memories. `summary`: summaries of chats and days. `version`:
 * earlier versions of files. `conflict`: versions that lost a sync conflict. `record`: stored responses, and records of jobs and tools.
 */
const forgetKind = z.enum([
  'memory',
  'note',
  'summary',
  'page',
  'claim',
  'dream',
  'context',
  'version',
  'trash',
  'conflict',
  'message',
  'record',
  'file',
]);
export type ForgetKind = z.infer<typeof forgetKind>;

/**
 * Why something stays: `chat`: chats stay unless chosen. `edited`: a person wrote or edited it. `file`: it is a file of the workspace. `use`:
 * it is in use, such as a document, drawing, project or schedule. `backup`: an older backup. `sync`: names of deleted files stay, so that other devices delete them
 * too. `notChosen`: it was shown and not chosen.
 */
const forgetReason = z.enum(['chat', 'edited', 'file', 'use', 'backup', 'sync', 'notChosen']);
export type ForgetReason = z.infer<typeof forgetReason>;

const piece = z.object({
  id: z.string(),
  kind: forgetKind,
  /** Path of the file, or of the session. */
  place: z.string(),
  /** The text, shortened. */
  text: z.string(),
  /** Whether it goes by default. */
  selected: z.boolean(),
  reason: forgetReason.optional(),
});
export type ForgetPiece = z.infer<typeof piece>;

const remaining = z.object({
  /** A kind of piece, `backup`, `name`, or the name of a store. */
  kind: z.string(),
  reason: forgetReason,
  count: z.number().int(),
});

const report = z.object({
  id: z.string(),
  at: z.number(),
  workspace: z.string(),
  /** Number of deleted pieces by kind. */
  removed: z.record(z.string(), z.number().int()),
  remaining: z.array(remaining),
  /** Number of messages that stay in chats and that memory no longer reads. */
  excludedMessages: z.number().int(),
});
export type ForgetReport = z.infer<typeof report>;

/** Words: each line that contains all of them is found. */
export const forgetQuery = z.string().trim().min(2).max(200);

const target = {
  agentId: agentId.default('main'),
  /** A project, for its own memory instead of the agent's. */
  projectId: agentId.optional(),
  /** Either the ID of a memory, or words: everything with all of these words in one line. */
  memoryId: z.string().min(1).max(128).optional(),
  query: forgetQuery.optional(),
};

/** Forgetting permanently (docs/decisions/0139-provenance-and-forgetting.md). Only people use these methods. */
export const forgettingContracts = {
  'forgetting.preview': defineMethod({
    params: z.strictObject(target),
    result: z.object({ pieces: z.array(piece), count: z.number().int(), remaining: z.array(remaining) }),
    docs: `Finds everything stored about a memory or about some words: memories, notes, summaries, pages, claims, dreams, contexts of earlier replies, earlier versions, the trash and chats. Changes nothing. Fails if there are more than ${MAX_FORGET_PIECES} pieces.`,
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'forgetting.apply': defineMethod({
    params: z.strictObject({
      ...target,
      /** IDs of the pieces to delete, as returned by `forgetting.preview`. Pieces that have changed since are skipped. */
      pieceIds: z.array(z.string().min(1).max(64)).min(1).max(MAX_FORGET_PIECES),
    }),
    result: z.object({ report }),
    emits: ['memory.changed', 'sessions.changed', 'trash.changed', 'wiki.changed'],
    docs: 'Deletes pieces permanently, with their vectors, indexes and origins, here and on other devices. Messages that stay are no longer read by memory, summaries and dreaming. The report says what remains and why; it contains no text.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'forgetting.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ reports: z.array(report), count: z.number().int() }),
    docs: 'Lists the reports of what was forgotten, newest first.',
    policy: { scope: 'read' },
  }),
};
