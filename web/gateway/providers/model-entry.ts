import type { ModelEntry, Usage } from '#shared/rpc/record-schemas.ts';
import type { ListedModel } from './provider.ts';

const VISION_MODELS =
  /vision|llava|pixtral|moondream|[-_]?vl\b|[-_]vl[-_:]|gpt-4o|gpt-4\.1|gpt-[5-9]|gemma-?3|gemini|claude|llama-?4|minicpm-v/i;
const THINKING_MODELS = /\br1\b|deepseek-r|\bo[1-9]\b|qwq|qwen-?3|thinking|reason|gpt-oss|gpt-[5-9]|magistral/i;

type ModelFacts = Pick<ListedModel, 'contextWindow' | 'maxTokens' | 'price' | 'tools' | 'vision' | 'thinking'>;

/**
 * A model as `models.list` shows it: the server's list takes precedence over `table`. Unknown vision and thinking are guessed from the
 * name; tools are assumed to work. `free`: the model runs locally.
 */
export function toModelEntry(provider: string, listed: ListedModel, table: ModelFacts | undefined, free: boolean): ModelEntry {
  const price = free ? { input: 0, output: 0, cachedInput: 0 } : (listed.price ?? table?.price);
  return {
    key: `${provider}/${listed.id}`,
    provider,
    model_id: listed.id,
    display_name: listed.name ?? listed.id,
    max_tokens: listed.maxTokens ?? table?.maxTokens ?? null,
    context_window: listed.contextWindow ?? table?.contextWindow ?? null,
    supports_tools: listed.tools ?? table?.tools ?? true,
    supports_vision: listed.vision ?? table?.vision ?? VISION_MODELS.test(listed.id),
    supports_thinking: listed.thinking ?? table?.thinking ?? THINKING_MODELS.test(listed.id),
    cost_per_1m_input: price?.input ?? null,
    cost_per_1m_output: price?.output ?? null,
    cost_per_1m_cached_input: price?.cachedInput ?? null,
    cost_per_1m_cache_write: price?.cacheWrite ?? price?.input ?? null,
  };
}

/** Price of input written to Anthropic's one-hour cache, as a multiple of plain input. */
const HOUR_WRITE_FACTOR = 2;

/** Adds the cost in USD if the usage is not estimated and the price is known. A cost reported by the provider is kept. */
export function withCost(usage: Usage, entry: ModelEntry): Usage {
  const {
    cost_per_1m_input: input,
    cost_per_1m_output: output,
    cost_per_1m_cached_input: cachedInput,
    cost_per_1m_cache_write: write,
  } = entry;
  if (usage.cost !== undefined || input === null || output === null) return usage;
  if (usage.estimated && (input > 0 || output > 0)) return usage;
  const cached = Math.min(usage.inputTokens, usage.cacheReadTokens ?? 0);
  const cacheWrites = Math.min(usage.inputTokens - cached, usage.cacheWriteTokens ?? 0);
  const hour = Math.min(cacheWrites, usage.cacheWrite1hTokens ?? 0);
  const millionths =
    (usage.inputTokens - cached - cacheWrites) * input +
    cached * (cachedInput ?? input) +
    (cacheWrites - hour) * (write ?? input) +
    hour * HOUR_WRITE_FACTOR * input +
    usage.outputTokens * output;
  return { ...usage, cost: Math.round(millionths * 1000) / 1e9 };
}
