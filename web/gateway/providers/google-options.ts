import { findModel } from './model-table.ts';
import {
  isOwnOption,
  toDescribedSchema,
  type ModelRequest,
  type ReasoningEffort,
  UnsupportedOptionError,
  withoutOwnFormatIfTools,
} from './provider.ts';

type JsonObject = Record<string, unknown>;

/** Models whose thinking is set as a number of tokens; later ones take a level. */
const BUDGET_MODELS = /^gemini-2/;
/** Same values as Google's own mapping of efforts. */
const THINKING_BUDGETS: Partial<Record<ReasoningEffort, number>> = { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576 };
/** Models that cannot turn off thinking, and their minimum budget in tokens. */
const MIN_THINKING_BUDGET_MODELS = /^gemini-2\.5-pro/;
const MIN_THINKING_BUDGET = 128;

/** Generation options as the API's `generationConfig`. Throws `UnsupportedOptionError`. */
export function toGenerationConfig(modelRequest: ModelRequest): JsonObject {
  const request = withoutOwnFormatIfTools(modelRequest);
  const { responseFormat: format, stop } = request;
  const fields = {
    temperature: request.temperature,
    maxOutputTokens: request.maxTokens,
    topP: request.topP,
    stopSequences: stop?.length ? stop : undefined,
    seed: request.seed,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    responseMimeType: format ? 'application/json' : undefined,
    responseJsonSchema: format?.type === 'json_schema' ? toDescribedSchema(format) : undefined,
    thinkingConfig: toThinkingConfig(request),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Tools and tool choice as fields of the body. Throws `UnsupportedOptionError`. */
export function toToolFields({ tools = [], toolChoice, parallelToolCalls }: ModelRequest): JsonObject {
  if (tools.length === 0) return {};
  if (parallelToolCalls === false && toolChoice !== 'none')
    throw new UnsupportedOptionError('parallelToolCalls', 'Gemini does not support turning off parallel tool calls.');
  const strict = tools.some((tool) => tool.strict);
  const callingConfig = toolChoice !== undefined || strict ? toCallingConfig(toolChoice ?? 'auto', strict) : undefined;
  const functionDeclarations = tools.map(({ name, description, schema }) => ({ name, description, parametersJsonSchema: schema }));
  return { tools: [{ functionDeclarations }], ...(callingConfig ? { toolConfig: { functionCallingConfig: callingConfig } } : {}) };
}

/** Forced calls always follow their schema. */
function toCallingConfig(choice: NonNullable<ModelRequest['toolChoice']>, strict: boolean): JsonObject {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  if (choice === 'auto') return { mode: strict ? 'VALIDATED' : 'AUTO' };
  return { mode: choice === 'required' ? 'ANY' : 'NONE' };
}

function toThinkingConfig(request: ModelRequest): JsonObject | undefined {
  const { model, reasoningEffort: effort } = request;
  if (effort === undefined) return undefined;
  const id = model.replace(/^models\//, '');
  if (isOwnOption(request, 'reasoningEffort')) return toNearestThinkingConfig(id, effort);
  if (findModel('google', id)?.thinking === false) {
    if (effort === 'none') return undefined;
    throw new UnsupportedOptionError('reasoningEffort', `${id} does not support thinking.`);
  }
  if (effort === 'xhigh' || effort === 'max')
    throw new UnsupportedOptionError('reasoningEffort', 'Gemini supports none, minimal, low, medium and high.');
  if (BUDGET_MODELS.test(id)) return { thinkingBudget: THINKING_BUDGETS[effort], includeThoughts: effort !== 'none' };
  if (effort === 'none')
    throw new UnsupportedOptionError('reasoningEffort', `${id} can’t turn off thinking. The lowest effort is minimal.`);
  return { thinkingLevel: effort, includeThoughts: true };
}

/** For an effort from settings: the nearest that the model supports. */
function toNearestThinkingConfig(id: string, requested: ReasoningEffort): JsonObject | undefined {
  if (findModel('google', id)?.thinking === false) return undefined;
  const effort = requested === 'max' || requested === 'xhigh' ? 'high' : requested;
  if (BUDGET_MODELS.test(id)) {
    const budget = effort === 'none' && MIN_THINKING_BUDGET_MODELS.test(id) ? MIN_THINKING_BUDGET : THINKING_BUDGETS[effort];
    return { thinkingBudget: budget, includeThoughts: effort !== 'none' };
  }
  if (effort !== 'none') return { thinkingLevel: effort, includeThoughts: true };
  return { thinkingLevel: /flash/.test(id) ? 'minimal' : 'low', includeThoughts: false };
}
