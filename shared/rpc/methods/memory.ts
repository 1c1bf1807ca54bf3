import { call } from '../contract.ts';
import { agentId, recalledMemory } from '../records.ts';
import { z } from '../zod.ts';

/** Kinds of memories (decisions, "Memory, recall …"). */
export const memoryCategory = z.enum(['fact', 'preference', 'decision', 'task', 'event', 'other']);

export const memoryEntry = z.object({
  /** Of its text, so that it stays when the file is sorted. */
  id: z.string(),
  text: z.string(),
  category: memoryCategory,
  /** When it was noted: milliseconds since 1970, to the minute. */
  createdAt: z.number(),
});
/** Something that is remembered for good. */
export type MemoryEntry = z.infer<typeof memoryEntry>;

const beside = z.object({ text: z.string(), speaker: z.string().optional() }).nullable();

export const memoryFound = z.object({
  /** What `memory.forget` takes, where `kind` is `memory`. */
  id: z.string(),
  text: z.string(),
  /** What it is of: a remembered line, other text of the long-term file, a day's notes, or a message. */
  kind: z.enum(['memory', 'note', 'day', 'message']),
  category: memoryCategory.optional(),
  /** The file in the workspace, and its lines from 1 on, such as `12-14`. */
  path: z.string(),
  lines: z.string(),
  /** When it was noted or said: milliseconds since 1970; null where nothing says so. */
  at: z.number().nullable(),
  /** Of a message: who spoke, and where it stands. */
  speaker: z.string().optional(),
  agentId: z.string().optional(),
  sessionId: z.string().optional(),
  messageId: z.string().optional(),
  /** What it is ranked by; comparable within one search only. */
  score: z.number(),
  /** The share of the query that it and what stands beside it have: 0 to 1. */
  coverage: z.number(),
  why: recalledMemory.shape.why,
  /** What was said or written right before and after it. */
  before: beside,
  after: beside,
});
/** A passage that was found, and why. */
export type MemoryFound = z.infer<typeof memoryFound>;

export const memoryDay = z.object({
  /** `YYYY-MM-DD`, in the person’s time zone (`chat.timeZone`). */
  date: z.string(),
  /** What was noted for good on that day. */
  memories: z.number().int(),
  /** Messages that memory has of it; conversations are searched for a month. */
  messages: z.number().int(),
  /** There are notes of the day, `memory/<date>.md`. */
  notes: z.boolean(),
});
export type MemoryDay = z.infer<typeof memoryDay>;

export const recalledBefore = z.object({
  /** Of the reply: milliseconds since 1970. */
  at: z.number(),
  agentId: z.string(),
  sessionId: z.string(),
  messageId: z.string(),
  /** What was asked, shortened. */
  question: z.string(),
  memories: z.array(recalledMemory),
});
/** What a reply was told from memory. */
export type RecalledBefore = z.infer<typeof recalledBefore>;

const of = { agentId: agentId.default('main') };
const id = z.string().min(1).max(128);
const text = z.string().trim().min(1).max(10_000);
const date = z.string().regex(/^\d{4}-\d\d-\d\d$/, 'must be a day such as 2026-11-22');

