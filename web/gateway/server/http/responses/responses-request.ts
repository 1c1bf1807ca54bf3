import { z } from '#shared/rpc/zod.ts';
import { REASONING_EFFORTS, type ResponseFormat, type GenerationOptions } from '../../../providers/provider.ts';
import { badRequest } from '../http-error.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { toHostedToolName } from './hosted-tools.ts';
import type { IncludedData } from './output-builder.ts';
import { ResponseTools } from './response-tools.ts';

/** For parameters whose omission would change the answer: accepts only values that request nothing. */
const unsupported = (message: string, ...allowed: readonly (string | boolean | number)[]): z.ZodType =>
  z
    .unknown()
    .refine((value) => value == null || allowed.includes(value as never), message)
    .optional();

const toolChoiceSchema = z.union([
  z.enum(['auto', 'none', 'required']),
  z.looseObject({ type: z.enum(['function', 'custom']), name: z.string() }),
  z.looseObject({ type: z.string().refine((type) => toHostedToolName(type) !== undefined), name: z.undefined().optional() }),
]);

const formatSchema = z.discriminatedUnion('type', [
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

export const metadataSchema = z
  .record(z.string().max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 16, 'must have at most 16 entries');

const SEARCH_SOURCES = 'web_search_call.action.sources';
const FILE_RESULTS = 'file_search_call.results';

/** Supported values of `include`; input images are always included. */
export const SUPPORTED_INCLUDES = ['reasoning.encrypted_content', 'message.input_image.image_url', SEARCH_SOURCES, FILE_RESULTS] as const;

const hintField = z.string().max(1000).nullish();

/** Supported parameters, and those whose omission would change the answer. All others have no effect and are reported. */
export const responseRequest = z.object({
  model: z.string().min(1).max(300),
  input: z.union([z.string(), z.array(z.unknown())], 'must be a string or an array of items').optional(),
  instructions: z.string().nullish(),
  tools: z.array(z.unknown()).max(500).nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_output_tokens: z.number().int().min(1).nullish(),
  /** Limits hosted tools. */
  max_tool_calls: z.number().int().min(1).nullish(),
  metadata: metadataSchema.nullish(),
  text: z.looseObject({ format: formatSchema.nullish(), verbosity: z.enum(['low', 'medium', 'high']).nullish() }).nullish(),
  service_tier: z.string().max(100).nullish(),
  // Reasoning is returned as the model provides it, regardless of the requested summary.
  reasoning: z.looseObject({ effort: z.enum(REASONING_EFFORTS).nullish() }).nullish(),
  previous_response_id: z.string().max(200).nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.unknown().optional(),
  client_metadata: z.unknown().optional(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  user: hintField,
  safety_identifier: hintField,
  prompt_cache_key: hintField,
  prompt_cache_retention: z.enum(['in_memory', '24h']).nullish(),
  prompt_cache_options: z.record(z.string(), z.unknown()).nullish(),
  background: z.boolean().nullish(),
  conversation: z.union([z.string().max(200), z.looseObject({ id: z.string().max(200) })]).nullish(),
  prompt: unsupported('is not supported'),
  include: z.array(z.string()).nullish(),
});

/** Values of unsupported parameters that request nothing. */
const HARMLESS_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  top_logprobs: [0],
  moderation: [false],
};

/** Reports parameters without effect. */
function reportIgnored(body: Record<string, unknown>, params: z.output<typeof responseRequest>, ignored: IgnoredFields): void {
  for (const [name, value] of Object.entries(body)) {
    const isHarmless = value == null || (Object.hasOwn(HARMLESS_VALUES, name) && HARMLESS_VALUES[name]?.includes(value));
    if (!isHarmless && !Object.hasOwn(responseRequest.shape, name)) ignored.add(name);
  }
  for (const [index, each] of (params.include ?? []).entries())
    if (!SUPPORTED_INCLUDES.some((supported) => supported === each)) ignored.add(`include[${index}]`);
}

export interface ResponseRequest {
  model: string;
  input: string | unknown[];
  instructions: string | undefined;
  previousId: string | undefined;
  /** Conversation that the answer continues and is added to. */
  conversationId: string | undefined;
  store: boolean;
  /** Created without waiting; the client polls it. */
  background: boolean;
  stream: boolean;
  truncate: boolean;
  /** Reasoning items contain the data that the provider requires back. */
  seal: boolean;
  user: string | undefined;
  tools: ResponseTools;
  /** Maximum number of calls of hosted tools. */
  maxToolCalls: number | undefined;
  include: IncludedData;
  generationOptions: GenerationOptions;
  cacheKey: string | undefined;
  /** Fields for servers with the OpenAI format, by their name there, each with its name in this API if it must be reported when ignored. */
  passed: ReadonlyMap<string, { value: unknown; name: string | undefined }>;
  /** Request parameters repeated in the response object. */
  echo: Record<string, unknown>;
}

/**
 * Reads the body of `POST /v1/responses`. Fields without effect are added to `ignored`. Throws a 400 that names the first parameter that is
 * invalid or would silently change the meaning.
 */
export function readResponseRequest(body: Record<string, unknown>, ignored: IgnoredFields): ResponseRequest {
  const params = parseHttpParams(responseRequest, body);
  reportIgnored(body, params, ignored);
  const tools = new ResponseTools(params.tools ?? [], ignored);
  const choice = params.tool_choice ?? 'auto';
  const isInTools =
    typeof choice === 'string' ||
    (choice.name === undefined ? tools.requestsHosted(toHostedToolName(choice.type)) : tools.has(choice.type, choice.name));
  const canCall = tools.specs.length > 0 || tools.requestsHosted();
  if (typeof choice !== 'string' && !isInTools)
    throw badRequest(`\`tool_choice\` names the tool "${choice.name ?? choice.type}", which is not in \`tools\`.`, 'tool_choice');
  if (choice === 'required' && !canCall) throw badRequest('`tool_choice` requires at least one tool in `tools`.', 'tool_choice');
  if (params.background && params.store === false) throw badRequest('`background` requires `store` to be true.', 'background');
  const textFormat = params.text?.format ?? { type: 'text' as const };
  const conversationId = (typeof params.conversation === 'string' ? params.conversation : params.conversation?.id) || undefined;
  if (conversationId !== undefined && params.previous_response_id)
    throw badRequest('`conversation` and `previous_response_id` can’t be used together.', 'conversation');
  const input = params.input ?? [];
  // A turn may add nothing to a conversation.
  if (input.length === 0 && typeof input !== 'string' && conversationId === undefined && !params.previous_response_id)
    throw badRequest('`input` must be a string or an array of at least one item.', 'input');
  return {
    model: params.model,
    input,
    instructions: params.instructions ?? undefined,
    previousId: params.previous_response_id ?? undefined,
    conversationId,
    store: params.store ?? true,
    background: params.background ?? false,
    stream: params.stream ?? false,
    truncate: params.truncation === 'auto',
    seal: params.include?.includes('reasoning.encrypted_content') ?? false,
    user: params.user || undefined,
    tools,
    maxToolCalls: params.max_tool_calls ?? undefined,
    include: { sources: params.include?.includes(SEARCH_SOURCES) ?? false, results: params.include?.includes(FILE_RESULTS) ?? false },
    cacheKey: params.prompt_cache_key || undefined,
    passed: toForwardedFields(params),
    generationOptions: omitNullish({
      temperature: params.temperature,
      maxTokens: params.max_output_tokens,
      // Servers reject both if there are no tools.
      toolChoice:
        choice === 'auto' || !canCall
          ? undefined
          : typeof choice === 'string'
            ? choice
            : { name: choice.name ?? toHostedToolName(choice.type) ?? choice.type },
      parallelToolCalls: canCall ? params.parallel_tool_calls : undefined,
      responseFormat: toResponseFormat(textFormat),
      topP: params.top_p,
      reasoningEffort: params.reasoning?.effort,
    }),
    echo: {
      model: params.model,
      instructions: params.instructions ?? null,
      max_output_tokens: params.max_output_tokens ?? null,
      max_tool_calls: params.max_tool_calls ?? null,
      metadata: params.metadata ?? {},
      parallel_tool_calls: params.parallel_tool_calls ?? true,
      previous_response_id: params.previous_response_id ?? null,
      prompt_cache_key: params.prompt_cache_key ?? null,
      reasoning: { effort: params.reasoning?.effort ?? null, summary: null },
      safety_identifier: params.safety_identifier ?? null,
      service_tier: 'default',
      temperature: params.temperature ?? 1,
      text: { format: textFormat, ...omitNullish({ verbosity: params.text?.verbosity }) },
      tool_choice: choice,
      tools: tools.echo,
      top_logprobs: 0,
      top_p: params.top_p ?? 1,
      truncation: params.truncation ?? 'disabled',
      presence_penalty: 0,
      frequency_penalty: 0,
      background: params.background ?? false,
      ...(conversationId === undefined ? {} : { conversation: { id: conversationId } }),
      ...(params.user ? { user: params.user } : {}),
    },
  };
}

/** Fields that other servers do not know have no effect there; hints, which do not change an answer, have no name. */
function toForwardedFields({ text, service_tier, user, safety_identifier }: z.output<typeof responseRequest>): ResponseRequest['passed'] {
  const fields: [field: string, value: unknown, name: string | undefined][] = [
    ['verbosity', text?.verbosity, text?.verbosity === 'medium' ? undefined : 'text.verbosity'],
    ['service_tier', service_tier, service_tier === 'auto' || service_tier === 'default' ? undefined : 'service_tier'],
    ['user', user || undefined, undefined],
    ['safety_identifier', safety_identifier || undefined, undefined],
  ];
  return new Map(fields.flatMap(([field, value, name]) => (value == null ? [] : [[field, { value, name }] as const])));
}

function toResponseFormat(textFormat: z.output<typeof formatSchema>): ResponseFormat | undefined {
  if (textFormat.type === 'text') return undefined;
  if (textFormat.type === 'json_object') return { type: 'json_object' };
  const { name, schema, description, strict } = textFormat;
  return { type: 'json_schema', name, schema, ...omitNullish({ description, strict }) };
}

type NonNullableFields<T> = { [K in keyof T]?: NonNullable<T[K]> };

/** Omits undefined and null values. */
function omitNullish<T extends Record<string, unknown>>(values: T): NonNullableFields<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as NonNullableFields<T>;
}

const responseQuery = z.object({
  stream: z.enum(['true', 'false']).optional(),
  starting_after: z
    .string()
    .regex(/^\d{1,9}$/, 'must be the sequence number of an event')
    .optional(),
});
/** Query parameters with no effect here: a response includes this data always, or never. */
const HARMLESS_QUERY = /^(?:include(?:\[\d*\])?|include_obfuscation)$/;

/** Query of `GET /v1/responses/{id}`: whether to stream, and after which event. */
export function readResponseQuery(params: URLSearchParams): { stream: boolean; after: number } {
  for (const name of params.keys())
    if (!(name in responseQuery.shape) && !HARMLESS_QUERY.test(name)) throw badRequest(`\`${name}\` is not supported.`, name);
  const { stream, starting_after } = parseHttpParams(responseQuery, Object.fromEntries(params));
  return { stream: stream === 'true', after: starting_after === undefined ? -1 : Number(starting_after) };
}
