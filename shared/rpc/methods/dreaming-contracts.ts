import { defineMethod } from '../contract.ts';
import { agentId, linkOrigins } from '../record-schemas.ts';
import { z } from '../zod.ts';

/** The phases of dreaming, in order. */
export const DREAM_PHASES = ['LIGHT', 'REM', 'DEEP'] as const;
const phase = z.enum(DREAM_PHASES);
const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a content hash, 64 characters of hex')
  .describe('SHA-256 of the content');
const category = z.enum(['fact', 'preference', 'decision', 'task', 'event', 'other']);
const fraction = z.number().min(0).max(1);
const integer = z.number().int();
const problem = z.object({ path: z.string(), line: integer.optional(), why: z.string() });
const components = z.object({
  frequency: fraction,
  relevance: fraction,
  diversity: fraction,
  recency: fraction,
  consolidation: fraction,
  conceptual: fraction,
});

const candidate = z.object({
  contentHash: z.string(),
  content: z.string(),
  sourceRef: z.string(),
  score: fraction,
  components,
  outcome: z.enum(['promoted', 'proposed', 'known', 'withheld', 'later']),
  /** Why the signal was neither promoted nor proposed. */
  reason: z.string().optional(),
});

const examScore = z.object({ right: integer, tokens: integer });

/** Result of an exam: questions, right answers and tokens of recall before and after the changes, and the number of changes. */
const examResult = z.object({ questions: integer, before: examScore, after: examScore, kept: integer, turnedDown: integer });

export const dreamRun = z.object({
  id: z.string(),
  /** Whether the schedule or a person started the run. */
  by: z.enum(['schedule', 'person']),
  phases: z.array(phase),
  state: z.enum(['running', 'completed', 'failed', 'interrupted']),
  /** The current phase; null if the run is not in progress. */
  phase: phase.nullable(),
  startedAt: z.number(),
  finishedAt: z.number().nullable(),
  error: z.string().optional(),
  /** Problems that did not stop the run. */
  problems: z.array(problem),
  light: z
    .object({ recalls: integer, collected: integer, seenAgain: integer, removed: integer, total: integer, untrusted: integer })
    .optional(),
  rem: z.object({ themes: z.array(z.array(z.string())), byModel: z.boolean(), path: z.string() }).optional(),
  /** The best `candidates`; `more` is the number of the others. */
  deep: z.object({ promoted: integer, proposed: integer, finished: integer, candidates: z.array(candidate), more: integer }).optional(),
  /** The exam of the deep phase; missing if none was held. */
  exam: examResult.optional(),
});
/** A run of dreaming. Timestamps are in milliseconds since the Unix epoch. */
export type DreamRun = z.infer<typeof dreamRun>;

const dreamSignal = z.object({
  contentHash: z.string(),
  content: z.string(),
  sourceRef: z.string(),
  tags: z.array(z.string()),
  createdAt: z.number(),
  /** When the signal last occurred. */
  lastAt: z.number(),
  recalls: integer,
  /** The number of distinct queries that recalled the signal, and the newest of them. */
  queries: integer,
  lastQuery: z.string(),
  score: fraction,
  components,
  /** `ready`: can be promoted. `short`: does not meet the limits. `proposed`: waits for review. `untrusted`: comes from untrusted content. */
  state: z.enum(['ready', 'short', 'proposed', 'promoted', 'rejected', 'untrusted']),
  /** The limit that is not met, or the reason why the signal is not trusted. */
  why: z.string().optional(),
});
/** A signal with its score. */
export type DreamSignal = z.infer<typeof dreamSignal>;

const dreamProposal = z.object({
  contentHash: z.string(),
  content: z.string(),
  /** The text that would be saved. */
  text: z.string(),
  category,
  sourceRef: z.string(),
  createdAt: z.number(),
  score: fraction,
  components,
  state: z.enum(['proposed', 'promoting', 'promoted', 'rejected']),
  /** When the suggestion entered this state. */
  at: z.number(),
  /** Why the suggestion was rejected. */
  reason: z.string().optional(),
});
/** A suggestion for long-term memory that waits for review or was reviewed. */
export type DreamProposal = z.infer<typeof dreamProposal>;

const changedMemory = z.object({ text: z.string(), category, createdAt: z.number() });
const changeId = z.string().regex(/^[0-9a-f]{64}$/, 'must be the id of a change, 64 characters of hex');