/** What agents remember (interface document 2, sections 2.5 and 4.4). It lies in the agent's workspace: agents with one workspace have one memory. */
export const memory = {
  'memory.list': call({
    params: z.strictObject({
      ...of,
      category: memoryCategory.optional(),
      limit: z.number().int().min(1).max(10_000).optional(),
      cursor: z
        .string()
        .regex(/^\d{1,16} [\w-]{1,128}$/, 'is no cursor that memory.list has given')
        .optional(),
    }),
    result: z.object({
      memories: z.array(memoryEntry),
      count: z.number().int(),
      /** How many there are of each category, whichever was asked for. */
      byCategory: z.partialRecord(memoryCategory, z.number().int()),
      cursor: z.string().nullable(),
    }),
    docs: 'What is remembered for good, the newest first: all of it, or `limit` and a `cursor` to pass for the next ones; of one category where one is named. `count` counts all that fit.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.search': call({
    params: z.strictObject({ ...of, query: z.string().trim().min(1).max(1000), limit: z.number().int().min(1).max(100).default(10) }),
    result: z.object({ results: z.array(memoryFound), elapsedMs: z.number() }),
    docs: 'Finds what is remembered, noted and was said in the last month, in whatever words, the best first. Each result says what speaks for it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.add': call({
    params: z.strictObject({
      ...of,
      text,
      category: memoryCategory.default('fact'),
      /** Now where left out; given back where something is put back. */
      createdAt: z.number().min(0).max(8_640_000_000_000).optional(),
    }),
    result: z.object({ memory: memoryEntry, added: z.boolean() }),
    emits: ['memory.changed'],
    docs: 'Remembers a text for good. One that is remembered already is not added again.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'memory.update': call({
    params: z.strictObject({ ...of, id, text: text.optional(), category: memoryCategory.optional() }),
    result: z.object({ memory: memoryEntry }),
    emits: ['memory.changed'],
    docs: 'Puts other words, or another category, in the place of a memory; its time stays. The id follows the text.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'memory.forget': call({
    params: z.strictObject({ ...of, id }),
    result: z.object({ forgotten: memoryEntry }),
    emits: ['memory.changed'],
    docs: 'Takes a memory out, and gives it once more, so that it can be put back.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'memory.preferences': call({
    params: z.strictObject({ ...of }),
    result: z.object({
      preferences: z.array(z.object({ id: z.string(), key: z.string(), value: z.string(), createdAt: z.number() })),
    }),
    docs: 'The preferences that have a name, in the order of their file.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.setPreference': call({
    params: z.strictObject({
      ...of,
      key: z
        .string()
        .trim()
        .min(1)
        .max(200)
        .regex(/^[^:\n\r\u2028\u2029]+$/, 'must be one line without a colon'),
      value: z.string().trim().min(1).max(9000),
    }),
    result: z.object({ memory: memoryEntry, replaced: z.number().int() }),
    emits: ['memory.changed'],
    docs: 'Notes a preference, in the place of an earlier one of that name.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'memory.stats': call({
    params: z.strictObject({ ...of }),
    result: z.object({
      memories: z.number().int(),
      byCategory: z.partialRecord(memoryCategory, z.number().int()),
      /** When the oldest and the newest were noted: milliseconds since 1970, null where there is none. */
      oldest: z.number().nullable(),
      newest: z.number().nullable(),
      /** Files of daily notes. */
      days: z.number().int(),
      dialogs: z.object({ days: z.number().int(), messages: z.number().int(), broken: z.number().int() }),
      toolResults: z.object({ files: z.number().int(), bytes: z.number().int() }),
      /** Passages that are searched. */
      passages: z.number().int(),
    }),
    docs: 'How much is remembered.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.days': call({
    params: z.strictObject({ ...of }),
    result: z.object({ days: z.array(memoryDay) }),
    docs: 'The days of which memory has something, the newest first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.day': call({
    params: z.strictObject({ ...of, date }),
    result: z.object({
      date: z.string(),
      /** Its notes as Markdown; null where there are none. */
      notes: z.string().nullable(),
      memories: z.array(memoryEntry),
    }),
    docs: 'What was noted on a day: its notes, and what was remembered for good.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'memory.summariseDay': call({
    params: z.strictObject({ ...of, date }),
    result: z.object({ notes: z.string().nullable() }),
    emits: ['memory.changed'],
    docs: 'Writes the summary of a day’s conversations into its notes, beside what a person wrote there. Null where nothing was said.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write', metered: true },
  }),
  'memory.recalled': call({
    params: z.strictObject({
      ...of,
      /** Milliseconds since 1970: only what was recalled before. */
      before: z.number().optional(),
      limit: z.number().int().min(1).max(100).default(30),
    }),
    result: z.object({
      recalled: z.array(recalledBefore),
      /** What `before` is for the next page; null where there is none. */
      next: z.number().nullable(),
    }),
    docs: 'What replies were told from memory, the newest first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
