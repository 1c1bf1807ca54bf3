import type { Usage } from '../rpc/record-schemas.ts';
import { toTokenCount } from './upstream-usage.ts';

type Tokens = number | null | undefined;

/** The `usage` object of Anthropic's Messages API, as far as Perch reads it. */
export interface MessagesUsage {
  input_tokens?: Tokens;
  output_tokens?: Tokens;
  cache_read_input_tokens?: Tokens;
  cache_creation_input_tokens?: Tokens;
  cache_creation?: { ephemeral_5m_input_tokens?: Tokens; ephemeral_1h_input_tokens?: Tokens } | null | undefined;
}

/** Anthropic counts cached input separately; Perch includes it in the input. Undefined without figures. */
export function readMessagesUsage(usage: MessagesUsage): Usage | undefined {
  if (usage.input_tokens == null && usage.output_tokens == null) return undefined;
  const { cache_read_input_tokens: cacheRead, cache_creation: cacheCreation } = usage;
  const cacheReadTokens = toTokenCount(cacheRead);
  const cacheWrite1hTokens = toTokenCount(cacheCreation?.ephemeral_1h_input_tokens);
  const cacheWriteTokens = toTokenCount(
    usage.cache_creation_input_tokens ?? toTokenCount(cacheCreation?.ephemeral_5m_input_tokens) + cacheWrite1hTokens,
  );
  const inputTokens = toTokenCount(usage.input_tokens) + cacheWriteTokens + cacheReadTokens;
  const outputTokens = toTokenCount(usage.output_tokens);
  return {
    ...{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    ...(cacheRead == null ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens > 0 ? { cacheWriteTokens } : {}),
    ...(cacheWrite1hTokens > 0 ? { cacheWrite1hTokens } : {}),
  };
}
