import { findCronProblem } from '#shared/cron/cron-fields.ts';
import { z } from '#shared/rpc/zod.ts';
import { isTimeZone } from '#shared/local-time.ts';

/** Destination of promotions: the long-term memory file, `DREAMS.md`, or both. */
export const StorageMode = { INLINE: 'inline', SEPARATE: 'separate', BOTH: 'both' } as const;
export type StorageMode = (typeof StorageMode)[keyof typeof StorageMode];

/** Components of a score, in canonical order. */
export const COMPONENTS = ['frequency', 'relevance', 'diversity', 'recency', 'consolidation', 'conceptual'] as const;
export type ComponentName = (typeof COMPONENTS)[number];

const weight = z.number().min(0).max(1_000_000);
const weights = z
  .strictObject({
    frequency: weight.default(0.25),
    relevance: weight.default(0.2),
    diversity: weight.default(0.15),
    recency: weight.default(0.15),
    consolidation: weight.default(0.15),
    conceptual: weight.default(0.1),
  })
  .prefault({})
  .transform((input, context) => {
    const sum = COMPONENTS.reduce((all, name) => all + input[name], 0);
    if (sum <= 0) context.addIssue({ code: 'custom', message: 'must include at least one weight above 0' });
    // Weights that add up to 1, apart from rounding, stay as written.
    if (sum <= 0 || Math.abs(sum - 1) < 1e-9) return input;
    const { frequency, relevance, diversity, recency, consolidation, conceptual } = input;
    return {
      frequency: frequency / sum,
      relevance: relevance / sum,
      diversity: diversity / sum,
      recency: recency / sum,
      consolidation: consolidation / sum,
      conceptual: conceptual / sum,
    };
  });

const toCountSchema = (min: number, max: number): z.ZodNumber => z.number().int().min(min).max(max);
const timezone = z.string().max(100).refine(isTimeZone, 'must be an IANA time zone, such as Europe/Berlin');
const cron = z.string().trim().min(1).max(200);

const exam = z.enum(['off', 'rules', 'model']);

const fields = {
  /** Whether dreaming runs on schedule; `runPhase` works either way. */
  enabled: z.boolean().default(false),
  /** Five fields: minute, hour, day, month, weekday. */
  cron: cron.default('0 3 * * *'),
  /** Time zone of the schedule, and of the days by which recalls are counted. */
  timezone: timezone.default('UTC'),
  /** Maximum number of items per run. */
  limit: toCountSchema(1, 1000).default(10),
  minScore: z.number().min(0).max(1).default(0.5),
  minRecallCount: toCountSchema(0, 1_000_000).default(2),
  minUniqueQueries: toCountSchema(0, 1_000_000).default(2),
  recencyHalfLifeDays: z.number().positive().max(36_500).default(7),
  maxAgeDays: toCountSchema(1, 36_500).default(30),
  storage: z
    .preprocess((input) => (typeof input === 'string' ? input.toLowerCase() : input), z.enum(StorageMode))
    .default(StorageMode.INLINE),
  scoringWeights: weights,
  /** `propose`: promotions wait for a user's approval. `promote`: they are written at once. */
  promotion: z.enum(['propose', 'promote']).default('propose'),
  /**
   * Exam by which changes of memory are kept or turned down. `rules`: its questions are written without a model. `model`: the agent's model
   * writes some too. `off`: no exam; promotions are not tested, and memories are not merged, shortened or replaced.
   */
  exam: exam.default('off'),
};

/** Settings of dreaming, with their defaults. */
export const dreamingFields = z.strictObject(fields);

/** The section `dreaming` of the configuration. The time zone defaults to the gateway's, and an exam is held. */
export const dreamingSettings = z.strictObject({
  ...fields,
  timezone: timezone.optional(),
  exam: exam.default('rules'),
  cron: cron
    .superRefine((text, context) => {
      const problem = findCronProblem(text);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .default('0 3 * * *'),
});
