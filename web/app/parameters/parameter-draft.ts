import type { ModelParameters } from '#shared/rpc/model-parameters.ts';

/** Form values of model parameters. Empty and null values are inherited. */
export interface ParameterDraft {
  thinking: ModelParameters['thinking'] | '';
  temperature: number | null;
  topP: number | null;
  maxTokens: number | null;
  seed: number | null;
  /** One text per line. */
  stop: string;
  verbosity: ModelParameters['verbosity'] | '';
  json: '' | 'on' | 'off';
  instructions: string;
}

export function toParameterDraft(parameters: ModelParameters = {}): ParameterDraft {
  const { thinking, temperature, topP, maxTokens, seed, stop, verbosity, json, instructions } = parameters;
  return {
    thinking: thinking ?? '',
    temperature: temperature ?? null,
    topP: topP ?? null,
    maxTokens: maxTokens ?? null,
    seed: seed ?? null,
    stop: (stop ?? []).join('\n'),
    verbosity: verbosity ?? '',
    json: json === undefined ? '' : json ? 'on' : 'off',
    instructions: instructions ?? '',
  };
}

/** For a patch, which merges: the parameters that are set, with null for the others; null if all are inherited. */
export function toParameterPatch(draft: ParameterDraft): Record<string, unknown> | null {
  const parameters = toParameters(draft);
  return parameters && { ...Object.fromEntries(Object.keys(toParameterDraft()).map((name) => [name, null])), ...parameters };
}

/** The parameters that are set; null if all are inherited. */
export function toParameters(draft: ParameterDraft): ModelParameters | null {
  const stop = draft.stop.split('\n').filter((line) => line !== '');
  const all: Record<keyof ModelParameters, unknown> = {
    thinking: draft.thinking || undefined,
    temperature: draft.temperature ?? undefined,
    topP: draft.topP ?? undefined,
    maxTokens: draft.maxTokens ?? undefined,
    seed: draft.seed ?? undefined,
    stop: stop.length > 0 ? stop : undefined,
    verbosity: draft.verbosity || undefined,
    json: draft.json === '' ? undefined : draft.json === 'on',
    instructions: draft.instructions.trim() || undefined,
  };
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  return set.length > 0 ? (Object.fromEntries(set) as ModelParameters) : null;
}
