import type { ModelEntry } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';

/** An entry of `GET /models`; beside `id` each server has its own extras, of which these are read. */
const listed = z.object({
  id: z.string().min(1).max(300),
  name: z.string().nullish(),
  display_name: z.string().nullish(),
  context_length: z.number().nullish(),
  context_window: z.number().nullish(),
  max_model_len: z.number().nullish(),
  max_context_length: z.number().nullish(),
  meta: z.object({ n_ctx: z.number().nullish(), n_ctx_train: z.number().nullish() }).nullish(),
  top_provider: z.object({ max_completion_tokens: z.number().nullish() }).nullish(),
  supported_parameters: z.array(z.string()).nullish(),
  architecture: z.object({ input_modalities: z.array(z.string()).nullish() }).nullish(),
  pricing: z.object({ prompt: z.coerce.number().nullish(), completion: z.coerce.number().nullish() }).nullish(),
});

const list = z.object({ object: z.string().nullish(), data: z.array(z.unknown()).nullish() });

const VISION = /vision|llava|pixtral|moondream|[-_]?vl\b|[-_]vl[-_:]|gpt-4o|gpt-4\.1|gpt-[5-9]|gemma-?3|gemini|claude|llama-?4|minicpm-v/i;
const THINKING = /\br1\b|deepseek-r|\bo[1-9]\b|qwq|qwen-?3|thinking|reason|gpt-oss|gpt-[5-9]|magistral/i;

const perMillion = (perToken: number | null | undefined): number | null =>
  perToken == null || !Number.isFinite(perToken) || perToken < 0 ? null : Math.round(perToken * 1e12) / 1e6;

/**
 * Model entries from the body of `GET /models`; undefined where it is no such list. What a server does not tell of (vision, thinking) is
 * guessed from the model's name; tools are taken to work.
 */
export function readModels(provider: string, body: unknown): ModelEntry[] | undefined {
  const parsed = list.safeParse(body);
  if (!parsed.success) return undefined;
  // Ollama without a model lists `null`.
  if (!parsed.data.data) return parsed.data.object === 'list' ? [] : undefined;
  const entries = parsed.data.data.map((item) => listed.safeParse(item));
  // One odd entry must not hide the others, but a list of nothing but odd ones is not a list of models.
  const good = entries.flatMap((entry) => (entry.success ? [entry.data] : []));
  if (good.length === 0 && entries.length > 0) return undefined;
  return good.map((model) => ({
    key: `${provider}/${model.id}`,
    provider,
    model_id: model.id,
    display_name: model.display_name || model.name || model.id,
    max_tokens: model.top_provider?.max_completion_tokens ?? null,
    context_window:
      model.context_length ??
      model.context_window ??
      model.max_model_len ??
      model.max_context_length ??
      model.meta?.n_ctx ??
      model.meta?.n_ctx_train ??
      null,
    supports_tools: model.supported_parameters ? model.supported_parameters.includes('tools') : true,
    supports_vision: model.architecture?.input_modalities ? model.architecture.input_modalities.includes('image') : VISION.test(model.id),
    supports_thinking: model.supported_parameters ? model.supported_parameters.includes('reasoning') : THINKING.test(model.id),
    cost_per_1m_input: perMillion(model.pricing?.prompt),
    cost_per_1m_output: perMillion(model.pricing?.completion),
  }));
}
