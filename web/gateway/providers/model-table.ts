import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import type { ListedModel } from './provider.ts';

export { findSmallModel } from './small-model.ts';

/**
 * List prices and limits of the vendors' models, for values that their servers do not list.
 *
 * The prices are from the vendors' public price pages for pay-as-you-go use without batch or priority, as collected in the data of
 * `@pydantic/genai-prices` 0.1.8 (MIT) on this date; for prices that rise with the length of the prompt, the first step. Limits are from the
 * vendors' model pages. Missing values are unknown.
 */
export const PRICES_AS_OF = '2026-09-23';

type ModelFacts = Pick<ListedModel, 'contextWindow' | 'maxTokens' | 'price' | 'tools' | 'vision' | 'thinking'>;

/** Capabilities besides text: `t` tools, `v` vision, `r` reasoning. */
type Abilities = '' | 't' | 'tv' | 'tr' | 'tvr' | 'v' | 'r' | 'vr';
/** USD per million tokens: input, output, cached input, input written to the cache. */
type PriceRow = readonly [number, number, number?, number?] | null;
type ModelRow = readonly [
  pattern: RegExp,
  contextWindow: number | null,
  maxTokens: number | null,
  abilities: Abilities | null,
  price: PriceRow,
];

const K = 1000;
const M = 1_000_000;

