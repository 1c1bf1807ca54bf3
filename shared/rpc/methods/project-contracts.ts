import { defineMethod } from '../contract.ts';
import { id } from '../frames.ts';
import { agentParameters } from '../model-parameters.ts';
import { agentId, sessionPath, workspaceName } from '../record-schemas.ts';
import { createVisibleName } from '../visible-name.ts';
import { z } from '../zod.ts';

/** Maximum number of projects of a vault. */
export const MAX_PROJECTS = 1000;

/**
 * Memory of a project's chats. `shared`: that of their agents. `own`: only the project's. `both`: the project's, and recall before replies also
 * searches that of the agent.
 */
export const PROJECT_MEMORIES = ['shared', 'own', 'both'] as const;
const projectMemory = z.enum(PROJECT_MEMORIES);
export type ProjectMemory = z.infer<typeof projectMemory>;

const model = z.string().min(1).max(300);
const instructions = z.string().max(20_000);
const settings = {
  name: createVisibleName(100),
  /** Added to the instructions of each chat's agent. */
  instructions,
  /** The key of a model. Null for the agent's model. */
  model: model.nullable(),
  /** How the model answers. A chat's own parameters take precedence over them, and they over those of the agent. */
  parameters: z.strictObject(agentParameters).nullable(),
  /** The agent of new chats. Null for the default one. */
  agentId: agentId.nullable(),
  /** The agents that the app offers for new chats; empty for all. */
  agents: z.array(agentId).max(100),
  /** IDs of the collections that its chats can search. */
  collections: z.array(id).max(100),
  memory: projectMemory,
  archived: z.boolean(),
};

const project = z.object({
  id: z.string(),
  ...settings,
  /** The workspace of its files and its own memory. */
  workspace: workspaceName,
  /** Outside sources of the instructions, which were imported and wait for a person's review. */
  outside: z.array(z.string()),
  /** Number of chats, without archived ones. */
  chats: z.number().int(),
  createdAt: z.number(),
  /** Time of the last change to the project or to one of its chats, in milliseconds since the Unix epoch. */
  updatedAt: z.number(),
});
/** A folder of chats with instructions, files, collections, memory, model and agents. */
export type Project = z.infer<typeof project>;

const projectResult = z.object({ project });
const changes = z.strictObject(settings).partial();
export type ProjectChanges = z.infer<typeof changes>;

const archiveEntry = z.object({
  /** Path in the archive, such as `chats/main-plan.jsonl`. */
  path: z.string().min(1).max(1000),
  encoding: z.enum(['utf8', 'base64']),
  content: z.string(),
});
/** A file of an exported project, or a part of a long one. Parts of one file follow each other. */
export type ArchiveEntry = z.infer<typeof archiveEntry>;

/** Projects: folders of chats that share instructions, files, collections, memory, model and agents. */
export const projectContracts = {
  'projects.list': defineMethod({
    params: z.strictObject({ archived: z.boolean().optional() }),
    result: z.object({ projects: z.array(project), count: z.number().int() }),
    docs: 'Lists projects, most recently used first: all of them, or only those that are archived or not.',
    policy: { scope: 'read' },
  }),
  'projects.get': defineMethod({
    params: z.strictObject({ id }),
    result: projectResult,
    docs: 'Returns a project.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'projects.create': defineMethod({
    params: z.strictObject({
      ...changes.shape,
      name: settings.name,
      /** The chats of this folder become the project's. */
      folder: z.string().min(1).max(300).optional(),
    }),
    result: projectResult,
    emits: ['project.changed', 'sessions.changed'],
    docs: 'Creates a project. With `folder`, the chats of that folder and of the folders in it move to the project. `instructions`, `model` and `memory` can only be set by persons.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'projects.update': defineMethod({
    params: z.strictObject({ id, ...changes.shape }),
    result: projectResult,
    emits: ['project.changed'],
    docs: 'Changes a project; what is left out stays as it is. Changes apply to the next reply of its chats. `instructions`, `model` and `memory` can only be set by persons. Setting the instructions, even to the same text, ends the review of imported ones.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'projects.delete': defineMethod({
    params: z.strictObject({
      id,
      /** Whether its chats are moved to the trash too. Otherwise they become chats without a project. */
      withChats: z.boolean().default(false),
    }),
    result: z.object({
      deleted: z.literal(true),
      /** IDs for `trash.restore`, that of the project first. */
      trashIds: z.array(z.string()),
    }),
    emits: ['project.changed', 'sessions.changed', 'trash.changed'],
    docs: 'Moves a project with its files and memory to the trash. If it is restored, the chats that were in it belong to it again.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'projects.addChats': defineMethod({
    params: z.strictObject({
      id,
      paths: z.array(sessionPath).min(1).max(1000),
      /** Create a session that does not exist, for what must hold from its first message on. */
      create: z.boolean().default(false),
    }),
    result: z.object({ added: z.number().int() }),
    emits: ['project.changed', 'sessions.changed'],
    docs: 'Moves chats to a project, from no project or another one. `added` is the number of chats that were not in it before.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'projects.removeChats': defineMethod({
    params: z.strictObject({ paths: z.array(sessionPath).min(1).max(1000) }),
    result: z.object({ removed: z.number().int() }),
    emits: ['project.changed', 'sessions.changed'],
    docs: 'Takes chats out of their projects. The chats are kept.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'projects.export': defineMethod({
    params: z.strictObject({
      id,
      cursor: z
        .string()
        .regex(/^\d{1,9}( .{1,300})?$/, 'must be a cursor from projects.export')
        .optional(),
    }),
    result: z.object({
      /** Suggested name of the archive. */
      filename: z.string(),
      entries: z.array(archiveEntry),
      cursor: z.string().nullable(),
    }),
    docs: 'Exports a project as the files of an archive: `project.json` with its settings and the names of its collections, `instructions.md`, each chat as JSON Lines and as Markdown, its files, and `memories.json`. Long exports are returned in parts: pass `cursor` to get the next one. Consecutive entries with the same path are parts of one file.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'projects.import': defineMethod({
    params: z.strictObject({ entries: z.array(archiveEntry).min(1).max(1000) }),
    result: z.object({
      project,
      /** New items. */
      added: z.object({ projects: z.number().int(), chats: z.number().int(), files: z.number().int(), memories: z.number().int() }),
    }),
    emits: ['project.changed', 'sessions.changed', 'memory.changed'],
    docs: 'Imports the files of an exported project, whole files only; Markdown versions of chats are ignored. A long archive can be imported in several calls, each of which contains `project.json`. What is already there stays as it is, so that importing an archive twice adds nothing. Imported instructions, files and memories wait for review.',
    policy: { scope: 'admin' },
  }),
};
