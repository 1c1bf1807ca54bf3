import type { ModelEntry } from '#shared/rpc/record-schemas.ts';
import { m } from '#app/i18n/messages.ts';
import { formatMoney } from '#app/i18n/format-money.ts';
import { formatInteger } from '#app/i18n/usage-format.ts';

/** Formats a number of tokens: `128k`, `1M`; a dash if it is unknown. */
export function formatTokenCount(tokens: number | null): string {
  if (tokens === null) return '–';
  if (tokens < 1000) return formatInteger(tokens);
  // Context windows are powers of two or multiples of a thousand; both are written in thousands.
  const isPowerOfTwo = (tokens & (tokens - 1)) === 0;
  if (tokens < 1_000_000) return m.models_thousand({ number: formatInteger(Math.round(tokens / (isPowerOfTwo ? 1024 : 1000))) });
  return m.models_million({ number: formatInteger(Number((tokens / (isPowerOfTwo ? 1_048_576 : 1_000_000)).toFixed(1))) });
}

/** Formats USD per million tokens; a dash if unknown. */
export const formatPrice = (usd: number | null): string => (usd === null ? '–' : usd === 0 ? m.models_free() : formatMoney(usd));

/** Abilities of a model besides text, as tags. */
export const getAbilities = (model: ModelEntry): string[] =>
  [
    model.supports_vision && m.models_ability_vision(),
    model.supports_tools && m.models_ability_tools(),
    model.supports_thinking && m.models_ability_thinking(),
  ].filter((each) => each !== false);

const formatBoolean = (value: boolean): string => (value ? m.models_fact_yes() : m.models_fact_no());

/** Rows of a comparison of models: a label, and the value of a model. */
export const COMPARISON_FACTS: readonly (readonly [getLabel: () => string, getValue: (model: ModelEntry) => string])[] = [
  [() => m.models_fact_context(), ({ context_window }) => formatTokenCount(context_window)],
  [() => m.models_fact_answer(), ({ max_tokens }) => formatTokenCount(max_tokens)],
  [() => m.models_fact_price_in(), ({ cost_per_1m_input }) => formatPrice(cost_per_1m_input)],
  [() => m.models_fact_price_out(), ({ cost_per_1m_output }) => formatPrice(cost_per_1m_output)],
  [() => m.models_fact_price_repeated(), ({ cost_per_1m_cached_input }) => formatPrice(cost_per_1m_cached_input)],
  [() => m.models_fact_pictures(), ({ supports_vision }) => formatBoolean(supports_vision)],
  [() => m.models_fact_tools(), ({ supports_tools }) => formatBoolean(supports_tools)],
  [() => m.models_fact_thinks(), ({ supports_thinking }) => formatBoolean(supports_thinking)],
];