/** The first matching row wins; an id may end with a date. */
const MODELS: Partial<Record<ProviderKind, readonly ModelRow[]>> = {
  anthropic: [
    [/^claude-fable-5[-.]1/, M, 128 * K, 'tvr', [10, 50, 0.25]],
    [/^claude-fable-5(-\d{8})?$/, M, 128 * K, 'tvr', [10, 50, 1]],
    [/^claude-opus-5[-.]5/, M, 128 * K, 'tvr', [4, 20, 0.2]],
    [/^claude-opus-(5(-\d{8})?$|4[-.][678])/, M, 128 * K, 'tvr', [5, 25, 0.5]],
    [/^claude-sonnet-5(-\d{8})?$/, M, 128 * K, 'tvr', [2, 10, 0.2]],
    [/^claude-(fable|opus|sonnet|haiku)-[5-9]/, M, 128 * K, 'tvr', null],
    [/^claude-sonnet-4[-.]6/, M, 64 * K, 'tvr', [3, 15, 0.3]],
    [/^claude-haiku-4[-.]5/, 200 * K, 64 * K, 'tvr', [1, 5, 0.1]],
    [/^claude-opus-4[-.]5/, 200 * K, 64 * K, 'tvr', [5, 25, 0.5]],
    [/^claude-opus-4/, 200 * K, 32 * K, 'tvr', [15, 75, 1.5]],
    [/^claude-(sonnet-4|3-7-sonnet)/, 200 * K, 64 * K, 'tvr', [3, 15, 0.3]],
    [/^claude-3-5-sonnet/, 200 * K, 8192, 'tv', [3, 15, 0.3]],
    [/^claude-3-5-haiku/, 200 * K, 8192, 'tv', [0.8, 4, 0.08]],
    [/^claude-3-opus/, 200 * K, 4096, 'tv', [15, 75, 1.5]],
    [/^claude-3-haiku/, 200 * K, 4096, 'tv', [0.25, 1.25, 0.03, 0.3]],
  ],
  openai: [
    [/^gpt-6-astra/, 1050 * K, 128 * K, 'tvr', [10, 50, 1]],
    [/^gpt-6-sol/, 1050 * K, 128 * K, 'tvr', [2, 10, 0.2]],
    [/^gpt-6-luna/, 1050 * K, 128 * K, 'tvr', [0.1, 0.5, 0.01]],
    [/^gpt-5\.6-terra/, 1050 * K, 128 * K, 'tvr', [2, 12, 0.2]],
    [/^gpt-5\.6-luna/, 1050 * K, 128 * K, 'tvr', [0.2, 1.2, 0.02]],
    [/^gpt-5\.6(-sol|$)/, 1050 * K, 128 * K, 'tvr', [4, 20, 0.4]],
    [/^gpt-5\.[45]-pro/, 1050 * K, 128 * K, 'tvr', [30, 180]],
    [/^gpt-5\.5/, M, 128 * K, 'tvr', [5, 30, 0.5]],
    [/^gpt-5\.4-mini/, 400 * K, 128 * K, 'tvr', [0.75, 4.5, 0.075]],
    [/^gpt-5\.4-nano/, 400 * K, 128 * K, 'tvr', [0.2, 1.25, 0.02]],
    [/^gpt-5\.4(-\d{4}|$)/, 1050 * K, 128 * K, 'tvr', [2.5, 15, 0.25]],
    [/^gpt-5\.3-codex/, 400 * K, 128 * K, 'tvr', [1.75, 14, 0.175]],
    [/^gpt-5\.3/, 128 * K, 16_384, 'tv', [1.75, 14, 0.175]],
    [/^gpt-5\.2-pro/, 400 * K, 128 * K, 'tvr', [21, 168]],
    [/^gpt-5\.2/, 400 * K, 128 * K, 'tvr', [1.75, 14, 0.175]],
    [/^gpt-5(\.1-codex)?-mini/, 400 * K, 128 * K, 'tvr', [0.25, 2, 0.025]],
    [/^gpt-5-nano/, 400 * K, 128 * K, 'tvr', [0.05, 0.4, 0.005]],
    [/^gpt-5-pro/, 400 * K, 272 * K, 'tvr', [15, 120]],
    [/^gpt-5-chat/, 128 * K, 16_384, 'tv', [1.25, 10, 0.125]],
    [/^gpt-5(\.1|-codex|-\d{4}|$)/, 400 * K, 128 * K, 'tvr', [1.25, 10, 0.125]],
    [/^gpt-chat-latest/, null, null, 'tv', [5, 30, 0.5]],
    [/^gpt-4\.1-nano/, 1_047_576, 32_768, 'tv', [0.1, 0.4, 0.025]],
    [/^gpt-4\.1-mini/, 1_047_576, 32_768, 'tv', [0.4, 1.6, 0.1]],
    [/^gpt-4\.1/, 1_047_576, 32_768, 'tv', [2, 8, 0.5]],
    [/^gpt-4o-mini/, 128 * K, 16_384, 'tv', [0.15, 0.6, 0.075]],
    [/^gpt-4o-2024-05-13/, 128 * K, 4096, 'tv', [5, 15]],
    [/^chatgpt-4o/, 128 * K, 16_384, 'v', [5, 15]],
    [/^gpt-4o/, 128 * K, 16_384, 'tv', [2.5, 10, 1.25]],
    [/^gpt-4-turbo/, 128 * K, 4096, 'tv', [10, 30]],
    [/^gpt-4(-\d{4}|$)/, 8192, 8192, 't', [30, 60]],
    [/^gpt-3\.5-turbo(-0125|$)/, 16_385, 4096, 't', [0.5, 1.5]],
    [/^o4-mini-deep/, 200 * K, 100 * K, 'vr', [2, 8, 0.5]],
    [/^o4-mini/, 200 * K, 100 * K, 'tvr', [1.1, 4.4, 0.275]],
    [/^o3-deep/, 200 * K, 100 * K, 'vr', [10, 40, 2.5]],
    [/^o3-pro/, 200 * K, 100 * K, 'tvr', [20, 80]],
    [/^o3-mini/, 200 * K, 100 * K, 'tr', [1.1, 4.4, 0.55]],
    [/^o3/, 200 * K, 100 * K, 'tvr', [2, 8, 0.5]],
    [/^o1-pro/, 200 * K, 100 * K, 'tvr', [150, 600]],
    [/^o1-mini/, 128 * K, 65_536, 'r', [1.1, 4.4, 0.55]],
    [/^o1/, 200 * K, 100 * K, 'tvr', [15, 60, 7.5]],
  ],
  google: [
    [/^gemini-3\.[678]-flash/, null, null, 'tvr', [1.5, 7.5, 0.15]],
    [/^gemini-3\.5-flash-lite/, null, null, 'tvr', [0.3, 2.5, 0.03]],
    [/^gemini-3\.5-flash/, null, null, 'tvr', [1.5, 9, 0.15]],
    [/^gemini-3\.1-flash-lite/, null, null, 'tvr', [0.25, 1.5, 0.025]],
    [/^gemini-3(\.1)?-pro/, null, null, 'tvr', [2, 12, 0.2]],
    [/^gemini-3-flash/, null, null, 'tvr', [0.5, 3, 0.05]],
    [/^gemini-2\.5-pro/, 1_048_576, 65_536, 'tvr', [1.25, 10, 0.125]],
    [/^gemini-2\.5-flash-lite/, 1_048_576, 65_536, 'tvr', [0.1, 0.4, 0.01]],
    [/^gemini-2\.5-flash/, 1_048_576, 65_536, 'tvr', [0.3, 2.5, 0.03]],
    [/^gemini-2\.0-flash-lite/, 1_048_576, 8192, 'tv', [0.075, 0.3]],
    [/^gemini-2\.0-flash/, 1_048_576, 8192, 'tv', [0.1, 0.4, 0.025]],
    [/^gemini-/, null, null, 'tv', null],
    [/^gemma-/, null, null, 'v', null],
  ],
  mistral: [
    [/^mistral-large-2512/, 262_144, null, null, [0.5, 1.5, 0.05]],
    [/^mistral-large/, null, null, null, [2, 6]],
    [/^mistral-medium-(3[-.]5|latest)/, 262_144, null, null, [1.5, 7.5, 0.15]],
    [/^mistral-medium/, null, null, null, [0.4, 2, 0.04]],
    [/^mistral-small-2603/, 262_144, null, null, [0.15, 0.6, 0.015]],
    [/^mistral-small/, null, null, null, [0.1, 0.3]],
    [/^magistral-medium/, null, null, null, [2, 5]],
    [/^magistral-small/, null, null, null, [0.5, 1.5]],
    [/^(codestral)/, 256 * K, null, null, [0.3, 0.9, 0.03]],
    [/^devstral-2512/, 262_144, null, null, [0.4, 2, 0.04]],
    [/^ministral-14b/, 262_144, null, null, [0.2, 0.2, 0.02]],
    [/^ministral-8b-(2512|latest)/, 262_144, null, null, [0.15, 0.15, 0.015]],
    [/^ministral-3b-2512/, 131_072, null, null, [0.1, 0.1, 0.01]],
    [/^pixtral-large/, null, null, null, [2, 6]],
    [/^(open-)?mistral-nemo/, null, null, null, [0.15, 0.15]],
  ],
  groq: [
    [/^openai\/gpt-oss-120b/, 131_072, 65_536, 'tr', [0.15, 0.6, 0.075]],
    [/^openai\/gpt-oss-20b/, 131_072, 65_536, 'tr', [0.075, 0.3, 0.0375]],
    [/^llama-3\.3-70b-versatile/, 131_072, 32_768, 't', [0.59, 0.79]],
    [/^llama-3\.1-8b-instant/, 131_072, 131_072, 't', [0.05, 0.08]],
    [/llama-4-maverick/, 131_072, 8192, 'tv', [0.2, 0.6]],
    [/llama-4-scout/, 131_072, 8192, 'tv', [0.11, 0.34]],
    [/kimi-k2/, null, null, 't', [1, 3, 0.5]],
    [/qwen3-32b/, 131_072, null, 'tr', [0.29, 0.59]],
  ],
  deepseek: [
    [/^deepseek-v4-flash/, M, null, 'tr', [0.44, 1.32, 0.014]],
    [/^deepseek-v4-pro/, M, null, 'tr', [1.32, 3.96, 0.044]],
    [/^deepseek-chat/, null, null, 't', [0.27, 1.1, 0.07]],
    [/^deepseek-reasoner/, null, null, 'tr', [0.55, 2.19, 0.14]],
  ],
  xai: [
    [/^grok-4\.6/, 500 * K, null, 'tvr', [2, 6, 0.5]],
    [/^grok-4\.5/, 500 * K, null, 'tvr', [2, 6, 0.3]],
    [/^grok-4\.20-multi/, M, null, 'tvr', [2, 6, 0.2]],
    [/^grok-4\.(20|3)/, M, null, 'tvr', [1.25, 2.5, 0.2]],
    [/^grok-4-1-fast-non|^grok-4-fast-non/, 2 * M, null, 'tv', [0.2, 0.5, 0.05]],
    [/^grok-4-1-fast|^grok-4-fast/, 2 * M, null, 'tvr', [0.2, 0.5, 0.05]],
    [/^grok-4/, 256 * K, null, 'tvr', [3, 15, 0.75]],
    [/^grok-build/, 256 * K, null, 'tr', [1, 2, 0.2]],
    [/^grok-code-fast/, 256 * K, null, 'tr', [0.2, 1.5, 0.02]],
    [/^grok-3-mini-fast/, 131_072, null, 'tr', [0.6, 4, 0.15]],
    [/^grok-3-mini/, 131_072, null, 'tr', [0.3, 0.5, 0.075]],
    [/^grok-3-fast/, 131_072, null, 't', [5, 25, 1.25]],
    [/^grok-3/, 131_072, null, 't', [3, 15, 0.75]],
  ],
};

