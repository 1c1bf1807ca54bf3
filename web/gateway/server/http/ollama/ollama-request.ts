import { createListSchema, z } from '#shared/rpc/zod.ts';
import type { ResponseFormat, ToolSpec, GenerationOptions } from '../../../providers/provider.ts';
import { badRequest } from '../http-error.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { parseHttpParams } from '../parse-http-params.ts';

const jsonObject = z.record(z.string(), z.unknown());
const textSchema = z.string();

const optionsSchema = z.looseObject({
  temperature: z.number().min(0).nullish(),
  top_p: z.number().nullish(),
  seed: z.number().int().nullish(),
  num_predict: z.number().int().nullish(),
  stop: z.union([textSchema, z.array(textSchema)]).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
});

const baseSchema = z.looseObject({
  model: z.string().min(1).max(300),
  stream: z.boolean().nullish(),
  format: z.union([textSchema, jsonObject]).nullish(),
  options: optionsSchema.nullish(),
  think: z.union([z.boolean(), textSchema]).nullish(),
  keep_alive: z.unknown().optional(),
});

const toolCallSchema = z.looseObject({
  id: textSchema.nullish(),
  function: z.looseObject({ name: textSchema, arguments: z.union([jsonObject, textSchema]).nullish() }),
});

const ollamaMessage = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: textSchema.nullish(),
  images: z.array(textSchema).nullish(),
  tool_calls: z.array(toolCallSchema).nullish(),
  tool_name: textSchema.nullish(),
  tool_call_id: textSchema.nullish(),
  name: textSchema.nullish(),
});
export type OllamaMessage = z.output<typeof ollamaMessage>;

const toolSchema = z.looseObject({
  function: z.looseObject({ name: z.string().min(1).max(200), description: textSchema.nullish(), parameters: jsonObject.nullish() }),
});

export const chatRequest = baseSchema.extend({
  messages: createListSchema(ollamaMessage).nullish(),
  tools: createListSchema(z.looseObject({})).nullish(),
});
export const generateRequest = baseSchema.extend({
  prompt: textSchema.nullish(),
  system: textSchema.nullish(),
  suffix: textSchema.nullish(),
  images: z.array(textSchema).nullish(),
});
type BaseRequest = z.output<typeof baseSchema>;

/** Hints, which change no answer. */
const HINT_FIELDS = new Set(['keep_alive', 'truncate', 'shift']);
const KNOWN_FIELDS = new Set([...Object.keys({ ...chatRequest.shape, ...generateRequest.shape }), ...HINT_FIELDS]);
const KNOWN_OPTIONS = new Set([
  ...Object.keys(optionsSchema.shape),
  'num_ctx',
  'num_gpu',
  'num_thread',
  'num_batch',
  'use_mmap',
  'use_mlock',
]);
/** Levels of thinking; `true` means the middle one. */
const THINKING_LEVELS = ['low', 'medium', 'high'] as const;

/**
 * Reads the parameters that all models and agents support. Names of fields without effect are added to `ignored`. Throws a 400 for invalid
 * values.
 */
export function readOllamaOptions(body: BaseRequest, ignored: IgnoredFields): GenerationOptions {
  for (const [name, value] of Object.entries(body)) if (value != null && value !== false && !KNOWN_FIELDS.has(name)) ignored.add(name);
  const modelOptions = body.options ?? {};
  for (const [name, value] of Object.entries(modelOptions)) if (value != null && !KNOWN_OPTIONS.has(name)) ignored.add(`options.${name}`);
  const stop = (typeof modelOptions.stop === 'string' ? [modelOptions.stop] : (modelOptions.stop ?? [])).filter((each) => each !== '');
  return {
    // Other vendors reject values above 2.
    temperature: modelOptions.temperature == null ? undefined : Math.min(2, modelOptions.temperature),
    topP: modelOptions.top_p == null ? undefined : Math.min(1, Math.max(0, modelOptions.top_p)),
    seed: modelOptions.seed ?? undefined,
    // Negative: unlimited.
    maxTokens: modelOptions.num_predict != null && modelOptions.num_predict > 0 ? modelOptions.num_predict : undefined,
    stop: stop.length > 0 ? stop : undefined,
    presencePenalty: modelOptions.presence_penalty ?? undefined,
    frequencyPenalty: modelOptions.frequency_penalty ?? undefined,
    reasoningEffort: readEffort(body.think),
    responseFormat: readFormat(body.format),
  };
}

function readEffort(think: BaseRequest['think']): GenerationOptions['reasoningEffort'] {
  if (think == null || think === '') return undefined;
  if (think === false) return 'none';
  const effort = think === true ? 'medium' : THINKING_LEVELS.find((level) => level === think);
  if (!effort) throw badRequest('`think` must be true, false, "low", "medium" or "high".', 'think');
  return effort;
}

function readFormat(format: BaseRequest['format']): ResponseFormat | undefined {
  if (format == null || format === '') return undefined;
  if (format === 'json') return { type: 'json_object' };
  if (typeof format === 'string') throw badRequest('`format` must be "json" or a JSON Schema.', 'format');
  return { type: 'json_schema', name: 'answer', schema: format };
}

export const readOllamaTools = (tools: readonly unknown[]): ToolSpec[] =>
  tools.map((tool, index) => {
    const { name, description, parameters } = parseHttpParams(toolSchema, tool, ['tools', index]).function;
    return { name, description: description ?? '', schema: parameters ?? {} };
  });
