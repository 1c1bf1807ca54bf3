import { z } from '#shared/rpc/zod.ts';

// Responses of Anthropic's public Messages API reference (https://platform.claude.com/docs/en/api/messages), as Perch sends them.

const tokens = z.number().int().nonnegative();
const usage = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_read_input_tokens: tokens,
  server_tool_use: z.strictObject({ web_search_requests: tokens, web_fetch_requests: tokens }).exactOptional(),
});
const cited = { cited_text: z.string(), title: z.string().nullable() };
const position = z.number().int().nonnegative();
const citation = z.discriminatedUnion('type', [
  z.object({ type: z.literal('web_search_result_location'), ...cited, url: z.string(), encrypted_index: z.string() }),
  z.object({
    type: z.literal('search_result_location'),
    ...cited,
    source: z.string(),
    search_result_index: position,
    start_block_index: position,
    end_block_index: position,
  }),
]);
const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string(), citations: z.array(citation).nullish() }),
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.object({
    type: z.literal('server_tool_use'),
    id: z.string().regex(/^srvtoolu_[a-zA-Z0-9_]+$/),
    name: z.literal('web_search'),
    input: z.record(z.string(), z.unknown()),
  }),
  z.object({
    type: z.literal('web_search_tool_result'),
    tool_use_id: z.string().regex(/^srvtoolu_[a-zA-Z0-9_]+$/),
    content: z.union([
      z.array(
        z.strictObject({
          type: z.literal('web_search_result'),
          url: z.url(),
          title: z.string(),
          page_age: z.string().nullable(),
          encrypted_content: z.string(),
        }),
      ),
      z.strictObject({ type: z.literal('web_search_tool_result_error'), error_code: z.literal('unavailable') }),
    ]),
  }),
  z.object({ type: z.literal('tool_use'), id: z.string().min(1), name: z.string().min(1), input: z.record(z.string(), z.unknown()) }),
]);
const stopReason = z.enum([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
]);
const head = { id: z.string().min(1), type: z.literal('message'), role: z.literal('assistant'), model: z.string().min(1) };
const end = { stop_reason: stopReason, stop_sequence: z.string().nullable() };

export const message = z.object({ ...head, ...end, content: z.array(block), usage });
export const tokenCount = z.strictObject({ input_tokens: tokens });

export const messagesErrorResponse = z.strictObject({
  type: z.literal('error'),
  error: z.strictObject({
    type: z.enum([
      'invalid_request_error',
      'authentication_error',
      'billing_error',
      'permission_error',
      'not_found_error',
      'request_too_large',
      'rate_limit_error',
      'api_error',
      'timeout_error',
      'overloaded_error',
    ]),
    message: z.string().min(1),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
  request_id: z.string().min(1).nullable(),
});

const info = z.object({ type: z.literal('model'), id: z.string().min(1), display_name: z.string().min(1), created_at: z.iso.datetime() });
export const messagesModel = info;
export const messagesModelPage = z.strictObject({
  data: z.array(info),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

const index = z.number().int().nonnegative();
const delta = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: z.string() }),
  z.object({ type: z.literal('citations_delta'), citation }),
  z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.object({ type: z.literal('signature_delta'), signature: z.string() }),
  z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
]);
const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.looseObject({ type: z.literal('message').optional() }) }),
  z.object({ type: z.literal('ping') }),
  z.object({ type: z.literal('content_block_start'), index, content_block: block }),
  z.object({ type: z.literal('content_block_delta'), index, delta }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({ type: z.literal('message_delta'), delta: z.object(end), usage: z.object({ output_tokens: tokens }) }),
  z.object({ type: z.literal('message_stop') }),
  messagesErrorResponse,
]);

/** Checks the events of a stream in order: blocks start, continue and stop in turn, and nothing follows the end or an error. */
export function createMessageEventsChecker(): (sseEvent: { event?: string | undefined; data: string }) => string | undefined {
  let open: number | undefined;
  let next = 0;
  let hasEnded = false;
  return ({ event: name, data }) => {
    const parsed = event.safeParse(JSON.parse(data));
    if (!parsed.success) return `${z.prettifyError(parsed.error)}\n${data.slice(0, 500)}`;
    const parsedEvent = parsed.data;
    if (parsedEvent.type !== name) return `${parsedEvent.type} is named ${name}`;
    if (hasEnded) return `${parsedEvent.type} follows the end`;
    hasEnded = parsedEvent.type === 'message_stop' || parsedEvent.type === 'error';
    if (parsedEvent.type === 'content_block_start') {
      if (open !== undefined || parsedEvent.index !== next) return `block ${parsedEvent.index} starts out of turn`;
      open = next++;
    } else if ('index' in parsedEvent && parsedEvent.index !== open)
      return `${parsedEvent.type} of block ${parsedEvent.index}, but ${open} is open`;
    else if (parsedEvent.type === 'content_block_stop') open = undefined;
    else if (parsedEvent.type === 'message_delta' && open !== undefined) return `block ${open} has no end`;
    return undefined;
  };
}
