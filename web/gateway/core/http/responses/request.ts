import { z } from '#shared/rpc/zod.ts';
import { REASONING_EFFORTS, type ResponseFormat, type ToolSpec, type Wishes } from '../../providers/provider.ts';
import { parse } from '../chat-request.ts';
import { badRequest } from '../errors.ts';

/** For parameters that name what is not there: only the value that asks for nothing. */
const not = (why: string, ...harmless: readonly (string | boolean | number)[]): z.ZodType =>
  z
    .unknown()
    .refine((value) => value == null || harmless.includes(value as never) || (Array.isArray(value) && value.length === 0), why)
    .optional();

const tool = z.strictObject({
  type: z.literal('function', 'must be "function"; built-in tools are not supported'),
  name: z.string().min(1).max(128),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
  async: not('is not supported; calls are always awaited', false),
  defer_loading: not('is not supported', false),
  allowed_callers: z.array(z.literal('direct', 'must be "direct"')).nullish(),
  output_schema: not('is not supported'),
});

const toolChoice = z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: z.literal('function'), name: z.string() })]);

const format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    name: z.string().min(1).max(64),
    schema: z.record(z.string(), z.unknown()),
    description: z.string().nullish(),
    strict: z.boolean().nullish(),
  }),
]);

const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 16, 'must have at most 16 entries');

/** What can be asked for beside; pictures that were put in are always there. */
export const INCLUDED = ['reasoning.encrypted_content', 'message.input_image.image_url'] as const;

const hint = z.string().max(1000).nullish();

/** Parameters that are honoured, and those whose harmless values are accepted. Any other is refused by its name. */
const request = z.object({
  model: z.string().min(1).max(300),
  input: z.union([z.string(), z.array(z.unknown()).min(1)], 'must be a string or an array of items'),
  instructions: z.string().nullish(),
  tools: z.array(tool).max(500).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_output_tokens: z.number().int().min(1).nullish(),
  metadata: metadata.nullish(),
  text: z.strictObject({ format: format.nullish(), verbosity: not('is not supported', 'medium') }).nullish(),
  reasoning: z
    .strictObject({
      effort: z.enum(REASONING_EFFORTS).nullish(),
      summary: not('is not supported; reasoning is returned as the model provides it', 'auto'),
      generate_summary: not('is not supported; reasoning is returned as the model provides it', 'auto'),
    })
    .nullish(),
  previous_response_id: z.string().max(200).nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: not('is not supported', false) }).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  user: hint,
  safety_identifier: hint,
  prompt_cache_key: hint,
  prompt_cache_retention: z.enum(['in_memory', '24h']).nullish(),
  prompt_cache_options: z.record(z.string(), z.unknown()).nullish(),
  service_tier: not('is not supported', 'auto', 'default'),
  background: not('is not supported; responses are created immediately', false),
  conversation: not('is not supported; use `previous_response_id`'),
  prompt: not('is not supported'),
  include: z.array(z.enum(INCLUDED)).nullish(),
  max_tool_calls: not('is not supported; there are no built-in tools'),
  top_logprobs: not('is not supported', 0),
  context_management: not('is not supported; use `truncation`'),
  moderation: not('is not supported'),
  access_programs: not('is not supported'),
  image: not('is not supported'),
});

export interface ResponseRequest {
  model: string;
  input: string | unknown[];
  instructions: string | undefined;
  previousId: string | undefined;
  store: boolean;
  stream: boolean;
  truncate: boolean;
  /** Reasoning items have what the provider wants back of them. */
  seal: boolean;
  user: string | undefined;
  tools: ToolSpec[];
  wishes: Wishes;
  cacheKey: string | undefined;
  /** What the response object says of the request. */
  echo: Record<string, unknown>;
}

/** Reads the body of `POST /v1/responses`. Throws a 400 that names the first parameter that does not fit or cannot be honoured. */
export function readRequest(body: Record<string, unknown>): ResponseRequest {
  const unknown = Object.keys(body).find((name) => !Object.hasOwn(request.shape, name) && body[name] != null);
  if (unknown !== undefined) throw badRequest(`Unknown parameter \`${unknown}\`.`, unknown);
  const given = parse(request, body);
  const choice = given.tool_choice ?? 'auto';
  const named = typeof choice === 'string' ? undefined : choice.name;
  if (named !== undefined && !given.tools?.some(({ name }) => name === named))
    throw badRequest(`\`tool_choice\` names the tool "${named}", which is not in \`tools\`.`, 'tool_choice');
  if (choice === 'required' && !given.tools?.length)
    throw badRequest('`tool_choice` requires at least one tool in `tools`.', 'tool_choice');
  const wanted = given.text?.format ?? { type: 'text' as const };
  return {
    model: given.model,
    input: given.input,
    instructions: given.instructions ?? undefined,
    previousId: given.previous_response_id ?? undefined,
    store: given.store ?? true,
    stream: given.stream ?? false,
    truncate: given.truncation === 'auto',
    seal: given.include?.includes('reasoning.encrypted_content') ?? false,
    user: given.user || undefined,
    tools: (given.tools ?? []).map(toolSpec),
    cacheKey: given.prompt_cache_key || undefined,
    wishes: defined({
      temperature: given.temperature,
      maxTokens: given.max_output_tokens,
      // Servers refuse both where there are no tools.
      toolChoice: choice === 'auto' || !given.tools?.length ? undefined : typeof choice === 'string' ? choice : { name: choice.name },
      parallelToolCalls: given.tools?.length ? given.parallel_tool_calls : undefined,
      responseFormat: formatOf(wanted),
      topP: given.top_p,
      reasoningEffort: given.reasoning?.effort,
    }),
    echo: {
      model: given.model,
      instructions: given.instructions ?? null,
      max_output_tokens: given.max_output_tokens ?? null,
      max_tool_calls: null,
      metadata: given.metadata ?? {},
      parallel_tool_calls: given.parallel_tool_calls ?? true,
      previous_response_id: given.previous_response_id ?? null,
      prompt_cache_key: given.prompt_cache_key ?? null,
      reasoning: { effort: given.reasoning?.effort ?? null, summary: null },
      safety_identifier: given.safety_identifier ?? null,
      service_tier: 'default',
      temperature: given.temperature ?? 1,
      text: { format: wanted },
      tool_choice: choice,
      tools: (given.tools ?? []).map(({ name, description, parameters, strict }) => ({
        type: 'function',
        name,
        description: description ?? null,
        parameters: parameters ?? null,
        strict: strict ?? null,
      })),
      top_logprobs: 0,
      top_p: given.top_p ?? 1,
      truncation: given.truncation ?? 'disabled',
      presence_penalty: 0,
      frequency_penalty: 0,
      background: false,
      ...(given.user ? { user: given.user } : {}),
    },
  };
}

const toolSpec = ({ name, description, parameters, strict }: z.output<typeof tool>): ToolSpec => ({
  name,
  description: description ?? '',
  schema: parameters ?? { type: 'object', properties: {} },
  ...(strict == null ? {} : { strict }),
});

function formatOf(wanted: z.output<typeof format>): ResponseFormat | undefined {
  if (wanted.type === 'text') return undefined;
  if (wanted.type === 'json_object') return { type: 'json_object' };
  const { name, schema, description, strict } = wanted;
  return { type: 'json_schema', name, schema, ...defined({ description, strict }) };
}

type Defined<T> = { [K in keyof T]?: NonNullable<T[K]> };

/** Without what is undefined or null. */
function defined<T extends Record<string, unknown>>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as Defined<T>;
}
