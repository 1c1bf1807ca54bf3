import { type ModelParameters, readModelParameters } from '#shared/rpc/model-parameters.ts';
import type { ProjectRecord } from '../../storage/records/project-record.ts';
import type { GenerationOptions, ReasoningEffort } from '../../providers/provider.ts';

/** Parameters of a call, session, job or channel, project, and agent. Undefined values are inherited. */
export type ParameterLayer = { [Name in keyof ModelParameters]?: ModelParameters[Name] | undefined } | null | undefined;

/** Merges parameters: earlier layers take precedence. Instructions of all layers apply, those of the last layer first. */
export function mergeParameters(...layers: readonly ParameterLayer[]): ModelParameters {
  const entries = layers.toReversed().flatMap((layer) => Object.entries(layer ?? {}).filter(([, value]) => value !== undefined));
  const instructions = entries.flatMap(([name, value]) => (name === 'instructions' && value !== '' ? [value] : [])).join('\n\n');
  const { instructions: _, ...merged }: ModelParameters = Object.fromEntries(entries);
  return { ...merged, ...(instructions === '' ? {} : { instructions }) };
}

/** The parameters of a project, with its instructions; those that another build may have stored are left out. */
export const toParameterLayer = (project: Pick<ProjectRecord, 'parameters' | 'instructions'> | undefined): ParameterLayer =>
  project && { ...readModelParameters(project.parameters), instructions: project.instructions };

const EFFORTS: Readonly<Record<NonNullable<ModelParameters['thinking']>, ReasoningEffort>> = {
  off: 'none',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'max',
};

/** The parameters that providers have fields for. */
export function toGenerationOptions({ thinking, json, stop, instructions: _, ...others }: ModelParameters): GenerationOptions {
  return {
    ...others,
    ...(stop?.length ? { stop } : {}),
    ...(thinking ? { reasoningEffort: EFFORTS[thinking] } : {}),
    ...(json ? { responseFormat: { type: 'json_object' } } : {}),
  };
}

const VERBOSITY_NOTES = {
  low: 'Keep your replies short: a few sentences at most, unless more is asked for.',
  medium: '',
  high: 'Reply in detail, with explanations and examples.',
};
const JSON_NOTE = 'Reply with a single JSON object and nothing else: no text around it and no code fence.';

/**
 * The parameters as text for the system message. Verbosity and JSON mode are part of it, since most providers have no field for them, or
 * require both. A format that an API client requests takes the place of JSON mode.
 */
export function toInstructions(
  { instructions = '', verbosity = 'medium', json }: ModelParameters,
  { responseFormat }: GenerationOptions = {},
): string {
  return [instructions, VERBOSITY_NOTES[verbosity], json && !responseFormat ? JSON_NOTE : ''].filter(Boolean).join('\n\n');
}