const dreamChange = z.object({
  id: z.string(),
  /**
   * `update`: a later statement replaces the memory. `retire`: the later statement is already in memory. `merge`: another memory says the
   * same. `shorten`: words that state nothing are removed. `promote`: a new memory.
   */
  kind: z.enum(['update', 'retire', 'merge', 'shorten', 'promote']),
  /** `proposed`: waits for review. `turned_down`: the exam did not improve. */
  state: z.enum(['proposed', 'applying', 'applied', 'undone', 'dismissed', 'turned_down']),
  removed: z.array(changedMemory),
  added: z.array(changedMemory),
  /** For a merge: the memory that stays. */
  duplicateOf: z.string().optional(),
  /** The memory that an applied change has written. `provenance.get` returns its origin. */
  memoryId: z.string().optional(),
  /** Source of an added text that was not in memory; empty otherwise. */
  sourceRef: z.string(),
  /** The questions that the change touches: right answers and tokens of recall without and with the change. */
  trial: z.object({ questions: integer, rightBefore: integer, rightAfter: integer, tokensBefore: integer, tokensAfter: integer }),
  /** When the change entered this state. */
  at: z.number(),
});
/** A change of long-term memory that the exam has tried. */
export type DreamChange = z.infer<typeof dreamChange>;

const examQuestion = z.object({
  question: z.string(),
  expected: z.string(),
  /** Statement that contains the answer. */
  statement: z.string(),
  /** `recall`: a query that recalled the statement. `statement`: the statement without its answer. `model`: written by the agent's model. */
  by: z.enum(['recall', 'statement', 'model']),
});
export type ExamQuestionInfo = z.infer<typeof examQuestion>;

const agent = agentId.default('main');
const workspaceFields = { agentId: z.string(), workspace: z.string() };
const idempotencyKey = z.string().min(1).max(256).optional();

