import { z } from '#shared/rpc/zod.ts';
import { type ListedModel, createListedModel } from './provider.ts';

/** An entry of `GET /models`. Servers add different fields to `id`; these are the ones read. */
const listItem = z.object({
  id: z.string().min(1).max(300),
  name: z.string().nullish(),
  display_name: z.string().nullish(),
  context_length: z.number().nullish(),
  context_window: z.number().nullish(),
  max_model_len: z.number().nullish(),
  max_context_length: z.number().nullish(),
  loaded_context_length: z.number().nullish(),
  max_completion_tokens: z.number().nullish(),
  meta: z.object({ n_ctx: z.number().nullish(), n_ctx_train: z.number().nullish() }).nullish(),
  top_provider: z.object({ max_completion_tokens: z.number().nullish() }).nullish(),
  supported_parameters: z.array(z.string()).nullish(),
  architecture: z.object({ input_modalities: z.array(z.string()).nullish() }).nullish(),
  pricing: z.looseObject({ prompt: z.unknown(), completion: z.unknown() }).nullish(),
  /** Flags (Mistral) or a list (LM Studio). */
  capabilities: z.union([z.record(z.string(), z.unknown()), z.array(z.string())]).nullish(),
  /** LM Studio: `llm`, `vlm` or `embeddings`. */
  type: z.string().nullish(),
  active: z.boolean().nullish(),
});
type ListItem = z.infer<typeof listItem>;

const listSchema = z.object({ object: z.string().nullish(), data: z.array(z.unknown()).nullish() });

/** Converts a price per token, given as text or number; a negative one means "variable". */
function toPricePerMillion(perToken: unknown): number | null {
  const value = typeof perToken === 'string' && perToken.trim() !== '' ? Number(perToken) : perToken;
  return typeof value !== 'number' || !Number.isFinite(value) || value < 0 ? null : Math.round(value * 1e12) / 1e6;
}

function toPrice({ pricing }: ListItem): ListedModel['price'] {
  const input = toPricePerMillion(pricing?.prompt);
  const output = toPricePerMillion(pricing?.completion);
  if (input === null || output === null) return null;
  return {
    input,
    output,
    cachedInput: toPricePerMillion(pricing?.['input_cache_read']),
    cacheWrite: toPricePerMillion(pricing?.['input_cache_write']),
  };
}

/** Whether the model has a capability, from the server's flags or its list of parameters; null if it has neither. */
function hasCapability({ capabilities, supported_parameters }: ListItem, flag: string, parameter?: string): boolean | null {
  if (Array.isArray(capabilities)) return capabilities.includes(flag) ? true : null;
  const value = capabilities?.[flag];
  if (typeof value === 'boolean') return value;
  return parameter !== undefined && supported_parameters ? supported_parameters.includes(parameter) : null;
}

const isChatModel = ({ capabilities, type, active }: ListItem): boolean =>
  active !== false &&
  type !== 'embeddings' &&
  (capabilities == null || Array.isArray(capabilities) || capabilities['completion_chat'] !== false);

/** Parses the body of `GET /models`; undefined if it is not a list of models. Omits models marked as not supporting chat. */
export function parseModelList(body: unknown): ListedModel[] | undefined {
  const parsed = listSchema.safeParse(body);
  if (!parsed.success) return undefined;
  // Ollama without models returns `null`.
  if (!parsed.data.data) return parsed.data.object === 'list' ? [] : undefined;
  const entries = parsed.data.data.map((item) => listItem.safeParse(item));
  // An invalid entry must not hide the others, but a list of only invalid entries is not a list of models.
  const valid = entries.flatMap((entry) => (entry.success ? [entry.data] : []));
  if (valid.length === 0 && entries.length > 0) return undefined;
  return valid.filter(isChatModel).map((model) =>
    createListedModel(model.id, {
      name: model.display_name || model.name || null,
      maxTokens: model.max_completion_tokens ?? model.top_provider?.max_completion_tokens ?? null,
      contextWindow:
        model.context_length ??
        model.context_window ??
        model.max_model_len ??
        model.loaded_context_length ??
        model.max_context_length ??
        model.meta?.n_ctx ??
        model.meta?.n_ctx_train ??
        null,
      tools: hasCapability(model, Array.isArray(model.capabilities) ? 'tool_use' : 'function_calling', 'tools'),
      vision: model.type === 'vlm' || (model.architecture?.input_modalities?.includes('image') ?? hasCapability(model, 'vision')),
      thinking: hasCapability(model, 'reasoning', 'reasoning'),
      price: toPrice(model),
    }),
  );
}
