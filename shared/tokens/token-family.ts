/** Tokenizer families: texts have about the same number of tokens in all models of a family. */
export const TOKEN_FAMILIES = ['o200k', 'cl100k', 'claude', 'gemini', 'llama', 'mistral', 'qwen', 'deepseek', 'other'] as const;
export type TokenFamily = (typeof TOKEN_FAMILIES)[number];

/** Families by model name, first match: a distilled model has the tokenizer of its base model. */
const MODEL_NAME_PATTERNS: readonly (readonly [RegExp, TokenFamily])[] = [
  [/gpt-?oss|gpt-4o|gpt-4\.[15]|gpt-[5-9]|chatgpt|codex|(^|\/)o[1-9](-|$)|computer-use/, 'o200k'],
  [/gpt-4|gpt-3\.5|gpt-35|text-embedding-(3|ada)/, 'cl100k'],
  [/claude/, 'claude'],
  [/gemini|gemma/, 'gemini'],
  [/llama|hermes-[34]/, 'llama'],
  [/qwen|qwq/, 'qwen'],
  [/mistral|mixtral|ministral|codestral|devstral|magistral|pixtral/, 'mistral'],
  [/deepseek/, 'deepseek'],
];
/** Providers whose models all have one tokenizer. */
const PROVIDER_FAMILIES: ReadonlyMap<string, TokenFamily> = new Map([
  ['openai', 'o200k'],
  ['anthropic', 'claude'],
  ['google', 'gemini'],
  ['mistral', 'mistral'],
  ['deepseek', 'deepseek'],
]);

/** Returns the token family of a model by its key, `<provider>/<model_id>`, or by its name alone; `other` if neither is known. */
export function getTokenFamily(model: string): TokenFamily {
  const slash = model.indexOf('/');
  const name = model.slice(slash + 1).toLowerCase();
  const family = MODEL_NAME_PATTERNS.find(([pattern]) => pattern.test(name))?.[1];
  return family ?? PROVIDER_FAMILIES.get(model.slice(0, Math.max(0, slash)).toLowerCase()) ?? 'other';
}