/** Dreaming: the consolidation of memory. All methods use the workspace of an agent; agents that share a workspace share its memory. */
export const dreamingContracts = {
  'dreaming.status': defineMethod({
    params: z.strictObject({ agentId: agent }),
    result: z.object({
      ...workspaceFields,
      enabled: z.boolean(),
      /** False if memory is off for the agent; the schedule then does nothing. */
      remembers: z.boolean(),
      schedule: z.object({
        cron: z.string(),
        timezone: z.string(),
        /** The schedule in plain language. */
        words: z.string(),
        /** Null if the schedule is off or never occurs. */
        nextRunAt: z.number().nullable(),
        /** Why the schedule cannot be used. */
        problem: z.string().optional(),
      }),
      limits: z.object({
        limit: integer,
        minScore: z.number(),
        minRecallCount: integer,
        minUniqueQueries: integer,
        recencyHalfLifeDays: z.number(),
        maxAgeDays: integer,
        storage: z.enum(['inline', 'separate', 'both']),
        promotion: z.enum(['propose', 'promote']),
        exam: z.enum(['off', 'rules', 'model']),
      }),
      weights: components,
      running: dreamRun.nullable(),
      lastRun: dreamRun.nullable(),
      signals: integer,
      waiting: integer,
      /** Lines of the memory files that cannot be read. They are left unchanged. */
      problems: z.array(problem),
    }),
    docs: 'Returns the state of dreaming for an agent: its schedule, the next run, the current and last run, and the number of suggestions that wait for review. Example: `{"agentId": "main"}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.signals': defineMethod({
    params: z.strictObject({
      agentId: agent,
      /** Words to find in the content or its source. */
      query: z.string().max(200).default(''),
      state: z.enum(['all', 'ready', 'short', 'proposed', 'promoted', 'rejected', 'untrusted']).default('all'),
      limit: integer.min(1).max(200).default(50),
      offset: integer.min(0).max(1_000_000).default(0),
    }),
    result: z.object({ ...workspaceFields, signals: z.array(dreamSignal), total: integer, minScore: z.number() }),
    docs: 'Lists signals by score, highest first, with the six components of the score. Example: `{"state": "ready", "limit": 10}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.run': defineMethod({
    params: z.strictObject({ agentId: agent, phase: phase.optional(), idempotencyKey }),
    result: z.object({ ...workspaceFields, run: dreamRun }),
    emits: ['dreaming.changed'],
    docs: 'Starts dreaming now: all phases, or one. The response is returned once it has started; `dreaming.changed` reports its progress. Returns `ALREADY_EXISTS` if a run is in progress in the same workspace. Example: `{"phase": "LIGHT"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write', metered: 'unattended' },
  }),
  'dreaming.review': defineMethod({
    params: z.strictObject({
      agentId: agent,
      state: z.enum(['proposed', 'settled']).default('proposed'),
      limit: integer.min(1).max(200).default(200),
    }),
    result: z.object({ ...workspaceFields, proposals: z.array(dreamProposal), count: integer }),
    docs: 'Lists the suggestions that wait for review, best first, or those already reviewed (`settled`), newest first. Example: `{}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.accept': defineMethod({
    params: z.strictObject({ agentId: agent, contentHash: hash, text: z.string().max(4000).optional(), category: category.optional() }),
    result: z.object({ proposal: dreamProposal }),
    emits: ['dreaming.changed'],
    docs: 'Accepts a suggestion and saves it to long-term memory, optionally with another text or category. Without a new text, its source must still contain it. Not available to API keys and channels. Example: `{"contentHash": "<64 hex>", "category": "preference"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'dreaming.reject': defineMethod({
    params: z.strictObject({ agentId: agent, contentHash: hash, reason: z.string().max(1000).optional() }),
    result: z.object({ proposal: dreamProposal }),
    emits: ['dreaming.changed'],
    docs: 'Rejects a suggestion. It is not made again. Not available to API keys and channels. Example: `{"contentHash": "<64 hex>", "reason": "It was a joke"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'dreaming.restore': defineMethod({
    params: z.strictObject({ agentId: agent, contentHash: hash }),
    result: z.object({ proposal: dreamProposal }),
    emits: ['dreaming.changed'],
    docs: 'Undoes a rejection: the suggestion waits for review again. Not available to API keys and channels. Example: `{"contentHash": "<64 hex>"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'dreaming.history': defineMethod({
    params: z.strictObject({ agentId: agent, limit: integer.min(1).max(100).default(20) }),
    result: z.object({ ...workspaceFields, runs: z.array(dreamRun), count: integer }),
    docs: 'Lists the runs of dreaming, newest first. Example: `{"limit": 5}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.report': defineMethod({
    params: z.strictObject({ agentId: agent, runId: z.string().min(1).max(128) }),
    result: z.object({
      ...workspaceFields,
      run: dreamRun,
      /** Markdown; null if the run has no narrative or it no longer exists. */ narrative: z.string().nullable(),
      ...linkOrigins,
    }),
    docs: 'Returns a run and the narrative that it wrote. Example: `{"runId": "…"}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.exam': defineMethod({
    params: z.strictObject({ agentId: agent, limit: integer.min(1).max(400).default(100) }),
    result: z.object({ ...workspaceFields, questions: z.array(examQuestion), count: integer }),
    docs: 'Lists the questions of the last exam, which dreaming wrote from the vault. The results of the last nights are in `dreaming.history`. Not available to API keys and channels. Example: `{"limit": 20}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.changes': defineMethod({
    params: z.strictObject({
      agentId: agent,
      state: z.enum(['all', 'proposed', 'applied', 'turned_down']).default('all'),
      limit: integer.min(1).max(500).default(100),
    }),
    result: z.object({ ...workspaceFields, changes: z.array(dreamChange), count: integer }),
    docs: 'Lists the changes of long-term memory that the exam has tried, newest first: those that wait for review, those made, and those turned down, with the result of the exam. Example: `{"state": "turned_down"}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.applyChange': defineMethod({
    params: z.strictObject({ agentId: agent, changeId }),
    result: z.object({ change: dreamChange }),
    emits: ['dreaming.changed'],
    docs: 'Makes a change that waits for review, was undone or was turned down. Returns `INVALID_PARAMS` if a memory that it replaces no longer exists. Not available to API keys and channels. Example: `{"changeId": "<64 hex>"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'dreaming.undoChange': defineMethod({
    params: z.strictObject({ agentId: agent, changeId }),
    result: z.object({ change: dreamChange }),
    emits: ['dreaming.changed'],
    docs: 'Undoes a change: the memories that it replaced are restored. It is not made again. Not available to API keys and channels. Example: `{"changeId": "<64 hex>"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'dreaming.dismissChange': defineMethod({
    params: z.strictObject({ agentId: agent, changeId }),
    result: z.object({ change: dreamChange }),
    emits: ['dreaming.changed'],
    docs: 'Dismisses a change that waits for review. It is not suggested again. Not available to API keys and channels. Example: `{"changeId": "<64 hex>"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
};
