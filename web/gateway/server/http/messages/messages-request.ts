import { createListSchema, z } from '#shared/rpc/zod.ts';
import { REASONING_EFFORTS, type ReasoningEffort, type ToolSpec, type GenerationOptions } from '../../../providers/provider.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { badRequest } from '../http-error.ts';
import { UnsupportedThreadError } from './messages-error.ts';

const jsonObject = z.record(z.string(), z.unknown());
const cacheControl = z
  .object({ ttl: z.enum(['5m', '1h']).nullish().catch(null) })
  .nullish()
  .catch(null);

/** A content block: fields of every type that Perch reads, each validated once its type is known. */
export const contentBlock = z.looseObject({ type: z.string(), cache_control: cacheControl });
export type ContentBlock = z.output<typeof contentBlock>;

const content = z.union([z.string(), z.array(contentBlock)]);

/** Fields that every request must have, including those forwarded to Anthropic unchanged. */
export const envelope = z.looseObject({
  model: z.string().min(1).max(300),
  messages: createListSchema(z.looseObject({ role: z.string() }), 1),
  stream: z.boolean().nullish(),
});
export type MessagesEnvelope = z.output<typeof envelope>;

const toolSchema = z.looseObject({
  type: z.string().nullish(),
  name: z.string().min(1).max(200),
  description: z.string().nullish(),
  input_schema: jsonObject.nullish(),
  strict: z.boolean().nullish(),
});

const formatSchema = z.looseObject({ type: z.literal('json_schema'), schema: jsonObject });

export const messageParams = z.looseObject({
  messages: createListSchema(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content }), 1),
  system: content.nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop_sequences: z.array(z.string().min(1)).nullish(),
  metadata: z.looseObject({ user_id: z.string().max(1000).nullish() }).nullish(),
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.number().nullish() }).nullish(),
  output_config: z.looseObject({ effort: z.string().nullish(), format: formatSchema.nullish() }).nullish(),
  output_format: formatSchema.nullish(),
  tools: createListSchema(z.looseObject({ type: z.string().nullish() })).nullish(),
  tool_choice: z
    .looseObject({
      type: z.enum(['auto', 'any', 'none', 'tool']),
      name: z.string().nullish(),
      disable_parallel_tool_use: z.boolean().nullish(),
    })
    .nullish(),
});
export type MessageParams = z.output<typeof messageParams>;

/** Fields that are read above or by the envelope, and hints, which change no answer. */
const KNOWN_PARAMS = new Set([...Object.keys({ ...messageParams.shape, ...envelope.shape }), 'cache_control']);

export const readMessagesEnvelope = (body: Record<string, unknown>): MessagesEnvelope => parseHttpParams(envelope, body);

/** A request in the form for agents and models of other vendors. */
interface MessagesOptions {
  params: MessageParams;
  tools: ToolSpec[];
  wishes: GenerationOptions;
}

/**
 * Reads a request for agents and models of other vendors. Names of parameters without effect are added to `ignored`. Throws a 400 for
 * invalid values.
 */
export function readParams(body: MessagesEnvelope, ignored: Set<string>): MessagesOptions {
  const params = parseHttpParams(messageParams, body);
  if (body['thread'] != null) throw new UnsupportedThreadError();
  for (const [name, value] of Object.entries(body)) if (value != null && !KNOWN_PARAMS.has(name)) ignored.add(name);
  const tools = readTools(params.tools ?? [], ignored);
  return { params: params, tools, wishes: readGenerationOptions(params, tools, ignored) };
}

/** The client's own tools. Anthropic's server tools and tools without a schema have no counterpart elsewhere. */
function readTools(toolParams: NonNullable<MessageParams['tools']>, ignored: Set<string>): ToolSpec[] {
  return toolParams.flatMap((toolParam, index) => {
    if (toolParam.type != null && toolParam.type !== 'custom') {
      ignored.add(`tools[${index}](${toolParam.type})`);
      return [];
    }
    const { name, description, input_schema: schema, strict } = parseHttpParams(toolSchema, toolParam, ['tools', index]);
    return [{ name, description: description ?? '', schema: schema ?? {}, ...(strict ? { strict } : {}) }];
  });
}

function readGenerationOptions(params: MessageParams, tools: readonly ToolSpec[], ignored: Set<string>): GenerationOptions {
  const { tool_choice: choice, output_config: output, output_format } = params;
  const outputFormat = output?.format ?? output_format;
  for (const [name, value] of Object.entries(output ?? {}))
    if (value != null && name !== 'effort' && name !== 'format') ignored.add(`output_config.${name}`);
  return {
    temperature: params.temperature ?? undefined,
    maxTokens: params.max_tokens ?? undefined,
    topP: params.top_p ?? undefined,
    stop: params.stop_sequences?.length ? params.stop_sequences : undefined,
    toolChoice: readChoice(choice, tools),
    parallelToolCalls: choice?.disable_parallel_tool_use && tools.length > 0 ? false : undefined,
    reasoningEffort: toEffort(params.thinking, output?.effort),
    responseFormat: outputFormat ? { type: 'json_schema', name: 'answer', schema: outputFormat.schema, strict: true } : undefined,
  };
}

/** Throws a 400 for a forced choice that cannot be met, as ignoring it would change the answer. */
function readChoice(choice: MessageParams['tool_choice'], tools: readonly ToolSpec[]): GenerationOptions['toolChoice'] {
  if (!choice) return undefined;
  if (choice.type === 'tool') {
    if (!choice.name) throw badRequest('`tool_choice.name` is required.', 'tool_choice.name');
    if (!tools.some(({ name }) => name === choice.name))
      throw badRequest(`\`tool_choice\` names the tool "${choice.name}", which this model can’t call.`, 'tool_choice');
    return { name: choice.name };
  }
  if (choice.type === 'any') {
    if (tools.length === 0)
      throw badRequest('`tool_choice` requires at least one tool in `tools` that this model can call.', 'tool_choice');
    return 'required';
  }
  return tools.length > 0 ? choice.type : undefined;
}

/** Effort for models that do not support a token budget. */
function toEffort(thinking: MessageParams['thinking'], effort: string | null | undefined): ReasoningEffort | undefined {
  if (thinking?.type === 'disabled') return 'none';
  const knownEffort = REASONING_EFFORTS.find((each) => each === effort);
  if (knownEffort) return knownEffort;
  if (thinking?.type === 'adaptive') return 'medium';
  const budget = thinking?.type === 'enabled' ? (thinking.budget_tokens ?? 8192) : undefined;
  if (budget === undefined) return undefined;
  return budget <= 4096 ? 'low' : budget <= 16_384 ? 'medium' : 'high';
}
