import { z } from '#shared/rpc/zod.ts';

const share = z.number().min(0).max(1);

/** `CompactionConfig` in the spelling of documents and files. */
export const compactionSettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Maximum tokens of a conversation; fewer if the model's context is smaller. */
  max_tokens: z.number().int().min(1000).max(10_000_000).default(128_000),
  /** Share of it to keep for the newest messages. */
  reserve_ratio: share.default(0.3),
  min_messages_to_compact: z.number().int().min(1).max(1000).default(10),
  /** Share of it from which a summary is made. */
  compaction_threshold: share.default(0.85),
});
export type CompactionSettings = z.output<typeof compactionSettings>;

/** `SummaryConfig`, in the same spelling. */
export const summarySettings = z.strictObject({
  enabled: z.boolean().default(true),
  /** Model for summaries, if different from the conversation's: `<provider>/<model_id>`. */
  model: z
    .string()
    .max(300)
    .regex(/^[^/]+\/.+$/, 'must be <provider>/<model_id>')
    .optional(),
  max_summary_tokens: z.number().int().min(50).max(100_000).default(2000),
  /** The conversation continues while its summary is being made. */
  async_mode: z.boolean().default(true),
});
