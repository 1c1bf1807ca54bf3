import { z } from '#shared/rpc/zod.ts';

/** Part of the conversation that is used as a query. */
export const QueryMode = {
  /** Only the user's latest message. */
  MESSAGE: 'MESSAGE',
  /** The latest turns and that message. */
  RECENT: 'RECENT',
  /** The whole conversation. */
  FULL: 'FULL',
} as const;
export type QueryMode = (typeof QueryMode)[keyof typeof QueryMode];

/** How memories are selected and ordered; see policies.ts. */
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

/** Settings of active recall as spelled in files, with their defaults. */
export const recallSettings = z.strictObject({
  enabled: z.boolean().default(true),
  query_mode: z.enum(QueryMode).default('RECENT'),
  prompt_style: z.enum(PromptStyle).default('BALANCED'),
  /** Maximum length of the summary for the model, in characters. */
  max_summary_chars: z.number().int().min(40).max(4000).default(220),
  recent_user_turns: turns.default(2),
  recent_assistant_turns: turns.default(1),
  /** How long an answer is cached, in milliseconds; 0 disables the cache. */
  cache_ttl_ms: z.number().int().min(0).max(3_600_000).default(15_000),
});
export type RecallSettings = z.output<typeof recallSettings>;
