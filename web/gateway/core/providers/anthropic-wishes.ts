import { deferredTools } from './anthropic-deferred.ts';
import { findModel } from './model-table.ts';
import { describedSchema, type ModelRequest, type ReasoningEffort, type ResponseFormat, type ToolSpec, Unsupported } from './provider.ts';

type Body = Record<string, unknown>;

/** Tool whose arguments are the answer, for models and schemas that the API's native formats do not support. */
export const ANSWER_TOOL = 'answer_in_json';

/** Models that support structured outputs and strict tools: from version 4.5. */
const STRUCTURED = /^claude-([a-z]+-([5-9]|\d{2,})|[a-z]+-4[-.]([5-9]|\d{2})(?!\d))/;
/** Models with adaptive thinking, controlled by effort. */
const ADAPTIVE = /^claude-([a-z]+-([5-9]|\d{2,})|[a-z]+-4[-.]([6-9]|\d{2})(?!\d))/;

/** Thinking budget in tokens, for models that require a number. */
const BUDGET = { minimal: 1024, low: 2048, medium: 8192, high: 16_384, xhigh: 32_768 } as const;
const LEAST_BUDGET = 1024;

const no = (field: keyof ModelRequest, message: string): never => {
  throw new Unsupported(field, message);
};

/** Throws `Unsupported` for options that the API lacks. */
export function refuseUnsupported({ seed, presencePenalty, frequencyPenalty, temperature, ownTemperature, exact }: ModelRequest): void {
  if (seed !== undefined) no('seed', 'Anthropic does not support seeds.');
  if (presencePenalty) no('presencePenalty', 'Anthropic does not support penalties.');
  if (frequencyPenalty) no('frequencyPenalty', 'Anthropic does not support penalties.');
  if (exact && !ownTemperature && temperature !== undefined && temperature > 1) no('temperature', 'Anthropic supports values from 0 to 1.');
}

/** Generation options as fields of the body. `maxTokens`: the body's output limit. */
export function wishes(request: ModelRequest, maxTokens: number): Body {
  const { topP, stop, responseFormat } = request;
  const native = responseFormat?.type === 'json_schema' && STRUCTURED.test(request.model);
  const { effort, thinking } = thinkingOf(request, maxTokens);
  const output = {
    ...(effort === undefined ? {} : { effort }),
    ...(native ? { format: { type: 'json_schema', schema: describedSchema(responseFormat) } } : {}),
  };
  const body = {
    // 1 is the default, and newer models reject even that value.
    ...(topP === undefined || topP === 1 ? {} : { top_p: topP }),
    ...(stop?.length ? { stop_sequences: stop } : {}),
    ...(thinking ? { thinking } : {}),
    ...(Object.keys(output).length > 0 ? { output_config: output } : {}),
    ...toolFields(request),
  };
  return responseFormat && !native ? withAnswerTool(body, responseFormat) : body;
}

function toolFields(request: ModelRequest): Body {
  const { tools = [], toolChoice: choice, parallelToolCalls, model } = request;
  // The API rejects messages with tool blocks if no tools are declared.
  const spent = request.spentTools?.length ? request.spentTools : calledTools(request.messages);
  if (tools.length === 0) return spent.length > 0 ? toolFields({ ...request, tools: spent, toolChoice: 'none' }) : {};
  const strict = STRUCTURED.test(model);
  const single = parallelToolCalls === false && choice !== 'none' ? { disable_parallel_tool_use: true } : {};
  const chosen = choice ?? (parallelToolCalls === false ? 'auto' : undefined);
  return {
    tools: [
      // Deferred tools come first: the last tool may have a cache breakpoint, which is not allowed on a deferred one.
      ...deferredTools(request).map((tool) => ({ ...toTool(tool), defer_loading: true })),
      ...tools.map((tool) => ({
        ...toTool(tool),
        ...(tool.strict ? { strict: strict || no('tools', `${model} does not support strict tools.`) } : {}),
      })),
    ],
    ...(chosen === undefined ? {} : { tool_choice: { ...choiceOf(chosen), ...single } }),
  };
}

