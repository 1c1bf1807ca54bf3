import { defineMethod } from '../contract.ts';
import { agentId } from '../record-schemas.ts';
import { z } from '../zod.ts';

const kind = z.enum(['memory', 'day', 'claim', 'dream', 'report']);
export type ProvenanceKind = z.infer<typeof kind>;

/**
 * `intact`: text and sources are as recorded. `entryChanged`: the text was changed without a record. `sourceChanged`, `sourceDeleted`: a
 * source was changed or deleted since. `tampered`: a signature is wrong. `unverifiable`: this browser does not have the key. `unrecorded`:
 * the origin was never recorded, as in older versions of Perch.
 */
const state = z.enum(['intact', 'entryChanged', 'sourceChanged', 'sourceDeleted', 'tampered', 'unverifiable', 'unrecorded']);
export type ProvenanceState = z.infer<typeof state>;

const sourceState = z.enum(['intact', 'changed', 'deleted', 'unverifiable']);

const messageOrigin = z.object({
  agentId: z.string(),
  sessionId: z.string(),
  messageId: z.string(),
  role: z.string(),
  at: z.number(),
  /** Keyed hash of the message’s text when the version was written. */
  hash: z.string(),
  state: sourceState,
  /** The beginning of the message as it is now; null if it was deleted. */
  quote: z.string().nullable(),
});
export type ProvenanceMessage = z.infer<typeof messageOrigin>;

const fileOrigin = z.object({
  path: z.string(),
  lines: z.string().optional(),
  hash: z.string(),
  state: sourceState,
  quote: z.string().nullable(),
});

const version = z.object({
  at: z.number(),
  /** `summary`: a summary of a chat or day. `program`: a program with an API key. */
  by: z.enum(['person', 'program', 'agent', 'summary', 'dreaming', 'import']),
  hash: z.string(),
  signature: z.string(),
  messages: z.array(messageOrigin),
  /** Number of all messages; the oldest ones are left out of long lists. */
  messageCount: z.number().int(),
  files: z.array(fileOrigin),
});
export type ProvenanceVersionView = z.infer<typeof version>;

const chain = z.object({
  kind,
  name: z.string(),
  /** The current text, shortened; null if it no longer exists. */
  text: z.string().nullable(),
  state,
  /** Newest first. */
  versions: z.array(version),
});
export type ProvenanceChain = z.infer<typeof chain>;

const ownerParams = {
  agentId: agentId.default('main'),
  /** A project, for its own memory instead of the agent's. */
  projectId: agentId.optional(),
};

/** Origins of memories, daily summaries, claims and dreams (docs/decisions/0139-provenance-and-forgetting.md). */
export const provenanceContracts = {
  'provenance.get': defineMethod({
    params: z.strictObject({
      ...ownerParams,
      kind,
      /** ID of a memory or claim, date of a day (`YYYY-MM-DD`), content hash of a dream, or path of a dreaming report. */
      name: z.string().min(1).max(200),
    }),
    result: chain,
    docs: 'Returns which messages a memory, daily summary, claim or dream was made from, and whether it and they are unchanged.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'provenance.check': defineMethod({
    params: z.strictObject(ownerParams),
    result: z.object({
      /** Number of checked entries. */
      checked: z.number().int(),
      byState: z.partialRecord(state, z.number().int()),
      /** Entries that are not as recorded, at most 200. */
      problems: z.array(z.object({ kind, name: z.string(), text: z.string().nullable(), state })),
    }),
    docs: 'Checks the origins of all memories, daily summaries, claims and dreams.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
