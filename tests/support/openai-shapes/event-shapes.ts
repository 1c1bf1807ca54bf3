import { z } from '#shared/rpc/zod.ts';
import { annotation, outputItem, outputText, reasoningText, refusal } from './item-shapes.ts';
import { count } from './number-shapes.ts';
import { response } from './response-shapes.ts';

const responseFields = <T extends string, S extends z.infer<typeof response>['status']>(type: T, ...statuses: [S, ...S[]]) =>
  z.strictObject({ type: z.literal(type), sequence_number: count, response: response.extend({ status: z.enum(statuses) }) });
const itemFields = <T extends string>(type: T) =>
  z.strictObject({ type: z.literal(type), sequence_number: count, output_index: count, item: outputItem });
const partFields = <T extends string, S extends z.core.$ZodLooseShape>(type: T, fields: S) =>
  z.strictObject({ type: z.literal(type), sequence_number: count, item_id: z.string().min(1), output_index: count, ...fields });

const part = { content_index: count, part: z.discriminatedUnion('type', [outputText, reasoningText, refusal]) };
const textFields = { content_index: count, logprobs: z.tuple([]) };

/** An event of a stream of `POST /v1/responses`: the public API's events that Perch supports. */
export const responseEvent = z.discriminatedUnion('type', [
  responseFields('response.created', 'in_progress', 'queued'),
  responseFields('response.queued', 'queued'),
  responseFields('response.in_progress', 'in_progress'),
  responseFields('response.completed', 'completed'),
  responseFields('response.incomplete', 'incomplete', 'cancelled'),
  responseFields('response.failed', 'failed'),
  itemFields('response.output_item.added'),
  itemFields('response.output_item.done'),
  partFields('response.content_part.added', part),
  partFields('response.content_part.done', part),
  partFields('response.output_text.delta', { ...textFields, delta: z.string() }),
  partFields('response.output_text.annotation.added', { content_index: count, annotation_index: count, annotation }),
  partFields('response.output_text.done', { ...textFields, text: z.string() }),
  partFields('response.refusal.delta', { content_index: count, delta: z.string() }),
  partFields('response.refusal.done', { content_index: count, refusal: z.string() }),
  partFields('response.reasoning_text.delta', { content_index: count, delta: z.string() }),
  partFields('response.reasoning_text.done', { content_index: count, text: z.string() }),
  partFields('response.function_call_arguments.delta', { delta: z.string() }),
  partFields('response.function_call_arguments.done', { name: z.string().min(1), arguments: z.string() }),
  partFields('response.web_search_call.in_progress', {}),
  partFields('response.web_search_call.searching', {}),
  partFields('response.web_search_call.completed', {}),
  partFields('response.file_search_call.in_progress', {}),
  partFields('response.file_search_call.searching', {}),
  partFields('response.file_search_call.completed', {}),
  partFields('response.custom_tool_call_input.delta', { delta: z.string() }),
  partFields('response.custom_tool_call_input.done', { input: z.string() }),
]);
