import { call } from '../contract.ts';
import { agentId } from '../records.ts';
import { z } from '../zod.ts';

/** The parts of a dream, in their order. */
export const DREAM_PHASES = ['LIGHT', 'REM', 'DEEP'] as const;
const phase = z.enum(DREAM_PHASES);
const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a content hash, 64 characters of hex')
  .describe('SHA-256 of the content');
const category = z.enum(['fact', 'preference', 'decision', 'task', 'event', 'other']);
const share = z.number().min(0).max(1);
const whole = z.number().int();
const problem = z.object({ path: z.string(), line: whole.optional(), why: z.string() });
const components = z.object({
  frequency: share,
  relevance: share,
  diversity: share,
  recency: share,
  consolidation: share,
  conceptual: share,
});

const candidate = z.object({
  contentHash: z.string(),
  content: z.string(),
  sourceRef: z.string(),
  score: share,
  components,
  outcome: z.enum(['promoted', 'proposed', 'known', 'withheld', 'later']),
  /** Why it is neither promoted nor proposed. */
  reason: z.string().optional(),
});

export const dreamRun = z.object({
  id: z.string(),
  /** Who began it. */
  by: z.enum(['schedule', 'person']),
  phases: z.array(phase),
  state: z.enum(['running', 'completed', 'failed', 'interrupted']),
  /** What it is at; null where it is at none. */
  phase: phase.nullable(),
  startedAt: z.number(),
  finishedAt: z.number().nullable(),
  error: z.string().optional(),
  /** What went not as it should, and stopped nothing. */
  problems: z.array(problem),
  light: z.object({ recalls: whole, collected: whole, seenAgain: whole, removed: whole, total: whole, untrusted: whole }).optional(),
  rem: z.object({ themes: z.array(z.array(z.string())), byModel: z.boolean(), path: z.string() }).optional(),
  /** `candidates`: the best; `more`: how many there were beside them. */
  deep: z.object({ promoted: whole, proposed: whole, finished: whole, candidates: z.array(candidate), more: whole }).optional(),
});
/** A run of dreaming; milliseconds since 1970. */
export type DreamRun = z.infer<typeof dreamRun>;

export const dreamSignal = z.object({
  contentHash: z.string(),
  content: z.string(),
  sourceRef: z.string(),
  tags: z.array(z.string()),
  createdAt: z.number(),
  /** When it last came up. */
  lastAt: z.number(),
  recalls: whole,
  /** Distinct queries that it came up for, and the newest of them. */
  queries: whole,
  lastQuery: z.string(),
  score: share,
  components,
  /** How it stands: it may be promoted (`ready`), lacks something (`short`), waits for a word, was promoted or rejected, or is others' words (`untrusted`). */
  state: z.enum(['ready', 'short', 'proposed', 'promoted', 'rejected', 'untrusted']),
  /** What it lacks, or why it is not trusted. */
  why: z.string().optional(),
});
/** A signal with its score. */
export type DreamSignal = z.infer<typeof dreamSignal>;

export const dreamProposal = z.object({
  contentHash: z.string(),
  content: z.string(),
  /** What would be written. */
  text: z.string(),
  category,
  sourceRef: z.string(),
  createdAt: z.number(),
  score: share,
  components,
  state: z.enum(['proposed', 'promoting', 'promoted', 'rejected']),
  /** When it came into this state. */
  at: z.number(),
  /** Why it was rejected. */
  reason: z.string().optional(),
});
/** Something that waits for a person's word before it is remembered for long, or that had it. */
export type DreamProposal = z.infer<typeof dreamProposal>;

const agent = agentId.default('main');
const whose = { agentId: z.string(), workspace: z.string() };
const idempotencyKey = z.string().min(1).max(256).optional();

