import { z } from '#shared/rpc/zod.ts';

const share = z.number().min(0).max(1);

/** `CompactionConfig` as documents and files spell it; the samples are the defaults (interface document 2, section 2.4). */
export const compactionSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Tokens of a conversation at the most; fewer where the model's context has fewer. */
  max_tokens: z.number().int().min(1000).max(10_000_000).default(128_000),
  /** The share of it that the newest messages keep. */
  reserve_ratio: share.default(0.3),
  min_messages_to_compact: z.number().int().min(1).max(1000).default(10),
  /** The share of it that has to be used. */
  compaction_threshold: share.default(0.85),
});
export type CompactionSettings = z.output<typeof compactionSettings>;

/** `SummaryConfig`, likewise. */
export const summarySettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Another model than the conversation's: `<provider>/<model_id>`. */
  model: z
    .string()
    .max(300)
    .regex(/^[^/]+\/.+$/, 'must be <provider>/<model_id>')
    .optional(),
  max_summary_tokens: z.number().int().min(50).max(100_000).default(2000),
  /** The conversation goes on while its summary is made. */
  async_mode: z.boolean().default(true),
});
export type SummarySettings = z.output<typeof summarySettings>;
