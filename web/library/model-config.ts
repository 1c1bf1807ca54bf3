import { z } from '#shared/rpc/zod.ts';
import type { Complete } from '../gateway/knowledge/memory/summary/summarise.ts';

/** A model for summaries, at a URL of an OpenAI-compatible API. */
export interface ModelConfig {
  provider: string;
  modelId: string;
  /** Such as `http://127.0.0.1:11434/v1`. Defaults to the provider's address, if it is known. */
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
}

/** The documented spelling is accepted too. */
export type ModelConfigInput = { provider: string } & ({ modelId: string } | { model_id: string }) & {
    baseUrl?: string | undefined;
    base_url?: string | undefined;
    apiKey?: string | undefined;
    api_key?: string | undefined;
  };

const KNOWN_BASE_URLS: Record<string, string> = { openai: 'https://api.openai.com/v1', ollama: 'http://127.0.0.1:11434/v1' };
/** A summary of a long conversation takes long on a slow machine. */
const TIMEOUT_MS = 300_000;
const MAX_REASON_CHARS = 300;

const textSchema = z.string().trim().min(1);
const modelConfigSchema = z.object({
  provider: textSchema,
  modelId: textSchema.optional(),
  model_id: textSchema.optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  apiKey: z.string().optional(),
  api_key: z.string().optional(),
});
const completionSchema = z.object({ choices: z.array(z.object({ message: z.object({ content: z.string().nullable() }) })).min(1) });

/** Parses a model in either spelling. Throws an Error that names the invalid field. */
export function parseModelConfig(model: ModelConfigInput): ModelConfig {
  const read = modelConfigSchema.safeParse(model);
  const [issue] = read.error?.issues ?? [];
  if (!read.success) throw new Error(`Invalid model: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
  const { provider, model_id, modelId = model_id, base_url, baseUrl = base_url, api_key, apiKey = api_key } = read.data;
  if (modelId === undefined) throw new Error('Invalid model: model_id is required');
  return {
    provider,
    modelId,
    baseUrl: baseUrl ?? (Object.hasOwn(KNOWN_BASE_URLS, provider) ? KNOWN_BASE_URLS[provider] : undefined),
    apiKey,
  };
}

/** Returns the model named by `summary.model` (`<provider>/<model_id>`). A different provider has a different address. */
export function selectSummaryModel(model: ModelConfig | undefined, name: string | undefined): ModelConfig | undefined {
  if (name === undefined) return model;
  const at = name.indexOf('/');
  const [provider, modelId] = [name.slice(0, at), name.slice(at + 1)];
  if (at < 1 || modelId === '') throw new Error(`summary.model must be <provider>/<model_id>, not ${JSON.stringify(name)}`);
  return model?.provider === provider ? { ...model, modelId } : parseModelConfig({ provider, modelId });
}

/** Returns a function that calls a model. It rejects with an Error that names the provider if its address is unknown or it fails. */
export function createComplete({ provider, modelId, baseUrl, apiKey }: ModelConfig): Complete {
  return async (prompt, { maxTokens, signal }) => {
    if (baseUrl === undefined) throw new Error(`Unknown provider "${provider}". Set the model’s baseUrl.`);
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify({ model: modelId, messages: [{ role: 'user', content: prompt }], max_tokens: maxTokens, stream: false }),
      // The key must not be sent to another address.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new Error(`Couldn’t reach ${provider} at ${baseUrl}`, { cause: error });
    });
    const body = await response.text();
    if (!response.ok) throw new Error(`${provider} failed (HTTP ${response.status}): ${body.slice(0, MAX_REASON_CHARS)}`);
    const read = completionSchema.safeParse(parseJsonSafely(body));
    if (!read.success) throw new Error(`${provider} sent an invalid response`);
    return read.data.choices[0]?.message.content ?? '';
  };
}

function parseJsonSafely(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
