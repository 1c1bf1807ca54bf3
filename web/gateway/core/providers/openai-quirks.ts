import type { ProviderKind } from '#shared/rpc/records.ts';
import type { KeptField } from './chat-assembler.ts';
import { vendorAt } from './kinds.ts';

/** How a vendor's chat completions differ from what most servers take. */
export interface Quirks {
  /** What the limit of the answer is called. */
  maxTokens?: 'max_completion_tokens';
  /** What the seed is called. */
  seed?: 'random_seed';
  /** False: refuses `stream_options`, and gives the usage without being asked. */
  streamOptions?: false;
  /** Fields of every request. */
  body?: Record<string, unknown>;
  /** The id of a tool call in the form that is accepted, whoever gave it. */
  callId?: (id: string) => string;
  /** What of a turn's thoughts is wanted back with its tool calls. */
  keeps?: KeptField;
  /** Its field for the key by which requests of a chat meet the same cache. */
  cacheKey?: 'prompt_cache_key' | 'session_id';
  /** Models that cache only what is marked with `cache_control`. */
  marksCache?: RegExp;
  /** Models that it lists and that do not chat. */
  hidden?: RegExp;
}

const NO_CHAT =
  /embed|whisper|tts|dall-e|image|moderation|babbage|davinci|realtime|transcribe|audio|sora|guard|ocr|voxtral|instruct-\d{4}$|computer-use/i;

/** Mistral takes nine letters and digits, and nothing else. */
function nineLetters(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(id)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(36).padStart(9, '0').slice(-9);
}

const TABLE: Partial<Record<ProviderKind, Quirks>> = {
  openai: { maxTokens: 'max_completion_tokens', cacheKey: 'prompt_cache_key', hidden: NO_CHAT },
  openrouter: {
    body: { usage: { include: true } },
    keeps: 'reasoning_details',
    cacheKey: 'session_id',
    // Others cache without marks. Gemini is left out: each longer prompt would be written again, whole.
    marksCache: /^~?(anthropic|qwen)\//,
  },
  mistral: { seed: 'random_seed', streamOptions: false, callId: nineLetters, cacheKey: 'prompt_cache_key', hidden: NO_CHAT },
  groq: { maxTokens: 'max_completion_tokens', hidden: NO_CHAT },
  deepseek: { keeps: 'reasoning_content' },
  xai: { maxTokens: 'max_completion_tokens', hidden: NO_CHAT },
};

const AZURE = /\.(openai|cognitiveservices|services\.ai)\.azure\.com$/;

/** How the server at an address differs: OpenAI's and Azure's take a cache key however they were configured. */
export function quirksAt(kind: ProviderKind, baseUrl: string): Quirks {
  const own = TABLE[kind] ?? {};
  if (kind !== 'openai-compatible') return own;
  const takesKey = vendorAt(kind, baseUrl) === 'openai' || AZURE.test(URL.parse(baseUrl)?.hostname ?? '');
  return takesKey ? { ...own, cacheKey: 'prompt_cache_key' } : own;
}
