import { defineMethod } from '../contract.ts';
import { agentId, linkOrigins, recalledMemory } from '../record-schemas.ts';
import { z } from '../zod.ts';

/** The category of a memory. */
const memoryCategory = z.enum(['fact', 'preference', 'decision', 'task', 'event', 'other']);

const memoryEntry = z.object({
  /** Derived from the text, so it does not change when the file is sorted. */
  id: z.string(),
  text: z.string(),
  category: memoryCategory,
  /** When the memory was added, in milliseconds since the Unix epoch, to the minute. */
  createdAt: z.number(),
});
/** A long-term memory. */
export type MemoryEntry = z.infer<typeof memoryEntry>;

const adjacentPassage = z.object({ text: z.string(), speaker: z.string().optional() }).nullable();

const memoryMatch = z.object({
  /** The ID to pass to `memory.forget`, if `kind` is `memory`. */
  id: z.string(),
  text: z.string(),
  /** `memory`: a memory. `note`: other text of the long-term file. `day`: daily notes. `message`: a chat message. */
  kind: z.enum(['memory', 'note', 'day', 'message']),
  category: memoryCategory.optional(),
  /** The file in the workspace and its lines, counted from 1, such as `12-14`. */
  path: z.string(),
  lines: z.string(),
  /** When it was written, in milliseconds since the Unix epoch; null if unknown. */
  at: z.number().nullable(),
  /** For messages: the speaker, and where to find the message. */
  speaker: z.string().optional(),
  agentId: z.string().optional(),
  sessionId: z.string().optional(),
  messageId: z.string().optional(),
  /** The rank. Comparable within one search only. */
  score: z.number(),
  /** The share of the query that the passage and its neighbours cover, from 0 to 1. */
  coverage: z.number(),
  /** The estimated probability that one of the results answers the query, from 0 to 1. It is the same for all results of a search. */
  fit: z.number().optional(),
  why: recalledMemory.shape.why,
  /** The passages before and after it. */
  before: adjacentPassage,
  after: adjacentPassage,
});
/** A search result and why it matches. */
export type MemoryMatch = z.infer<typeof memoryMatch>;

const memoryDay = z.object({
  /** `YYYY-MM-DD` in the person’s time zone (`chat.timeZone`). */
  date: z.string(),
  /** Number of memories added on that day. */
  memories: z.number().int(),
  /** Number of messages of that day in memory. Conversations are searchable for a month. */
  messages: z.number().int(),
  /** Whether `memory/<date>.md` exists. */
  notes: z.boolean(),
});
export type MemoryDay = z.infer<typeof memoryDay>;

const recallHistoryEntry = z.object({
  /** When the reply was written, in milliseconds since the Unix epoch. */
  at: z.number(),
  agentId: z.string(),
  sessionId: z.string(),
  messageId: z.string(),
  /** The question, shortened. */
  question: z.string(),
  memories: z.array(recalledMemory),
});
/** The memories that the model was given for a reply. */
export type RecallHistoryEntry = z.infer<typeof recallHistoryEntry>;

const agentParams = { agentId: agentId.default('main') };
const ownerParams = {
  ...agentParams,
  /** A project, for its own memory instead of the agent's. */
  projectId: agentId.optional(),
};
const id = z.string().min(1).max(128);
const text = z.string().trim().min(1).max(10_000);
const date = z.string().regex(/^\d{4}-\d\d-\d\d$/, 'must be a date such as 2026-11-22');

