import { findModel } from './model-table.ts';
import { describedSchema, type ModelRequest, type ReasoningEffort, Unsupported } from './provider.ts';

type Body = Record<string, unknown>;

/** Models whose thinking is set as a number of tokens; later ones take a level. */
const BUDGETED = /^gemini-2/;
/** Same values as Google's own mapping of efforts. */
const BUDGET: Partial<Record<ReasoningEffort, number>> = { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576 };

/** Generation options as the API's `generationConfig`. Throws `Unsupported`. */
export function generationConfig(request: ModelRequest): Body {
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
    responseJsonSchema: format?.type === 'json_schema' ? describedSchema(format) : undefined,
    thinkingConfig: thinkingOf(request),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Tools and tool choice as fields of the body. Throws `Unsupported`. */
export function toolFields({ tools = [], toolChoice, parallelToolCalls }: ModelRequest): Body {
  if (tools.length === 0) return {};
  if (parallelToolCalls === false && toolChoice !== 'none')
    throw new Unsupported('parallelToolCalls', 'Gemini does not support turning off parallel tool calls.');
  const strict = tools.some((tool) => tool.strict);
  const calling = toolChoice !== undefined || strict ? callingOf(toolChoice ?? 'auto', strict) : undefined;
  const functionDeclarations = tools.map(({ name, description, schema }) => ({ name, description, parametersJsonSchema: schema }));
  return { tools: [{ functionDeclarations }], ...(calling ? { toolConfig: { functionCallingConfig: calling } } : {}) };
}

/** Forced calls always follow their schema. */
function callingOf(choice: NonNullable<ModelRequest['toolChoice']>, strict: boolean): Body {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  if (choice === 'auto') return { mode: strict ? 'VALIDATED' : 'AUTO' };
  return { mode: choice === 'required' ? 'ANY' : 'NONE' };
}

function thinkingOf({ model, reasoningEffort: effort }: ModelRequest): Body | undefined {
  if (effort === undefined) return undefined;
  const id = model.replace(/^models\//, '');
  if (findModel('google', id)?.thinking === false) {
    if (effort === 'none') return undefined;
    throw new Unsupported('reasoningEffort', `${id} does not support thinking.`);
  }
  if (effort === 'xhigh') throw new Unsupported('reasoningEffort', 'Gemini supports none, minimal, low, medium and high.');
  if (BUDGETED.test(id)) return { thinkingBudget: BUDGET[effort], includeThoughts: effort !== 'none' };
  if (effort === 'none') throw new Unsupported('reasoningEffort', `${id} can’t turn off thinking. The lowest effort is minimal.`);
  return { thinkingLevel: effort, includeThoughts: true };
}
