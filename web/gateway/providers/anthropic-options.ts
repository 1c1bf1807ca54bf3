import { getDeferredTools } from './anthropic-deferred-tools.ts';
import { findModel } from './model-table.ts';
import {
  isOwnOption,
  toDescribedSchema,
  type ModelRequest,
  type ReasoningEffort,
  type ResponseFormat,
  type ToolSpec,
  UnsupportedOptionError,
  withoutOwnFormatIfTools,
} from './provider.ts';

type JsonObject = Record<string, unknown>;

/** Tool whose arguments are the answer, for models and schemas that the API's native formats do not support. */
export const ANSWER_TOOL = 'answer_in_json';

/** Models that support structured outputs and strict tools: from version 4.5. */
const STRUCTURED_OUTPUT_MODELS = /^claude-([a-z]+-([5-9]|\d{2,})|[a-z]+-4[-.]([5-9]|\d{2})(?!\d))/;
/** Models with adaptive thinking, controlled by effort. */
const ADAPTIVE_THINKING_MODELS = /^claude-([a-z]+-([5-9]|\d{2,})|[a-z]+-4[-.]([6-9]|\d{2})(?!\d))/;

/** Thinking budget in tokens, for models that require a number. */
const THINKING_BUDGETS = { none: 0, minimal: 1024, low: 2048, medium: 8192, high: 16_384, xhigh: 32_768, max: 65_536 } as const;
const MIN_BUDGET_TOKENS = 1024;
/** Models that cannot stop thinking. */
const ALWAYS_THINKING_MODELS = /^claude-(fable|mythos)-/;

const rejectOption = (field: keyof ModelRequest, message: string): never => {
  throw new UnsupportedOptionError(field, message);
};

/** Throws `UnsupportedOptionError` for options that the API lacks. */
export function rejectUnsupported(request: ModelRequest): void {
  const { seed, presencePenalty, frequencyPenalty, temperature, exact } = request;
  if (seed !== undefined && !isOwnOption(request, 'seed')) rejectOption('seed', 'Anthropic does not support seeds.');
  if (presencePenalty) rejectOption('presencePenalty', 'Anthropic does not support penalties.');
  if (frequencyPenalty) rejectOption('frequencyPenalty', 'Anthropic does not support penalties.');
  if (exact && !isOwnOption(request, 'temperature') && temperature !== undefined && temperature > 1)
    rejectOption('temperature', 'Anthropic supports values from 0 to 1.');
}

/**
 * The output limit of the body, at most `limit`. One from settings is meant for the answer, so thinking gets additional tokens; a caller's
 * own limit includes them.
 */
export function toOutputLimit(request: ModelRequest, limit: number): number {
  const { maxTokens = limit, reasoningEffort = 'none' } = request;
  return Math.min(limit, maxTokens + (isOwnOption(request, 'maxTokens') && maxTokens < limit ? THINKING_BUDGETS[reasoningEffort] : 0));
}

/** The request without options from settings that the API does not accept together with others: thinking excludes most of them. */
export function omitConflicting(modelRequest: ModelRequest): ModelRequest {
  const request = withoutOwnFormatIfTools(modelRequest);
  if (!isThinking(toThinkingFields(request, Infinity).thinking)) return request;
  // Options of the caller take precedence over thinking from settings.
  if (isOwnOption(request, 'reasoningEffort') && requiresNoThinking(request)) return { ...request, reasoningEffort: undefined };
  const conflicting = (['temperature', 'topP', 'responseFormat'] as const).filter((option) => isOwnOption(request, option));
  return { ...request, ...Object.fromEntries(conflicting.map((option) => [option, undefined])) };
}

