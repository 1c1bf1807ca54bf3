import { envelope } from '#shared/http/envelope.ts';
import { createListSchema, z } from '#shared/rpc/zod.ts';
import { REASONING_EFFORTS, type ToolSpec, type GenerationOptions } from '../../providers/provider.ts';
import { badRequest } from './http-error.ts';
import type { IgnoredFields } from './ignored-fields.ts';
import { parseHttpParams } from './parse-http-params.ts';

const jsonObject = z.record(z.string(), z.unknown());
const name = z.string().min(1).max(200);

/** Parameters that every model and agent supports in some form. */
export const optionParams = z.looseObject({
  temperature: z.number().min(0).max(2).nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).max(4)]).nullish(),
  seed: z.number().int().nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning_effort: z.enum(REASONING_EFFORTS).nullish(),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.literal('function'), function: z.looseObject({ name }) })])
    .nullish(),
  // A format with an unknown member could not be guaranteed.
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({
          name,
          description: z.string().nullish(),
          schema: jsonObject.nullish(),
          strict: z.boolean().nullish(),
        }),
      }),
    ])
    .nullish(),
  tools: createListSchema(z.looseObject({ type: z.string() })).nullish(),
});
type OptionParams = z.output<typeof optionParams>;

const functionTool = z.looseObject({
  function: z.looseObject({
    name,
    description: z.string().nullish(),
    parameters: jsonObject.nullish(),
    strict: z.boolean().nullish(),
  }),
});

/** The function tools; tools of other types are omitted and added to `ignored`. Throws a 400 for an invalid function. */
export const readFunctionTools = ({ tools }: OptionParams, ignored: IgnoredFields): ToolSpec[] =>
  (tools ?? []).flatMap((tool, index) => {
    if (tool.type !== 'function') {
      ignored.add(`tools[${index}]`);
      return [];
    }
    const { name: toolName, description, parameters, strict } = parseHttpParams(functionTool, tool, ['tools', index]).function;
    return [{ name: toolName, description: description ?? '', schema: parameters ?? {}, ...(strict == null ? {} : { strict }) }];
  });

/** Throws a 400 if the tool choice names a missing tool. */
export function readGenerationOptions(params: OptionParams, tools: readonly ToolSpec[]): GenerationOptions {
  const { tool_choice: choice, stop } = params;
  const availableNames = tools.map((tool) => tool.name);
  const toolChoice = typeof choice === 'object' ? choice && { name: choice.function.name } : choice;
  if (toolChoice === 'required' && availableNames.length === 0)
    throw badRequest('`tool_choice` requires at least one tool in `tools`.', 'tool_choice');
  if (toolChoice && typeof toolChoice === 'object' && !availableNames.includes(toolChoice.name))
    throw badRequest(`\`tool_choice\` names the tool "${toolChoice.name}", which is not in \`tools\`.`, 'tool_choice');
  const texts = typeof stop === 'string' ? [stop] : stop;
  return {
    temperature: params.temperature ?? undefined,
    maxTokens: params.max_completion_tokens ?? params.max_tokens ?? undefined,
    topP: params.top_p ?? undefined,
    stop: texts?.length ? texts : undefined,
    seed: params.seed ?? undefined,
    presencePenalty: params.presence_penalty ?? undefined,
    frequencyPenalty: params.frequency_penalty ?? undefined,
    parallelToolCalls: params.parallel_tool_calls ?? undefined,
    reasoningEffort: params.reasoning_effort ?? undefined,
    toolChoice: toolChoice ?? undefined,
    responseFormat: toResponseFormat(params.response_format),
  };
}

function toResponseFormat(format: OptionParams['response_format']): GenerationOptions['responseFormat'] {
  if (format?.type === 'json_object') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return undefined;
  const { name: toolName, description, schema, strict } = format.json_schema;
  return {
    type: 'json_schema',
    name: toolName,
    schema: schema ?? {},
    ...(description == null ? {} : { description }),
    ...(strict == null ? {} : { strict }),
  };
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/**
 * Parameters of OpenAI's own format that have no effect on agents and on models of other formats, with a test for values that request
 * nothing.
 */
const INEFFECTIVE_PARAMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  functions: isEmpty,
  function_call: (value) => value === 'auto' || value === 'none',
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  logit_bias: isEmpty,
  service_tier: (value) => value === 'auto' || value === 'default',
  verbosity: (value) => value === 'medium',
  // Completions are not stored.
  store: (value) => value === false,
};

/** Hints, which change no answer. */
const HINT_PARAMS = [
  ...['metadata', 'modalities', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'safety_identifier', 'user'],
];
const KNOWN_PARAMS = new Set([...Object.keys({ ...envelope.shape, ...optionParams.shape }), ...HINT_PARAMS]);

/**
 * Adds parameters that only OpenAI's own format has to `ignored`. Throws a 400 for those whose omission would change the kind of answer.
 */
export function ignoreOpenAiOnly(body: Record<string, unknown>, ignored: IgnoredFields): void {
  const { modalities, function_call: forcedCall } = body;
  if (modalities != null && !(Array.isArray(modalities) && modalities.every((modality) => modality === 'text')))
    throw badRequest('`modalities` may only contain "text" for this model or agent.', 'modalities');
  if (typeof forcedCall === 'object' && forcedCall !== null)
    throw badRequest('`function_call` is not supported by this model or agent. Use `tool_choice`.', 'function_call');
  for (const [param, value] of Object.entries(body)) {
    if (value == null || KNOWN_PARAMS.has(param) || (Object.hasOwn(INEFFECTIVE_PARAMS, param) && INEFFECTIVE_PARAMS[param]?.(value)))
      continue;
    ignored.add(param);
  }
}
