import { z } from '#shared/rpc/zod.ts';
import { inputItem, outputItem } from './item-shapes.ts';
import { count, unixTime } from './number-shapes.ts';

/**
 * Fields that the public object lacks: whether it is stored, and those that Open Responses requires in addition (such as `usage: null`
 * while it streams).
 */
const extensions = { store: z.boolean(), presence_penalty: z.literal(0), frequency_penalty: z.literal(0) };

const functionTool = z.strictObject({
  type: z.literal('function'),
  name: z.string().min(1),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean().nullable(),
  description: z.string().nullish(),
});

const tool = z.discriminatedUnion('type', [
  functionTool,
  z.looseObject({ type: z.enum(['web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11']) }),
  z.looseObject({ type: z.literal('file_search'), vector_store_ids: z.array(z.string()) }),
  z.looseObject({ type: z.literal('custom'), name: z.string().min(1) }),
  z.looseObject({ type: z.literal('namespace'), name: z.string().min(1), tools: z.array(z.looseObject({ type: z.string() })) }),
]);

const format = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    name: z.string(),
    schema: z.record(z.string(), z.unknown()),
    description: z.string().optional(),
    strict: z.boolean().nullish(),
  }),
]);

const usage = z.strictObject({
  input_tokens: count,
  input_tokens_details: z.strictObject({ cached_tokens: count, cache_write_tokens: count }),
  output_tokens: count,
  output_tokens_details: z.strictObject({ reasoning_tokens: count }),
  total_tokens: count,
});

/** `POST /v1/responses`, `GET /v1/responses/{id}`. Optional fields that Perch sends are required here. */
export const response = z.strictObject({
  id: z.string().min(1),
  object: z.literal('response'),
  created_at: unixTime,
  completed_at: unixTime.nullable(),
  status: z.enum(['completed', 'failed', 'in_progress', 'cancelled', 'queued', 'incomplete']),
  error: z.strictObject({ code: z.enum(['server_error', 'rate_limit_exceeded', 'invalid_prompt']), message: z.string().min(1) }).nullable(),
  incomplete_details: z.strictObject({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
  instructions: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  model: z.string().min(1),
  output: z.array(outputItem),
  parallel_tool_calls: z.boolean(),
  temperature: z.number().nullable(),
  top_p: z.number().nullable(),
  tools: z.array(tool),
  tool_choice: z.union([
    z.enum(['none', 'auto', 'required']),
    z.strictObject({ type: z.enum(['function', 'custom']), name: z.string().min(1) }),
    z.strictObject({ type: z.enum(['web_search_preview', 'file_search']) }),
  ]),
  background: z.boolean().nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  previous_response_id: z.string().nullable(),
  conversation: z.strictObject({ id: z.string().startsWith('conv_') }).optional(),
  prompt_cache_key: z.string().nullable(),
  reasoning: z
    .strictObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullable(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullable(),
    })
    .nullable(),
  safety_identifier: z.string().nullable(),
  service_tier: z.enum(['auto', 'default', 'flex', 'scale', 'priority', 'fast']).nullable(),
  text: z.strictObject({ format, verbosity: z.enum(['low', 'medium', 'high']).nullish() }),
  top_logprobs: count.max(20).nullable(),
  truncation: z.enum(['auto', 'disabled']).nullable(),
  usage: usage.nullable(),
  user: z.string().optional(),
  ...extensions,
});

/** `DELETE /v1/responses/{id}`. */
export const deletedResponse = z.strictObject({ id: z.string().min(1), object: z.literal('response'), deleted: z.literal(true) });

/** `GET /v1/responses/{id}/input_items`. */
export const itemList = z.strictObject({
  object: z.literal('list'),
  data: z.array(inputItem),
  first_id: z.string(),
  last_id: z.string(),
  has_more: z.boolean(),
});

/** `POST /v1/responses/input_tokens`. */
export const inputTokens = z.strictObject({ object: z.literal('response.input_tokens'), input_tokens: count });

/** `POST /v1/responses/compact`. */
export const compaction = z.strictObject({
  id: z.string().startsWith('resp_'),
  object: z.literal('response.compaction'),
  created_at: count,
  output: z.array(
    z.union([inputItem, z.strictObject({ type: z.literal('compaction'), id: z.string().min(1), encrypted_content: z.string().min(1) })]),
  ),
  usage,
});
