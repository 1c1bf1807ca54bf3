import type { ModelEntry } from '#shared/rpc/records.ts';
import { m } from '#lib/i18n/pages.ts';
import { money } from '#lib/i18n/money.ts';
import { number } from '#lib/usage/measures.ts';

/** Formats a number of tokens: `128k`, `1M`; a dash if it is unknown. */
export function tokenWords(tokens: number | null): string {
  if (tokens === null) return '–';
  if (tokens < 1000) return number(tokens);
  // Windows are powers of two, or thousands; both are called by thousands.
  const binary = (tokens & (tokens - 1)) === 0;
  if (tokens < 1_000_000) return m.models_thousand({ number: number(Math.round(tokens / (binary ? 1024 : 1000))) });
  return m.models_million({ number: number(Number((tokens / (binary ? 1_048_576 : 1_000_000)).toFixed(1))) });
}

/** USD per million tokens; a dash where unknown. */
export const priceWords = (usd: number | null): string => (usd === null ? '–' : usd === 0 ? m.models_free() : money(usd));

/** Abilities of a model besides text, as tags. */
export const abilities = (model: ModelEntry): string[] =>
  [
    model.supports_vision && m.models_ability_vision(),
    model.supports_tools && m.models_ability_tools(),
    model.supports_thinking && m.models_ability_thinking(),
  ].filter((each) => each !== false);

const yesOrNo = (does: boolean): string => (does ? m.models_fact_yes() : m.models_fact_no());

/** Facts in a comparison of models: a label, and the value for each. */
export const FACTS: readonly (readonly [name: () => string, of: (model: ModelEntry) => string])[] = [
  [() => m.models_fact_context(), ({ context_window }) => tokenWords(context_window)],
  [() => m.models_fact_answer(), ({ max_tokens }) => tokenWords(max_tokens)],
  [() => m.models_fact_price_in(), ({ cost_per_1m_input }) => priceWords(cost_per_1m_input)],
  [() => m.models_fact_price_out(), ({ cost_per_1m_output }) => priceWords(cost_per_1m_output)],
  [() => m.models_fact_price_repeated(), ({ cost_per_1m_cached_input }) => priceWords(cost_per_1m_cached_input)],
  [() => m.models_fact_pictures(), ({ supports_vision }) => yesOrNo(supports_vision)],
  [() => m.models_fact_tools(), ({ supports_tools }) => yesOrNo(supports_tools)],
  [() => m.models_fact_thinks(), ({ supports_thinking }) => yesOrNo(supports_thinking)],
];
