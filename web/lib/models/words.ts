import type { ModelEntry } from '#shared/rpc/records.ts';
import { money, number } from '#lib/usage/measures.ts';

/** Tokens as people say them: `128k`, `1M`; a dash where nobody says. */
export function tokenWords(tokens: number | null): string {
  if (tokens === null) return '–';
  if (tokens < 1000) return number(tokens);
  // Windows are powers of two, or thousands; both are called by thousands.
  const binary = (tokens & (tokens - 1)) === 0;
  if (tokens < 1_000_000) return `${Math.round(tokens / (binary ? 1024 : 1000))}k`;
  return `${Number((tokens / (binary ? 1_048_576 : 1_000_000)).toFixed(1))}M`;
}

/** USD per million tokens; a dash where unknown. */
export const priceWords = (usd: number | null): string => (usd === null ? '–' : usd === 0 ? 'free' : money(usd));

/** What a model can do beside text, as its tags. */
export const abilities = (model: ModelEntry): string[] =>
  [model.supports_vision && 'vision', model.supports_tools && 'tools', model.supports_thinking && 'thinking'].filter(
    (each) => each !== false,
  );

/** What models are set side by side by: a name, and what is said of each. */
export const FACTS: readonly (readonly [name: string, of: (model: ModelEntry) => string])[] = [
  ['Context', ({ context_window }) => tokenWords(context_window)],
  ['Longest answer', ({ max_tokens }) => tokenWords(max_tokens)],
  ['Price in', ({ cost_per_1m_input }) => priceWords(cost_per_1m_input)],
  ['Price out', ({ cost_per_1m_output }) => priceWords(cost_per_1m_output)],
  ['Price in, repeated', ({ cost_per_1m_cached_input }) => priceWords(cost_per_1m_cached_input)],
  ['Sees pictures', ({ supports_vision }) => (supports_vision ? 'yes' : 'no')],
  ['Uses tools', ({ supports_tools }) => (supports_tools ? 'yes' : 'no')],
  ['Thinks first', ({ supports_thinking }) => (supports_thinking ? 'yes' : 'no')],
];
