import type { ModelEntry } from '#shared/rpc/record-schemas.ts';
import { m } from '#lib/i18n/page-messages.ts';
import { formatMoney } from '#lib/i18n/format-money.ts';
import { formatInteger } from '#lib/usage/usage-format.ts';

/** Formats a number of tokens: `128k`, `1M`; a dash if it is unknown. */
export function formatTokenCount(tokens: number | null): string {
  if (tokens === null) return '–';
  if (tokens < 1000) return formatInteger(tokens);
  // Windows are powers of two, or thousands; both are called by thousands.
  const binary = (tokens & (tokens - 1)) === 0;
  if (tokens < 1_000_000) return m.models_thousand({ number: formatInteger(Math.round(tokens / (binary ? 1024 : 1000))) });
  return m.models_million({ number: formatInteger(Number((tokens / (binary ? 1_048_576 : 1_000_000)).toFixed(1))) });
}

/** USD per million tokens; a dash where unknown. */
export const formatPrice = (usd: number | null): string => (usd === null ? '–' : usd === 0 ? m.models_free() : formatMoney(usd));

/** Abilities of a model besides text, as tags. */
export const getAbilities = (model: ModelEntry): string[] =>
  [
    model.supports_vision && m.models_ability_vision(),
    model.supports_tools && m.models_ability_tools(),
    model.supports_thinking && m.models_ability_thinking(),
  ].filter((each) => each !== false);

const formatBoolean = (does: boolean): string => (does ? m.models_fact_yes() : m.models_fact_no());

/** Facts in a comparison of models: a label, and the value for each. */
export const COMPARISON_FACTS: readonly (readonly [name: () => string, of: (model: ModelEntry) => string])[] = [
  [() => m.models_fact_context(), ({ context_window }) => formatTokenCount(context_window)],
  [() => m.models_fact_answer(), ({ max_tokens }) => formatTokenCount(max_tokens)],
  [() => m.models_fact_price_in(), ({ cost_per_1m_input }) => formatPrice(cost_per_1m_input)],
  [() => m.models_fact_price_out(), ({ cost_per_1m_output }) => formatPrice(cost_per_1m_output)],
  [() => m.models_fact_price_repeated(), ({ cost_per_1m_cached_input }) => formatPrice(cost_per_1m_cached_input)],
  [() => m.models_fact_pictures(), ({ supports_vision }) => formatBoolean(supports_vision)],
  [() => m.models_fact_tools(), ({ supports_tools }) => formatBoolean(supports_tools)],
  [() => m.models_fact_thinks(), ({ supports_thinking }) => formatBoolean(supports_thinking)],
];
