import { envelope } from '#shared/http/envelope.ts';
import { listOf, z } from '#shared/rpc/zod.ts';
import { REASONING_EFFORTS, type ToolSpec, type Wishes } from '../providers/provider.ts';
import { badRequest } from './errors.ts';

const record = z.record(z.string(), z.unknown());
const name = z.string().min(1).max(200);

/** The parameters that every model and agent is told in words of its own. */
export const wishParams = z.looseObject({
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
    .union([z.enum(['none', 'auto', 'required']), z.strictObject({ type: z.literal('function'), function: z.strictObject({ name }) })])
    .nullish(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({ name, description: z.string().nullish(), schema: record.nullish(), strict: z.boolean().nullish() }),
      }),
    ])
    .nullish(),
  tools: listOf(
    z.strictObject({
      type: z.literal('function'),
      /** A hint. */
      cache_control: z.unknown().optional(),
      function: z.strictObject({
        name,
        description: z.string().nullish(),
        parameters: record.nullish(),
        strict: z.boolean().nullish(),
      }),
    }),
  ).nullish(),
});
type WishParams = z.output<typeof wishParams>;

export const readTools = ({ tools }: WishParams): ToolSpec[] =>
  (tools ?? []).map(({ function: { name: tool, description, parameters, strict } }) => ({
    name: tool,
    description: description ?? '',
    schema: parameters ?? {},
    ...(strict == null ? {} : { strict }),
  }));

/** Throws a 400 for a choice among tools that are not there. */
export function readWishes(params: WishParams): Wishes {
  const { tool_choice: choice, stop } = params;
  const offered = (params.tools ?? []).map((tool) => tool.function.name);
  const toolChoice = typeof choice === 'object' ? choice && { name: choice.function.name } : choice;
  if (toolChoice === 'required' && offered.length === 0)
    throw badRequest('`tool_choice` requires at least one tool in `tools`.', 'tool_choice');
  if (toolChoice && typeof toolChoice === 'object' && !offered.includes(toolChoice.name))
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
    responseFormat: formatOf(params.response_format),
  };
}

function formatOf(format: WishParams['response_format']): Wishes['responseFormat'] {
  if (format?.type === 'json_object') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return undefined;
  const { name: called, description, schema, strict } = format.json_schema;
  return {
    type: 'json_schema',
    name: called,
    schema: schema ?? {},
    ...(description == null ? {} : { description }),
    ...(strict == null ? {} : { strict }),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** Parameters that change an answer and that nobody but OpenAI's own format has, with what of them changes nothing. */
const CHANGING: Readonly<Record<string, (value: unknown) => boolean>> = {
  functions: isEmpty,
  function_call: (value) => value === 'auto' || value === 'none',
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  logit_bias: isEmpty,
  prediction: () => false,
  audio: () => false,
  modalities: (value) => Array.isArray(value) && value.every((each) => each === 'text'),
  web_search_options: () => false,
  verbosity: (value) => value === 'medium',
  moderation: () => false,
  service_tier: (value) => value === 'auto' || value === 'default',
  // Completions are not kept here.
  store: (value) => value === false,
  stream_options: (value) => !(isObject(value) && value['include_obfuscation'] === true),
};

/** Parameters that are hints: they change no answer. */
const HINTS = ['metadata', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'safety_identifier', 'user'];
const KNOWN = new Set([...Object.keys({ ...envelope.shape, ...wishParams.shape, ...CHANGING }), ...HINTS]);

/** Throws a 400 that names the first parameter which only OpenAI's own format has, or none that is known here: it would be dropped in silence. */
export function refuseForeign(body: Record<string, unknown>): void {
  const unknown = Object.keys(body).find((param) => !KNOWN.has(param) && body[param] != null);
  if (unknown !== undefined) throw badRequest(`\`${unknown}\` is not supported by this model or agent.`, unknown);
  for (const [param, harmless] of Object.entries(CHANGING)) {
    const value = body[param];
    if (value == null || harmless(value)) continue;
    throw badRequest(`\`${param}\` is not supported by this model or agent.`, param);
  }
}