function requiresNoThinking(request: ModelRequest): boolean {
  const { temperature, topP, toolChoice, responseFormat } = request;
  const isRequested = (option: 'temperature' | 'topP' | 'responseFormat'): boolean => !isOwnOption(request, option);
  return (
    (isRequested('temperature') && (temperature ?? 1) !== 1) ||
    (isRequested('topP') && (topP ?? 1) !== 1) ||
    (isRequested('responseFormat') && responseFormat !== undefined && !isNativeFormat(request)) ||
    toolChoice === 'required' ||
    typeof toolChoice === 'object'
  );
}

/** Whether the model supports the answer format without a tool. */
const isNativeFormat = ({ responseFormat, model }: ModelRequest): boolean =>
  responseFormat?.type === 'json_schema' && STRUCTURED_OUTPUT_MODELS.test(model);

const isThinking = (thinking: unknown): boolean =>
  typeof thinking === 'object' && thinking !== null && 'type' in thinking && thinking.type !== 'disabled';

/** Generation options as fields of the body. `maxTokens`: the body's output limit. */
export function toOptionFields(request: ModelRequest, maxTokens: number): JsonObject {
  const { topP, stop, responseFormat } = request;
  const native = isNativeFormat(request);
  const { effort, thinking } = toThinkingFields(request, maxTokens);
  const output = {
    ...(effort === undefined ? {} : { effort }),
    ...(native && responseFormat?.type === 'json_schema'
      ? { format: { type: 'json_schema', schema: toDescribedSchema(responseFormat) } }
      : {}),
  };
  const body = {
    // 1 is the default, and newer models reject even that value.
    ...(topP === undefined || topP === 1 ? {} : { top_p: topP }),
    ...(stop?.length ? { stop_sequences: stop } : {}),
    ...(thinking ? { thinking } : {}),
    ...(Object.keys(output).length > 0 ? { output_config: output } : {}),
    ...toToolFields(request),
  };
  return responseFormat && !native ? withAnswerTool(body, responseFormat) : body;
}

function toToolFields(request: ModelRequest): JsonObject {
  const { tools = [], toolChoice: choice, parallelToolCalls, model } = request;
  // The API rejects messages with tool blocks if no tools are declared.
  const spent = request.spentTools?.length ? request.spentTools : getCalledTools(request.messages);
  if (tools.length === 0) return spent.length > 0 ? toToolFields({ ...request, tools: spent, toolChoice: 'none' }) : {};
  const strict = STRUCTURED_OUTPUT_MODELS.test(model);
  const single = parallelToolCalls === false && choice !== 'none' ? { disable_parallel_tool_use: true } : {};
  const effectiveChoice = choice ?? (parallelToolCalls === false ? 'auto' : undefined);
  return {
    tools: [
      // Deferred tools come first: the last tool may have a cache breakpoint, which is not allowed on a deferred one.
      ...getDeferredTools(request).map((tool) => ({ ...toTool(tool), defer_loading: true })),
      ...tools.map((tool) => ({
        ...toTool(tool),
        ...(tool.strict ? { strict: strict || rejectOption('tools', `${model} does not support strict tools.`) } : {}),
      })),
    ],
    ...(effectiveChoice === undefined ? {} : { tool_choice: { ...toToolChoice(effectiveChoice), ...single } }),
  };
}

const toTool = ({ name, description, schema }: ToolSpec): JsonObject => ({
  name,
  description,
  input_schema: { type: 'object', ...schema },
});

/** Tools called in the messages, of which only the names are known. */
const getCalledTools = (messages: ModelRequest['messages']): ToolSpec[] =>
  [...new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ tool }) => tool)))].map((name) => ({
    name,
    description: '',
    schema: {},
  }));

