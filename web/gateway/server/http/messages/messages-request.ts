import { createListSchema, z } from '#shared/rpc/zod.ts';
import { REASONING_EFFORTS, type ReasoningEffort, type ToolSpec, type GenerationOptions } from '../../../providers/provider.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { badRequest } from '../http-error.ts';
import { WEB_SEARCH_TOOL } from '../../../agent/web-search/search-result.ts';
import { WEB_SEARCH_SPEC } from '../search/hosted-web-search.ts';
import { MAX_SEARCHES, type SearchDomains } from '../search/search-options.ts';
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

/** Types of the server tool that searches the web, by version. */
const SEARCH_TYPE = /^web_search_\d{8}$/;
const domains = z.array(z.string().min(1).max(253)).max(100).nullish();
const searchTool = z.looseObject({
  type: z.string().regex(SEARCH_TYPE),
  max_uses: z.number().int().min(1).nullish(),
  allowed_domains: domains,
  blocked_domains: domains,
  user_location: z.unknown().optional(),
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

/** Limits of web searches. */
interface SearchLimits {
  domains: SearchDomains;
  maxSearches: number;
}

/** A request in the form for agents and models of other vendors. */
interface MessagesOptions {
  params: MessageParams;
  tools: ToolSpec[];
  /** Limits of web searches that the request asks for; undefined if it asks for none, or they are not available. */
  search: SearchLimits | undefined;
  wishes: GenerationOptions;
}

/** Whether searches of the web are run: by Perch, by the agent itself, or not at all. */
type SearchRunner = 'perch' | 'agent' | 'none';

/**
 * Reads a request for agents and models of other vendors. Names of parameters without effect are added to `ignored`. Throws a 400 for
 * invalid values.
 */
export function readParams(body: MessagesEnvelope, ignored: Set<string>, searchRunner: SearchRunner = 'none'): MessagesOptions {
  const params = parseHttpParams(messageParams, body);
  if (body['thread'] != null) throw new UnsupportedThreadError();
  for (const [name, value] of Object.entries(body)) if (value != null && !KNOWN_PARAMS.has(name)) ignored.add(name);
  const { tools, search } = readTools(params.tools ?? [], ignored, searchRunner);
  return { params, tools, search, wishes: readGenerationOptions(params, search ? [...tools, WEB_SEARCH_SPEC] : tools, ignored) };
}

/** Whether a request has a server tool that searches the web. */
export const requestsSearch = ({ tools }: Record<string, unknown>): boolean =>
  Array.isArray(tools) && tools.some((tool: unknown) => searchTool.safeParse(tool).success);

/**
 * The client's own tools, and the limits of web searches that Perch runs. Anthropic's other server tools and tools without a schema have
 * no counterpart elsewhere.
 */
function readTools(
  toolParams: NonNullable<MessageParams['tools']>,
  ignored: Set<string>,
  searchRunner: SearchRunner,
): Pick<MessagesOptions, 'tools' | 'search'> {
  const tools: ToolSpec[] = [];
  let search: SearchLimits | undefined;
  const isNameTaken = toolParams.some(({ type, name }) => (type == null || type === 'custom') && name === WEB_SEARCH_TOOL);
  for (const [index, toolParam] of toolParams.entries()) {
    const { type } = toolParam;
    if (type == null || type === 'custom') {
      const { name, description, input_schema: schema, strict } = parseHttpParams(toolSchema, toolParam, ['tools', index]);
      tools.push({ name, description: description ?? '', schema: schema ?? {}, ...(strict ? { strict } : {}) });
    } else if (!SEARCH_TYPE.test(type) || searchRunner === 'none' || isNameTaken || search) ignored.add(`tools[${index}](${type})`);
    else if (searchRunner === 'perch') {
      const { max_uses, allowed_domains, blocked_domains, user_location } = parseHttpParams(searchTool, toolParam, ['tools', index]);
      if (user_location != null) ignored.add(`tools[${index}].user_location`);
      const maxSearches = Math.min(max_uses ?? MAX_SEARCHES, MAX_SEARCHES);
      search = { maxSearches, domains: { allowed: allowed_domains ?? [], blocked: blocked_domains ?? [] } };
    }
  }
  return { tools, search };
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
