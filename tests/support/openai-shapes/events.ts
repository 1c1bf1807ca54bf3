import { z } from '#shared/rpc/zod.ts';
import { outputItem, outputText, reasoningText, refusal } from './items.ts';
import { count } from './numbers.ts';
import { response } from './responses.ts';

const ofResponse = <T extends string, S extends z.infer<typeof response>['status']>(type: T, ...statuses: [S, ...S[]]) =>
  z.strictObject({ type: z.literal(type), sequence_number: count, response: response.extend({ status: z.enum(statuses) }) });
const ofItem = <T extends string>(type: T) =>
  z.strictObject({ type: z.literal(type), sequence_number: count, output_index: count, item: outputItem });
const within = <T extends string, S extends z.core.$ZodLooseShape>(type: T, more: S) =>
  z.strictObject({ type: z.literal(type), sequence_number: count, item_id: z.string().min(1), output_index: count, ...more });

const part = { content_index: count, part: z.discriminatedUnion('type', [outputText, reasoningText, refusal]) };
const ofText = { content_index: count, logprobs: z.tuple([]) };

/** An event of a stream of `POST /v1/responses`: those of the public API that Perch has. */
export const responseEvent = z.discriminatedUnion('type', [
  ofResponse('response.created', 'in_progress', 'queued'),
  ofResponse('response.queued', 'queued'),
  ofResponse('response.in_progress', 'in_progress'),
  ofResponse('response.completed', 'completed'),
  ofResponse('response.incomplete', 'incomplete', 'cancelled'),
  ofResponse('response.failed', 'failed'),
  ofItem('response.output_item.added'),
  ofItem('response.output_item.done'),
  within('response.content_part.added', part),
  within('response.content_part.done', part),
  within('response.output_text.delta', { ...ofText, delta: z.string() }),
  within('response.output_text.done', { ...ofText, text: z.string() }),
  within('response.refusal.delta', { content_index: count, delta: z.string() }),
  within('response.refusal.done', { content_index: count, refusal: z.string() }),
  within('response.reasoning_text.delta', { content_index: count, delta: z.string() }),
  within('response.reasoning_text.done', { content_index: count, text: z.string() }),
  within('response.function_call_arguments.delta', { delta: z.string() }),
  within('response.function_call_arguments.done', { name: z.string().min(1), arguments: z.string() }),
  within('response.custom_tool_call_input.delta', { delta: z.string() }),
  within('response.custom_tool_call_input.done', { input: z.string() }),
]);
