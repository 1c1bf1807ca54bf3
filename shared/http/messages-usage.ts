import type { Usage } from '../rpc/records.ts';
import { count } from './upstream-usage.ts';

type Tokens = number | null | undefined;

/** The `usage` object of Anthropic's Messages API, as far as Perch reads it. */
export interface MessagesUsage {
  input_tokens?: Tokens;
  output_tokens?: Tokens;
  cache_read_input_tokens?: Tokens;
  cache_creation_input_tokens?: Tokens;
  cache_creation?: { ephemeral_5m_input_tokens?: Tokens; ephemeral_1h_input_tokens?: Tokens } | null | undefined;
}

/** Anthropic counts cached input apart; Perch counts it within the input. Undefined without figures. */
export function readMessagesUsage(counted: MessagesUsage): Usage | undefined {
  if (counted.input_tokens == null && counted.output_tokens == null) return undefined;
  const { cache_read_input_tokens: read, cache_creation: creation } = counted;
  const cacheReadTokens = count(read);
  const cacheWrite1hTokens = count(creation?.ephemeral_1h_input_tokens);
  const cacheWriteTokens = count(counted.cache_creation_input_tokens ?? count(creation?.ephemeral_5m_input_tokens) + cacheWrite1hTokens);
  const inputTokens = count(counted.input_tokens) + cacheWriteTokens + cacheReadTokens;
  const outputTokens = count(counted.output_tokens);
  return {
    ...{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    ...(read == null ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens > 0 ? { cacheWriteTokens } : {}),
    ...(cacheWrite1hTokens > 0 ? { cacheWrite1hTokens } : {}),
  };
}
