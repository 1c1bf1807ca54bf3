import type { ProviderKind } from '#shared/rpc/records.ts';
import type { KeptField } from './chat-assembler.ts';

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
  openai: { maxTokens: 'max_completion_tokens', hidden: NO_CHAT },
  openrouter: { body: { usage: { include: true } }, keeps: 'reasoning_details' },
  mistral: { seed: 'random_seed', streamOptions: false, callId: nineLetters, hidden: NO_CHAT },
  groq: { maxTokens: 'max_completion_tokens', hidden: NO_CHAT },
  deepseek: { keeps: 'reasoning_content' },
  xai: { maxTokens: 'max_completion_tokens', hidden: NO_CHAT },
};

export const quirksOf = (kind: ProviderKind): Quirks => TABLE[kind] ?? {};