/** Memory of agents. It is stored in the agent's workspace; agents that share a workspace share its memory. */
export const memoryContracts = {
  'memory.list': defineMethod({
    params: z.strictObject({
      ...ownerParams,
      category: memoryCategory.optional(),
      limit: z.number().int().min(1).max(10_000).optional(),
      cursor: z
        .string()
        .regex(/^\d{1,16} [\w-]{1,128}$/, 'must be a cursor from memory.list')
        .optional(),
    }),
    result: z.object({
      memories: z.array(memoryEntry),
      count: z.number().int(),
      /** Number of memories in each category, regardless of the filter. */
      byCategory: z.partialRecord(memoryCategory, z.number().int()),
      cursor: z.string().nullable(),
    }),
    docs: 'Lists long-term memories, newest first: all of them, or one page with `limit`. Pass `cursor` to get the next page. `category` filters by category. `count` is the number of all matching memories.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.search': defineMethod({
    params: z.strictObject({
      ...ownerParams,
      query: z.string().trim().min(1).max(1000),
      limit: z.number().int().min(1).max(100).default(10),
    }),
    result: z.object({ results: z.array(memoryMatch), elapsedMs: z.number() }),
    docs: 'Searches memories, daily notes and the messages of the last month, best matches first. Each result says why it matches.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.add': defineMethod({
    params: z.strictObject({
      ...ownerParams,
      text,
      category: memoryCategory.default('fact'),
      /** Defaults to now. Pass the original time to restore a memory. */
      createdAt: z.number().min(0).max(8_640_000_000_000).optional(),
      /** Outside sources of a memory that is imported, or restored as `memory.forget` returned them. It waits for review. */
      outside: z.array(z.string().min(1).max(200)).max(20).optional(),
    }),
    result: z.object({ memory: memoryEntry, added: z.boolean() }),
    emits: ['memory.changed'],
    docs: 'Adds a memory. A text that is already remembered is not added again.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'memory.update': defineMethod({
    params: z.strictObject({ ...ownerParams, id, text: text.optional(), category: memoryCategory.optional() }),
    result: z.object({ memory: memoryEntry }),
    emits: ['memory.changed'],
    docs: 'Changes the text or category of a memory. Its time stays the same; its ID changes with the text.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'memory.delete': defineMethod({
    params: z.strictObject({ ...ownerParams, id }),
    result: z.object({
      deleted: z.literal(true),
      memory: memoryEntry,
      /** ID for `trash.restore`. */
      trashId: z.string(),
    }),
    emits: ['memory.changed', 'trash.changed'],
    docs: 'Moves a memory to the trash.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'memory.forget': defineMethod({
    params: z.strictObject({ ...ownerParams, id }),
    result: z.object({
      forgotten: memoryEntry,
      /** Outside sources, if the memory was not yet reviewed. */
      outside: z.array(z.string()).optional(),
    }),
    emits: ['memory.changed'],
    docs: 'Deletes a memory permanently and returns it. `memory.delete` moves it to the trash.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'memory.preferences': defineMethod({
    params: z.strictObject({ ...agentParams }),
    result: z.object({
      preferences: z.array(z.object({ id: z.string(), key: z.string(), value: z.string(), createdAt: z.number() })),
    }),
    docs: 'Lists the named preferences in the order of their file.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.setPreference': defineMethod({
    params: z.strictObject({
      ...agentParams,
      key: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .regex(/^[^:\n\r\u2028\u2029]+$/, 'must be a single line without a colon'),
      value: z.string().trim().min(1).max(9000),
    }),
    result: z.object({ memory: memoryEntry, replaced: z.number().int() }),
    emits: ['memory.changed'],
    docs: 'Sets a preference, replacing an earlier one of the same name.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'memory.stats': defineMethod({
    params: z.strictObject({ ...agentParams }),
    result: z.object({
      memories: z.number().int(),
      byCategory: z.partialRecord(memoryCategory, z.number().int()),
      /** When the oldest and the newest memory were added, in milliseconds since the Unix epoch; null if there are none. */
      oldest: z.number().nullable(),
      newest: z.number().nullable(),
      /** Number of daily notes. */
      days: z.number().int(),
      dialogs: z.object({ days: z.number().int(), messages: z.number().int(), broken: z.number().int() }),
      toolResults: z.object({ files: z.number().int(), bytes: z.number().int() }),
      /** Number of searchable passages. */
      passages: z.number().int(),
    }),
    docs: 'Returns how much is remembered.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.days': defineMethod({
    params: z.strictObject({ ...agentParams }),
    result: z.object({ days: z.array(memoryDay) }),
    docs: 'Lists the days for which there are memories, newest first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.day': defineMethod({
    params: z.strictObject({ ...agentParams, date }),
    result: z.object({
      date: z.string(),
      /** The notes as Markdown; null if there are none. */
      notes: z.string().nullable(),
      memories: z.array(memoryEntry),
      ...linkOrigins,
    }),
    docs: 'Returns the notes and memories of a day.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.summariseDay': defineMethod({
    params: z.strictObject({ ...agentParams, date }),
    result: z.object({ notes: z.string().nullable() }),
    emits: ['memory.changed'],
    docs: 'Adds a summary of a day’s conversations to the notes of that day, keeping what a person wrote there. `notes` is null if there were no conversations.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: true },
  }),
  'memory.recalled': defineMethod({
    params: z.strictObject({
      ...agentParams,
      /** Return only replies before this time, in milliseconds since the Unix epoch. */
      before: z.number().optional(),
      limit: z.number().int().min(1).max(100).default(30),
    }),
    result: z.object({
      recalled: z.array(recallHistoryEntry),
      /** Pass it as `before` to get the next page; null on the last page. */
      next: z.number().nullable(),
    }),
    docs: 'Lists the memories that were given to the model for earlier replies, newest first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