function toToolChoice(choice: NonNullable<ModelRequest['toolChoice']>): JsonObject {
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

/** Adds a tool that the model must call with its answer; other tools stay available if the model may call them. */
export function withAnswerTool(body: JsonObject, format: ResponseFormat): JsonObject {
  const { output_config: output, thinking, ...rest } = body;
  if (isThinking(thinking))
    rejectOption('responseFormat', 'This model does not support this format while thinking. Leave out the reasoning effort.');
  const others: unknown[] = Array.isArray(rest['tools']) ? rest['tools'] : [];
  const choice = rest['tool_choice'];
  const type = typeof choice === 'object' && choice !== null && 'type' in choice ? choice.type : 'auto';
  const { format: _native, ...otherOutput } = { format: undefined, ...(typeof output === 'object' ? output : {}) };
  // The forced tool is called first; the answer gets its format once the result is there.
  if (type === 'any' || type === 'tool') return { ...rest, ...(Object.keys(otherOutput).length > 0 ? { output_config: otherOutput } : {}) };
  const isFreeChoice = others.length > 0 && type === 'auto';
  const schema = format.type === 'json_schema' ? format.schema : {};
  return {
    ...rest,
    ...(thinking ? { thinking } : {}),
    ...(Object.keys(otherOutput).length > 0 ? { output_config: otherOutput } : {}),
    tools: [...others, { name: ANSWER_TOOL, description: describeAnswerTool(format), input_schema: { ...schema, type: 'object' } }],
    tool_choice: isFreeChoice ? { type: 'any' } : { type: 'tool', name: ANSWER_TOOL, disable_parallel_tool_use: true },
  };
}

function describeAnswerTool(format: ResponseFormat): string {
  const description = format.type === 'json_schema' && format.description ? ` ${format.description}` : '';
  return `Gives the answer to the person: its arguments are the whole answer, as a JSON object.${description}`;
}

function toThinkingFields(request: ModelRequest, maxTokens: number): { effort?: string; thinking?: JsonObject } {
  const { model, messages } = request;
  const isOwn = isOwnOption(request, 'reasoningEffort');
  const effort = isOwn && request.reasoningEffort === 'none' && ALWAYS_THINKING_MODELS.test(model) ? 'low' : request.reasoningEffort;
  if (effort === undefined) return {};
  const lacksThinking = findModel('anthropic', model)?.thinking === false;
  if (effort === 'none') return lacksThinking ? {} : { thinking: { type: 'disabled' } };
  if (isOwn && (lacksThinking || maxTokens <= MIN_BUDGET_TOKENS)) return {};
  if (ADAPTIVE_THINKING_MODELS.test(model)) {
    // By default, newer models do not show their thinking.
    return { effort: effort === 'minimal' ? 'low' : effort, thinking: { type: 'adaptive', display: 'summarized' } };
  }
  if (lacksThinking) rejectOption('reasoningEffort', `${model} does not support thinking.`);
  if (maxTokens <= MIN_BUDGET_TOKENS)
    rejectOption('reasoningEffort', `Thinking requires an output limit of more than ${MIN_BUDGET_TOKENS} tokens.`);
  // A turn that began without thinking blocks, or whose blocks are not available, must end without them.
  if (isInTurnWithoutThinking(messages)) return {};
  const answerTokens = isOwnOption(request, 'maxTokens') ? (request.maxTokens ?? 0) : 0;
  return { thinking: { type: 'enabled', budget_tokens: computeBudget(effort, maxTokens, answerTokens) } };
}

/** At most half of the output limit, or what remains of it after the answer. */
const computeBudget = (effort: Exclude<ReasoningEffort, 'none'>, maxTokens: number, answerTokens: number): number =>
  Math.max(
    MIN_BUDGET_TOKENS,
    Math.min(THINKING_BUDGETS[effort], Math.max(Math.floor(maxTokens / 2), answerTokens && maxTokens - answerTokens)),
  );

function isInTurnWithoutThinking(messages: ModelRequest['messages']): boolean {
  // User messages right after tool results belong to the same turn.
  const end = messages.findLastIndex(({ role }) => role !== 'user');
  if (messages[end]?.role !== 'tool') return false;
  const turn = messages.slice(messages.findLastIndex(({ role }, index) => role === 'user' && index < end) + 1, end);
  return turn.some(({ role, toolCalls, kept }) => role === 'assistant' && toolCalls?.length && !kept);
}
