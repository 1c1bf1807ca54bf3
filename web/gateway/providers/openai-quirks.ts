import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import type { ReasoningField } from './chat-assembler.ts';
import { detectVendor } from '../config/sections/provider-kinds.ts';

/** How a vendor's chat completions differ from the common format. */
export interface Quirks {
  /** Field name of the output limit. */
  maxTokens?: 'max_completion_tokens';
  /** Field name of the seed. */
  seed?: 'random_seed';
  /** False: rejects `stream_options`, and always reports usage. */
  streamOptions?: false;
  /** Extra fields of every request. */
  body?: Record<string, unknown>;
  /** Converts the id of a tool call, from any provider, to an accepted format. */
  callId?: (id: string) => string;
  /** Reasoning field that must be sent back with the turn's tool calls. */
  reasoningField?: ReasoningField;
  /** Field for the key that routes a chat's requests to the same cache. */
  cacheKey?: 'prompt_cache_key' | 'session_id';
  /** Models that cache only content marked with `cache_control`. */
  cacheMarkedModels?: RegExp;
  /** Vendor of the models, by whose references the reasoning effort is sent. */
  vendor?: ProviderKind;
  /** Passes parameters to the model's chat template, which turn thinking on or off. */
  hasChatTemplates?: boolean;
  /** Models that have a parameter for the length of answers. */
  verbosityModels?: RegExp;
  /** Listed models that do not support chat. */
  hiddenModels?: RegExp;
}

const NON_CHAT_MODELS =
  /embed|whisper|tts|dall-e|image|moderation|babbage|davinci|realtime|transcribe|audio|sora|guard|ocr|voxtral|instruct-\d{4}$|computer-use/i;

/** Mistral accepts only ids of nine letters and digits. */
function toMistralCallId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(id)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(36).padStart(9, '0').slice(-9);
}

const QUIRKS: Partial<Record<ProviderKind, Quirks>> = {
  openai: {
    maxTokens: 'max_completion_tokens',
    cacheKey: 'prompt_cache_key',
    verbosityModels: /^gpt-[5-9]/,
    hiddenModels: NON_CHAT_MODELS,
  },
  openrouter: {
    body: { usage: { include: true } },
    reasoningField: 'reasoning_details',
    cacheKey: 'session_id',
    verbosityModels: /^~?openai\/gpt-[5-9]/,
    // Other models cache automatically. Gemini is excluded: it would write each longer prompt again in full.
    cacheMarkedModels: /^~?(anthropic|qwen)\//,
  },
  mistral: {
    seed: 'random_seed',
    streamOptions: false,
    callId: toMistralCallId,
    cacheKey: 'prompt_cache_key',
    hiddenModels: NON_CHAT_MODELS,
  },
  groq: { maxTokens: 'max_completion_tokens', hiddenModels: NON_CHAT_MODELS },
  deepseek: { reasoningField: 'reasoning_content' },
  xai: { maxTokens: 'max_completion_tokens', hiddenModels: NON_CHAT_MODELS },
};

const AZURE_HOST = /\.(openai|cognitiveservices|services\.ai)\.azure\.com$/;

/** Quirks of the server at a URL: OpenAI's and Azure's accept a cache key, whatever kind they are configured as. */
export function getQuirks(kind: ProviderKind, baseUrl: string): Quirks {
  const isAzure = kind === 'openai-compatible' && AZURE_HOST.test(URL.parse(baseUrl)?.hostname ?? '');
  const vendor = isAzure ? 'openai' : detectVendor(kind, baseUrl);
  const quirks = { ...QUIRKS[kind], vendor };
  return kind === 'openai-compatible' && vendor === 'openai' ? { ...quirks, cacheKey: 'prompt_cache_key' } : quirks;
}