const toTool = ({ name, description, schema }: ToolSpec): Body => ({ name, description, input_schema: { type: 'object', ...schema } });

/** Tools called in the messages, of which only the names are known. */
const calledTools = (messages: ModelRequest['messages']): ToolSpec[] =>
  [...new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ tool }) => tool)))].map((name) => ({
    name,
    description: '',
    schema: {},
  }));

function choiceOf(choice: NonNullable<ModelRequest['toolChoice']>): Body {
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

/** Adds a tool that the model must call with its answer; other tools stay available if the model may call them. */
export function withAnswerTool(body: Body, format: ResponseFormat): Body {
  const { output_config: output, thinking, ...rest } = body;
  if (thinking && typeof thinking === 'object' && 'type' in thinking && thinking.type !== 'disabled')
    no('responseFormat', 'This model does not support this format while thinking. Leave out the reasoning effort.');
  const others: unknown[] = Array.isArray(rest['tools']) ? rest['tools'] : [];
  const choice = rest['tool_choice'];
  const type = typeof choice === 'object' && choice !== null && 'type' in choice ? choice.type : 'auto';
  const { format: _native, ...left } = { format: undefined, ...(typeof output === 'object' ? output : {}) };
  // The forced tool is called first; the answer gets its format once the result is there.
  if (type === 'any' || type === 'tool') return { ...rest, ...(Object.keys(left).length > 0 ? { output_config: left } : {}) };
  const free = others.length > 0 && type === 'auto';
  const schema = format.type === 'json_schema' ? format.schema : {};
  return {
    ...rest,
    ...(thinking ? { thinking } : {}),
    ...(Object.keys(left).length > 0 ? { output_config: left } : {}),
    tools: [...others, { name: ANSWER_TOOL, description: describe(format), input_schema: { ...schema, type: 'object' } }],
    tool_choice: free ? { type: 'any' } : { type: 'tool', name: ANSWER_TOOL, disable_parallel_tool_use: true },
  };
}

function describe(format: ResponseFormat): string {
  const what = format.type === 'json_schema' && format.description ? ` ${format.description}` : '';
  return `Gives the answer to the person: its arguments are the whole answer, as a JSON object.${what}`;
}

function thinkingOf({ reasoningEffort: effort, model, messages }: ModelRequest, maxTokens: number): { effort?: string; thinking?: Body } {
  if (effort === undefined) return {};
  if (effort === 'none') return findModel('anthropic', model)?.thinking === false ? {} : { thinking: { type: 'disabled' } };
  if (ADAPTIVE.test(model)) {
    // By default, newer models do not show their thinking.
    return { effort: effort === 'minimal' ? 'low' : effort, thinking: { type: 'adaptive', display: 'summarized' } };
  }
  if (findModel('anthropic', model)?.thinking === false) no('reasoningEffort', `${model} does not support thinking.`);
  if (maxTokens <= LEAST_BUDGET) no('reasoningEffort', `Thinking requires an output limit of more than ${LEAST_BUDGET} tokens.`);
  // A turn that began without thinking blocks, or whose blocks are not available, must end without them.
  if (inTurnWithoutThoughts(messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens: budgetOf(effort, maxTokens) } };
}

const budgetOf = (effort: Exclude<ReasoningEffort, 'none'>, maxTokens: number): number =>
  Math.max(LEAST_BUDGET, Math.min(BUDGET[effort], Math.floor(maxTokens / 2)));

function inTurnWithoutThoughts(messages: ModelRequest['messages']): boolean {
  // User messages right after tool results belong to the same turn.
  const end = messages.findLastIndex(({ role }) => role !== 'user');
  if (messages[end]?.role !== 'tool') return false;
  const turn = messages.slice(messages.findLastIndex(({ role }, at) => role === 'user' && at < end) + 1, end);
  return turn.some(({ role, toolCalls, kept }) => role === 'assistant' && toolCalls?.length && !kept);
}
