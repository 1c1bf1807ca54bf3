import type { ModelEntry } from '#shared/rpc/records.ts';
import { m } from '#lib/i18n/pages.ts';

export const ORDERS = [
  { id: 'provider', label: () => m.models_order_provider() },
  { id: 'context', label: () => m.models_order_context() },
  { id: 'price', label: () => m.models_order_price() },
] as const;
export type Order = (typeof ORDERS)[number]['id'];

export interface Wanted {
  /** All of them, in key, name or provider, in any case. */
  words: string;
  vision: boolean;
  tools: boolean;
  order: Order;
}

/** A question and its answer are about as long: what both cost. What is not known comes last. */
const price = (model: ModelEntry): number => (model.cost_per_1m_input ?? Infinity) + (model.cost_per_1m_output ?? Infinity);

const COMPARE: Record<Exclude<Order, 'provider'>, (a: ModelEntry, b: ModelEntry) => number> = {
  context: (a, b) => (b.context_window ?? -1) - (a.context_window ?? -1),
  price: (a, b) => (price(a) === price(b) ? 0 : price(a) - price(b)),
};

/** The models that fit, in the order asked for; `providerName` gives the name of a provider by its id. */
export function findModels(list: readonly ModelEntry[], wanted: Wanted, providerName: (id: string) => string): ModelEntry[] {
  const words = wanted.words.trim().toLowerCase().split(/\s+/);
  const found = list.filter((model) => {
    const text = `${model.key} ${model.display_name} ${providerName(model.provider)}`.toLowerCase();
    return (
      (!wanted.vision || model.supports_vision) && (!wanted.tools || model.supports_tools) && words.every((word) => text.includes(word))
    );
  });
  return wanted.order === 'provider' ? found : found.sort(COMPARE[wanted.order]);
}