/** Consolidation of memory (interface document 2, sections 2.3 and 4.7). All act on the workspace of an agent; agents that share one share its memory. */
export const dreaming = {
  'dreaming.status': call({
    params: z.strictObject({ agentId: agent }),
    result: z.object({
      ...whose,
      enabled: z.boolean(),
      /** False: the agent is without memory, and its schedule does nothing. */
      remembers: z.boolean(),
      schedule: z.object({
        cron: z.string(),
        timezone: z.string(),
        /** The schedule as people say it. */
        words: z.string(),
        /** Null: it is off, or never comes. */
        nextRunAt: z.number().nullable(),
        /** Why it cannot be kept. */
        problem: z.string().optional(),
      }),
      limits: z.object({
        limit: whole,
        minScore: z.number(),
        minRecallCount: whole,
        minUniqueQueries: whole,
        recencyHalfLifeDays: z.number(),
        maxAgeDays: whole,
        storage: z.enum(['inline', 'separate', 'both']),
        promotion: z.enum(['propose', 'promote']),
      }),
      weights: components,
      running: dreamRun.nullable(),
      lastRun: dreamRun.nullable(),
      signals: whole,
      waiting: whole,
      /** Lines of its files that cannot be read; they stay as they are. */
      problems: z.array(problem),
    }),
    docs: 'How dreaming stands for an agent: its schedule in words, when it comes next, the last run and one under way, and how much waits. Example: `{"agentId": "main"}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.signals': call({
    params: z.strictObject({
      agentId: agent,
      /** Words that the content or its source has. */
      query: z.string().max(200).default(''),
      state: z.enum(['all', 'ready', 'short', 'proposed', 'promoted', 'rejected', 'untrusted']).default('all'),
      limit: whole.min(1).max(200).default(50),
      offset: whole.min(0).max(1_000_000).default(0),
    }),
    result: z.object({ ...whose, signals: z.array(dreamSignal), total: whole, minScore: z.number() }),
    docs: 'Signals by their score, the highest first, each with the six components of it. Example: `{"state": "ready", "limit": 10}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.run': call({
    params: z.strictObject({ agentId: agent, phase: phase.optional(), idempotencyKey }),
    result: z.object({ ...whose, run: dreamRun }),
    emits: ['dreaming.changed'],
    docs: 'Dreams now: all phases, or one. Answers when it has begun; `dreaming.changed` tells how it goes on. One that is under way in the same workspace is ALREADY_EXISTS. Example: `{"phase": "LIGHT"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write', metered: 'unattended' },
  }),
  'dreaming.review': call({
    params: z.strictObject({
      agentId: agent,
      state: z.enum(['proposed', 'settled']).default('proposed'),
      limit: whole.min(1).max(200).default(200),
    }),
    result: z.object({ ...whose, proposals: z.array(dreamProposal), count: whole }),
    docs: "What waits for a person's word, the best first; or what had it (`settled`), the latest first. Example: `{}`.",
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.accept': call({
    params: z.strictObject({ agentId: agent, contentHash: hash, text: z.string().max(4000).optional(), category: category.optional() }),
    result: z.object({ proposal: dreamProposal }),
    emits: ['dreaming.changed'],
    docs: 'Has a proposal remembered for long, with another text or kind where they are given. Unedited, its source must still say it. A person alone may. Example: `{"contentHash": "<64 hex>", "category": "preference"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'dreaming.reject': call({
    params: z.strictObject({ agentId: agent, contentHash: hash, reason: z.string().max(1000).optional() }),
    result: z.object({ proposal: dreamProposal }),
    emits: ['dreaming.changed'],
    docs: 'Rejects a proposal, which is never made again. A person alone may. Example: `{"contentHash": "<64 hex>", "reason": "It was a joke"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'dreaming.restore': call({
    params: z.strictObject({ agentId: agent, contentHash: hash }),
    result: z.object({ proposal: dreamProposal }),
    emits: ['dreaming.changed'],
    docs: 'Takes a rejection back: the proposal waits again. A person alone may. Example: `{"contentHash": "<64 hex>"}`.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS'],
    policy: { scope: 'write' },
  }),
  'dreaming.history': call({
    params: z.strictObject({ agentId: agent, limit: whole.min(1).max(100).default(20) }),
    result: z.object({ ...whose, runs: z.array(dreamRun), count: whole }),
    docs: 'Runs of dreaming, the newest first. Example: `{"limit": 5}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'dreaming.report': call({
    params: z.strictObject({ agentId: agent, runId: z.string().min(1).max(128) }),
    result: z.object({
      ...whose,
      run: dreamRun,
      /** Markdown; null where the run has none, or it is gone. */ narrative: z.string().nullable(),
    }),
    docs: 'One run with the narrative that it wrote. Example: `{"runId": "…"}`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
};
