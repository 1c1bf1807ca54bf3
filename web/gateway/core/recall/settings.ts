import { z } from '#shared/rpc/zod.ts';

/** What is asked with (interface document 2, section 2.5). */
export const QueryMode = {
  /** The latest message of the person alone. */
  MESSAGE: 'MESSAGE',
  /** The latest turns, and that message. */
  RECENT: 'RECENT',
  /** The whole conversation. */
  FULL: 'FULL',
} as const;
export type QueryMode = (typeof QueryMode)[keyof typeof QueryMode];

/** What of that which was found is told, and in which order (interface document 2, section 2.5; policies.ts says how they differ). */
export const PromptStyle = {
  BALANCED: 'BALANCED',
  STRICT: 'STRICT',
  CONTEXTUAL: 'CONTEXTUAL',
  RECALL_HEAVY: 'RECALL_HEAVY',
  PRECISION_HEAVY: 'PRECISION_HEAVY',
  PREFERENCE_ONLY: 'PREFERENCE_ONLY',
} as const;
export type PromptStyle = (typeof PromptStyle)[keyof typeof PromptStyle];

const turns = z.number().int().min(0).max(20);

/** `ActiveRecallConfig` as documents and files spell it; the samples are the defaults (interface document 2, section 2.4). */
export const recallSettings = z.strictObject({
  enabled: z.boolean().default(true),
  query_mode: z.enum(QueryMode).default('RECENT'),
  prompt_style: z.enum(PromptStyle).default('BALANCED'),
  /** Characters of what a model is told, at the most. */
  max_summary_chars: z.number().int().min(40).max(4000).default(220),
  recent_user_turns: turns.default(2),
  recent_assistant_turns: turns.default(1),
  /** For how long an answer serves again; 0: never. */
  cache_ttl_ms: z.number().int().min(0).max(3_600_000).default(15_000),
});
export type RecallSettings = z.output<typeof recallSettings>;