/** Price of input written to the cache, as a multiple of plain input, by vendor and model. Other vendors charge nothing for it. */
const CACHE_WRITE_FACTORS: Partial<Record<ProviderKind, readonly [model: RegExp, factor: number]>> = {
  anthropic: [/^/, 1.25],
  openai: [/^gpt-(5\.[6-9]|[6-9])/, 1.25],
};

function toPrice(vendor: ProviderKind, id: string, [input, output, cachedInput, cacheWrite]: NonNullable<PriceRow>): ListedModel['price'] {
  const [model, factor] = CACHE_WRITE_FACTORS[vendor] ?? [];
  return {
    ...{ input, output, cachedInput: cachedInput ?? null },
    cacheWrite: cacheWrite ?? (model?.test(id) && factor ? Math.round(input * factor * 1e6) / 1e6 : null),
  };
}

/** Known data of a vendor's model; undefined if there is none. */
export function findModel(vendor: ProviderKind, id: string): ModelFacts | undefined {
  const row = MODELS[vendor]?.find(([pattern]) => pattern.test(id));
  if (!row) return undefined;
  const [, contextWindow, maxTokens, abilities, price] = row;
  const hasAbility = (ability: string): boolean | null => (abilities === null ? null : abilities.includes(ability));
  return {
    contextWindow,
    maxTokens,
    tools: hasAbility('t'),
    vision: hasAbility('v'),
    thinking: hasAbility('r'),
    price: price && toPrice(vendor, id, price),
  };
}
