import type { ProviderKind } from '#shared/rpc/record-schemas.ts';
import type { Quirks } from './openai-quirks.ts';
import { isOwnOption, type ModelRequest, REASONING_EFFORTS, type ReasoningEffort } from './provider.ts';

/** Efforts that models accept. The first matching row wins; without one, the model has no parameter for it. */
type EffortRows = readonly (readonly [model: RegExp, efforts: readonly ReasoningEffort[]])[];

/** From the vendors' API references, November 2026. */
const EFFORTS: Partial<Record<ProviderKind, EffortRows>> = {
  openai: [
    [/^gpt-(5\.[6-9]|[6-9])/, ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
    [/^gpt-5-pro/, ['high']],
    [/^gpt-5\.\d-pro/, ['medium', 'high', 'xhigh']],
    [/^gpt-5\.(1-codex-max|[2-5]-codex)/, ['low', 'medium', 'high', 'xhigh']],
    [/^gpt-5(\.1)?-codex/, ['low', 'medium', 'high']],
    [/^gpt-5(\.\d)?-chat/, []],
    [/^gpt-5\.[2-5]/, ['none', 'low', 'medium', 'high', 'xhigh']],
    [/^gpt-5\.1/, ['none', 'low', 'medium', 'high']],
    [/^gpt-5/, ['minimal', 'low', 'medium', 'high']],
    [/^o1-mini/, []],
    [/^o\d/, ['low', 'medium', 'high']],
    [/^gpt-[34]|^chatgpt-/, []],
    // Deployments and fine-tuned models may have any name.
    [/^/, ['low', 'medium', 'high']],
  ],
  openrouter: [[/^/, REASONING_EFFORTS]],
  mistral: [[/^mistral-(small-(2603|latest)|medium-(3[-.]5|latest))/, ['none', 'high']]],
  groq: [[/gpt-oss/, ['low', 'medium', 'high']]],
  // The server maps all efforts to those of the model.
  deepseek: [[/^/, REASONING_EFFORTS]],
  xai: [
    [/^grok-4\.6|^grok-4\.20-multi/, ['low', 'medium', 'high', 'xhigh']],
    [/^grok-4\.5/, ['low', 'medium', 'high']],
    [/^grok-(4\.3|latest)/, ['none', 'low', 'medium', 'high']],
    [/^grok-3-mini/, ['low', 'high']],
  ],
  ollama: [[/^/, ['none', 'low', 'medium', 'high']]],
  lmstudio: [[/^/, ['none', 'low', 'medium', 'high']]],
};

/** For servers that nothing is known of: the efforts that all versions of the format have. */
const COMMON_EFFORTS: readonly ReasoningEffort[] = ['low', 'medium', 'high'];

/** The nearest effort of a list, the higher of two; undefined for an empty list. */
function findNearestEffort(effort: ReasoningEffort, efforts: readonly ReasoningEffort[]): ReasoningEffort | undefined {
  const rank = REASONING_EFFORTS.indexOf(effort);
  const distance = (other: ReasoningEffort): number => Math.abs(REASONING_EFFORTS.indexOf(other) - rank);
  return efforts.toReversed().reduce<ReasoningEffort | undefined>(
    // Thinking that is asked for is never turned off.
    (best, other) => (best === undefined || (distance(other) < distance(best) && (other !== 'none' || effort === 'none')) ? other : best),
    undefined,
  );
}

/** Qwen models at Groq can only turn thinking on or off. */
const GROQ_TOGGLED_MODELS = /qwen-?3/i;

/**
 * The reasoning effort as fields of a body in the OpenAI format. An effort that an API client requests is sent unchanged if nothing is known
 * of the server or model; one from settings is then omitted or sent as the nearest common one.
 */
export function toEffortFields(request: ModelRequest, { vendor = 'openai-compatible', hasChatTemplates }: Quirks): Record<string, unknown> {
  const { model, reasoningEffort: effort } = request;
  if (effort === undefined) return {};
  if (vendor === 'groq' && GROQ_TOGGLED_MODELS.test(model)) return { reasoning_effort: effort === 'none' ? 'none' : 'default' };
  const isOwn = isOwnOption(request, 'reasoningEffort');
  if (hasChatTemplates) {
    const level = effort === 'none' ? {} : { reasoning_effort: findNearestEffort(effort, COMMON_EFFORTS) };
    return { ...level, chat_template_kwargs: { enable_thinking: effort !== 'none' } };
  }
  const rows = EFFORTS[vendor];
  if (!rows) {
    if (!isOwn) return { reasoning_effort: effort };
    return effort === 'none' ? {} : { reasoning_effort: findNearestEffort(effort, COMMON_EFFORTS) };
  }
  const efforts = rows.find(([pattern]) => pattern.test(model))?.[1] ?? [];
  const nearest = findNearestEffort(effort, efforts);
  if (nearest === undefined) return isOwn ? {} : { reasoning_effort: effort };
  if (vendor === 'openrouter') return { reasoning: { effort: nearest } };
  if (vendor !== 'deepseek') return { reasoning_effort: nearest };
  return nearest === 'none' ? { thinking: { type: 'disabled' } } : { thinking: { type: 'enabled' }, reasoning_effort: nearest };
}
