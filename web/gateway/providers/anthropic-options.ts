import { getDeferredTools } from './anthropic-deferred-tools.ts';
import { findModel } from './model-table.ts';
import {
  toDescribedSchema,
  type ModelRequest,
  type ReasoningEffort,
  type ResponseFormat,
  type ToolSpec,
  UnsupportedOptionError,
} from './provider.ts';

type JsonObject = Record<string, unknown>;

/** Tool whose arguments are the answer, for models and schemas that the API's native formats do not support. */
export const ANSWER_TOOL = 'answer_in_json';

/** Models that support structured outputs and strict tools: from version 4.5. */
const STRUCTURED_OUTPUT_MODELS = /^claude-([a-z]+-([5-9]|\d{2,})|[a-z]+-4[-.]([5-9]|\d{2})(?!\d))/;
/** Models with adaptive thinking, controlled by effort. */
const ADAPTIVE_THINKING_MODELS = /^claude-([a-z]+-([5-9]|\d{2,})|[a-z]+-4[-.]([6-9]|\d{2})(?!\d))/;

/** Thinking budget in tokens, for models that require a number. */
const THINKING_BUDGETS = { minimal: 1024, low: 2048, medium: 8192, high: 16_384, xhigh: 32_768 } as const;
const MIN_BUDGET_TOKENS = 1024;

const rejectOption = (field: keyof ModelRequest, message: string): never => {
  throw new UnsupportedOptionError(field, message);
};

/** Throws `UnsupportedOptionError` for options that the API lacks. */
export function rejectUnsupported({ seed, presencePenalty, frequencyPenalty, temperature, ownTemperature, exact }: ModelRequest): void {
  if (seed !== undefined) rejectOption('seed', 'Anthropic does not support seeds.');
  if (presencePenalty) rejectOption('presencePenalty', 'Anthropic does not support penalties.');
  if (frequencyPenalty) rejectOption('frequencyPenalty', 'Anthropic does not support penalties.');
  if (exact && !ownTemperature && temperature !== undefined && temperature > 1)
    rejectOption('temperature', 'Anthropic supports values from 0 to 1.');
}

/** Generation options as fields of the body. `maxTokens`: the body's output limit. */
export function toOptionFields(request: ModelRequest, maxTokens: number): JsonObject {
  const { topP, stop, responseFormat } = request;
  const native = responseFormat?.type === 'json_schema' && STRUCTURED_OUTPUT_MODELS.test(request.model);
  const { effort, thinking } = toThinkingFields(request, maxTokens);
  const output = {
    ...(effort === undefined ? {} : { effort }),
    ...(native ? { format: { type: 'json_schema', schema: toDescribedSchema(responseFormat) } } : {}),
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
  if (thinking && typeof thinking === 'object' && 'type' in thinking && thinking.type !== 'disabled')
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

function toThinkingFields(
  { reasoningEffort: effort, model, messages }: ModelRequest,
  maxTokens: number,
): { effort?: string; thinking?: JsonObject } {
  if (effort === undefined) return {};
  if (effort === 'none') return findModel('anthropic', model)?.thinking === false ? {} : { thinking: { type: 'disabled' } };
  if (ADAPTIVE_THINKING_MODELS.test(model)) {
    // By default, newer models do not show their thinking.
    return { effort: effort === 'minimal' ? 'low' : effort, thinking: { type: 'adaptive', display: 'summarized' } };
  }
  if (findModel('anthropic', model)?.thinking === false) rejectOption('reasoningEffort', `${model} does not support thinking.`);
  if (maxTokens <= MIN_BUDGET_TOKENS)
    rejectOption('reasoningEffort', `Thinking requires an output limit of more than ${MIN_BUDGET_TOKENS} tokens.`);
  // A turn that began without thinking blocks, or whose blocks are not available, must end without them.
  if (isInTurnWithoutThinking(messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens: computeBudget(effort, maxTokens) } };
}

const computeBudget = (effort: Exclude<ReasoningEffort, 'none'>, maxTokens: number): number =>
  Math.max(MIN_BUDGET_TOKENS, Math.min(THINKING_BUDGETS[effort], Math.floor(maxTokens / 2)));

function isInTurnWithoutThinking(messages: ModelRequest['messages']): boolean {
  // User messages right after tool results belong to the same turn.
  const end = messages.findLastIndex(({ role }) => role !== 'user');
  if (messages[end]?.role !== 'tool') return false;
  const turn = messages.slice(messages.findLastIndex(({ role }, index) => role === 'user' && index < end) + 1, end);
  return turn.some(({ role, toolCalls, kept }) => role === 'assistant' && toolCalls?.length && !kept);
}
