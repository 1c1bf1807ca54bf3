import { listOf, z } from '#shared/rpc/zod.ts';
import type { ResponseFormat, ToolSpec, Wishes } from '../../providers/provider.ts';
import { badRequest } from '../errors.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { parse } from '../parse.ts';

const record = z.record(z.string(), z.unknown());
const text = z.string();

const options = z.looseObject({
  temperature: z.number().min(0).nullish(),
  top_p: z.number().nullish(),
  seed: z.number().int().nullish(),
  num_predict: z.number().int().nullish(),
  stop: z.union([text, z.array(text)]).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
});

const base = z.looseObject({
  model: z.string().min(1).max(300),
  stream: z.boolean().nullish(),
  format: z.union([text, record]).nullish(),
  options: options.nullish(),
  think: z.union([z.boolean(), text]).nullish(),
  keep_alive: z.unknown().optional(),
});

const toolCall = z.looseObject({
  id: text.nullish(),
  function: z.looseObject({ name: text, arguments: z.union([record, text]).nullish() }),
});

export const message = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: text.nullish(),
  images: z.array(text).nullish(),
  tool_calls: z.array(toolCall).nullish(),
  tool_name: text.nullish(),
  tool_call_id: text.nullish(),
  name: text.nullish(),
});
export type OllamaMessage = z.output<typeof message>;

const tool = z.looseObject({
  function: z.looseObject({ name: z.string().min(1).max(200), description: text.nullish(), parameters: record.nullish() }),
});

export const chatRequest = base.extend({ messages: listOf(message).nullish(), tools: listOf(z.looseObject({})).nullish() });
export const generateRequest = base.extend({
  prompt: text.nullish(),
  system: text.nullish(),
  suffix: text.nullish(),
  images: z.array(text).nullish(),
});
type BaseRequest = z.output<typeof base>;

/** Hints, which change no answer. */
const HINTS = new Set(['keep_alive', 'truncate', 'shift']);
const KNOWN = new Set([...Object.keys({ ...chatRequest.shape, ...generateRequest.shape }), ...HINTS]);
const KNOWN_OPTIONS = new Set([...Object.keys(options.shape), 'num_ctx', 'num_gpu', 'num_thread', 'num_batch', 'use_mmap', 'use_mlock']);
/** Levels of thinking; `true` means the middle one. */
const EFFORTS = ['low', 'medium', 'high'] as const;

/**
 * Reads the parameters that all models and agents support. Names of fields without effect are added to `ignored`. Throws a 400 for invalid
 * values.
 */
export function readOllamaWishes(body: BaseRequest, ignored: IgnoredFields): Wishes {
  for (const [name, value] of Object.entries(body)) if (value != null && value !== false && !KNOWN.has(name)) ignored.add(name);
  const given = body.options ?? {};
  for (const [name, value] of Object.entries(given)) if (value != null && !KNOWN_OPTIONS.has(name)) ignored.add(`options.${name}`);
  const stop = (typeof given.stop === 'string' ? [given.stop] : (given.stop ?? [])).filter((each) => each !== '');
  return {
    // Other vendors reject values above 2.
    temperature: given.temperature == null ? undefined : Math.min(2, given.temperature),
    topP: given.top_p == null ? undefined : Math.min(1, Math.max(0, given.top_p)),
    seed: given.seed ?? undefined,
    // Negative: unlimited.
    maxTokens: given.num_predict != null && given.num_predict > 0 ? given.num_predict : undefined,
    stop: stop.length > 0 ? stop : undefined,
    presencePenalty: given.presence_penalty ?? undefined,
    frequencyPenalty: given.frequency_penalty ?? undefined,
    reasoningEffort: readEffort(body.think),
    responseFormat: readFormat(body.format),
  };
}

function readEffort(think: BaseRequest['think']): Wishes['reasoningEffort'] {
  if (think == null || think === '') return undefined;
  if (think === false) return 'none';
  const effort = think === true ? 'medium' : EFFORTS.find((each) => each === think);
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
  tools.map((each, index) => {
    const { name, description, parameters } = parse(tool, each, ['tools', index]).function;
    return { name, description: description ?? '', schema: parameters ?? {} };
  });
