import type { ModelEntry } from '#shared/rpc/record-schemas.ts';
import { m } from '#app/i18n/messages.ts';

export const MODEL_ORDERS = [
  { id: 'provider', label: () => m.models_order_provider() },
  { id: 'context', label: () => m.models_order_context() },
  { id: 'price', label: () => m.models_order_price() },
] as const;
export type ModelOrder = (typeof MODEL_ORDERS)[number]['id'];

export interface ModelFilter {
  /** Words that must all occur in key, name or provider, in any case. */
  query: string;
  vision: boolean;
  tools: boolean;
  order: ModelOrder;
}

/** Combined price of input and output, as both are about as long; unknown prices sort last. */
const getCombinedPrice = (model: ModelEntry): number => (model.cost_per_1m_input ?? Infinity) + (model.cost_per_1m_output ?? Infinity);

const COMPARATORS: Record<Exclude<ModelOrder, 'provider'>, (a: ModelEntry, b: ModelEntry) => number> = {
  context: (a, b) => (b.context_window ?? -1) - (a.context_window ?? -1),
  price: (a, b) => (getCombinedPrice(a) === getCombinedPrice(b) ? 0 : getCombinedPrice(a) - getCombinedPrice(b)),
};

/** Filters and sorts models. `providerName` returns the name of a provider by its id. */
export function findModels(list: readonly ModelEntry[], filter: ModelFilter, providerName: (id: string) => string): ModelEntry[] {
  const terms = filter.query.trim().toLowerCase().split(/\s+/);
  const matches = list.filter((model) => {
    const text = `${model.key} ${model.display_name} ${providerName(model.provider)}`.toLowerCase();
    return (
      (!filter.vision || model.supports_vision) && (!filter.tools || model.supports_tools) && terms.every((word) => text.includes(word))
    );
  });
  return filter.order === 'provider' ? matches : matches.sort(COMPARATORS[filter.order]);
}
