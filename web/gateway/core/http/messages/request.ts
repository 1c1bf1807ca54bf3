import { listOf, z } from '#shared/rpc/zod.ts';
import { REASONING_EFFORTS, type ReasoningEffort, type ToolSpec, type Wishes } from '../../providers/provider.ts';
import { parse } from '../parse.ts';
import { badRequest } from '../errors.ts';
import { ThreadsUnsupported } from './errors.ts';

const record = z.record(z.string(), z.unknown());
const cacheControl = z
  .object({ ttl: z.enum(['5m', '1h']).nullish().catch(null) })
  .nullish()
  .catch(null);

/** A content block: fields of every type that Perch reads, each validated once its type is known. */
export const block = z.looseObject({ type: z.string(), cache_control: cacheControl });
export type Block = z.output<typeof block>;

const content = z.union([z.string(), z.array(block)]);

/** Fields that every request must have, including those forwarded to Anthropic unchanged. */
export const envelope = z.looseObject({
  model: z.string().min(1).max(300),
  messages: listOf(z.looseObject({ role: z.string() }), 1),
  stream: z.boolean().nullish(),
});
export type Envelope = z.output<typeof envelope>;

const tool = z.looseObject({
  type: z.string().nullish(),
  name: z.string().min(1).max(200),
  description: z.string().nullish(),
  input_schema: record.nullish(),
  strict: z.boolean().nullish(),
});

const format = z.looseObject({ type: z.literal('json_schema'), schema: record });

export const messageParams = z.looseObject({
  messages: listOf(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content }), 1),
  system: content.nullish(),
  max_tokens: z.number().int().min(1).nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop_sequences: z.array(z.string().min(1)).nullish(),
  metadata: z.looseObject({ user_id: z.string().max(1000).nullish() }).nullish(),
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.number().nullish() }).nullish(),
  output_config: z.looseObject({ effort: z.string().nullish(), format: format.nullish() }).nullish(),
  output_format: format.nullish(),
  tools: listOf(z.looseObject({ type: z.string().nullish() })).nullish(),
  tool_choice: z
    .looseObject({
      type: z.enum(['auto', 'any', 'none', 'tool']),
      name: z.string().nullish(),
      disable_parallel_tool_use: z.boolean().nullish(),
    })
    .nullish(),
});
export type Params = z.output<typeof messageParams>;

/** Fields that are read above or by the envelope, and hints, which change no answer. */
const KNOWN = new Set([...Object.keys({ ...messageParams.shape, ...envelope.shape }), 'cache_control']);

export const readEnvelope = (body: Record<string, unknown>): Envelope => parse(envelope, body);

/** A request in the form for agents and models of other vendors. */
export interface KnownParams {
  params: Params;
  tools: ToolSpec[];
  wishes: Wishes;
}

/**
 * Reads a request for agents and models of other vendors. Names of parameters without effect are added to `ignored`. Throws a 400 for
 * invalid values.
 */
export function readParams(body: Envelope, ignored: Set<string>): KnownParams {
  const read = parse(messageParams, body);
  if (body['thread'] != null) throw new ThreadsUnsupported();
  for (const [name, value] of Object.entries(body)) if (value != null && !KNOWN.has(name)) ignored.add(name);
  const tools = readTools(read.tools ?? [], ignored);
  return { params: read, tools, wishes: readWishes(read, tools, ignored) };
}

/** The client's own tools. Anthropic's server tools and tools without a schema have no counterpart elsewhere. */
function readTools(given: NonNullable<Params['tools']>, ignored: Set<string>): ToolSpec[] {
  return given.flatMap((each, index) => {
    if (each.type != null && each.type !== 'custom') {
      ignored.add(`tools[${index}](${each.type})`);
      return [];
    }
    const { name, description, input_schema: schema, strict } = parse(tool, each, ['tools', index]);
    return [{ name, description: description ?? '', schema: schema ?? {}, ...(strict ? { strict } : {}) }];
  });
}

function readWishes(read: Params, tools: readonly ToolSpec[], ignored: Set<string>): Wishes {
  const { tool_choice: choice, output_config: output, output_format } = read;
  const chosen = output?.format ?? output_format;
  for (const [name, value] of Object.entries(output ?? {}))
    if (value != null && name !== 'effort' && name !== 'format') ignored.add(`output_config.${name}`);
  return {
    temperature: read.temperature ?? undefined,
    maxTokens: read.max_tokens ?? undefined,
    topP: read.top_p ?? undefined,
    stop: read.stop_sequences?.length ? read.stop_sequences : undefined,
    toolChoice: readChoice(choice, tools),
    parallelToolCalls: choice?.disable_parallel_tool_use && tools.length > 0 ? false : undefined,
    reasoningEffort: toEffort(read.thinking, output?.effort),
    responseFormat: chosen ? { type: 'json_schema', name: 'answer', schema: chosen.schema, strict: true } : undefined,
  };
}

/** Throws a 400 for a forced choice that cannot be met, as ignoring it would change the answer. */
function readChoice(choice: Params['tool_choice'], tools: readonly ToolSpec[]): Wishes['toolChoice'] {
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
function toEffort(thinking: Params['thinking'], effort: string | null | undefined): ReasoningEffort | undefined {
  if (thinking?.type === 'disabled') return 'none';
  const named = effort === 'max' ? 'xhigh' : REASONING_EFFORTS.find((each) => each === effort);
  if (named) return named;
  if (thinking?.type === 'adaptive') return 'medium';
  const budget = thinking?.type === 'enabled' ? (thinking.budget_tokens ?? 8192) : undefined;
  if (budget === undefined) return undefined;
  return budget <= 4096 ? 'low' : budget <= 16_384 ? 'medium' : 'high';
}
