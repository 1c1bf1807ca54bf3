import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import { type CacheBreakpoints, chooseBreakpoints, markLast, NO_BREAKPOINTS, withoutBreakpoints } from './cache-breakpoints.ts';
import { OPENAI_WIRE } from './chat-assembler.ts';
import { getDocumentKind } from '../documents/document-kinds.ts';
import { describeFile, mustSendFile, type AttachmentReader, createReaderResolver } from './describe-file.ts';
import { toEffortFields } from './openai-effort.ts';
import type { Quirks } from './openai-quirks.ts';
import { toStandardBase64, getOtherParts, toPlainText, getTextParts } from './content-parts.ts';
import { type CacheLifetime, type ModelMessage, type ModelRequest, type ResponseFormat } from './provider.ts';

type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'input_audio'; input_audio: { data: string; format: string } }
  | { type: 'file'; file: { filename: string; file_data: string } };

const AUDIO_FORMATS = new Map([
  ['audio/wav', 'wav'],
  ['audio/mpeg', 'mp3'],
]);
const isTextFile = ({ filename, mimeType }: { filename: string; mimeType: string }): boolean =>
  ['text', 'html'].includes(getDocumentKind(filename, mimeType) ?? '');
const toDataUrl = (part: { mimeType: string; data: string }): string => `data:${part.mimeType};base64,${toStandardBase64(part)}`;

function toContentPart(part: MessagePart, reader: AttachmentReader): ContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: toDataUrl(part) } };
    case 'file': {
      // An API client knows what its model can read; otherwise, the server reports an error.
      const format = AUDIO_FORMATS.get(part.mimeType);
      if (format && mustSendFile(part, reader)) return { type: 'input_audio', input_audio: { data: toStandardBase64(part), format } };
      if (!isTextFile(part) && mustSendFile(part, reader))
        return { type: 'file', file: { filename: part.filename, file_data: toDataUrl(part) } };
      return { type: 'text', text: describeFile(part, reader) };
    }
  }
}

function toChatMessage(message: ModelMessage, { callId = (id) => id }: Quirks, reader: AttachmentReader): Record<string, unknown> {
  const { role, content, kept } = message;
  switch (role) {
    case 'user': {
      // Many servers accept parts only for vision models; all accept a plain string.
      const isPlain =
        typeof content === 'string' ||
        !content.some((part) => part.type === 'image' || (part.type === 'file' && !isTextFile(part) && mustSendFile(part, reader)));
      return { role, content: isPlain ? toPlainText(content, reader) : content.map((part) => toContentPart(part, reader)) };
    }
    case 'assistant': {
      const text = toPlainText(content);
      if (!message.toolCalls?.length) return { role, content: text };
      const calls = message.toolCalls.map(({ id, tool, args }) => ({
        id: callId(id),
        type: 'function',
        function: { name: tool, arguments: JSON.stringify(args) },
      }));
      return {
        role,
        content: text === '' ? null : text,
        tool_calls: calls,
        ...(kept?.wire === OPENAI_WIRE && isRecord(kept.value) ? kept.value : {}),
      };
    }
    case 'tool':
      return {
        role,
        content: typeof content === 'string' ? content : toPlainText(getTextParts(content)) || RESULT_PLACEHOLDER,
        tool_call_id: callId(message.toolCallId ?? ''),
      };
    case 'system':
      return { role, content: toPlainText(content) };
  }
}

/** Placeholder for a result that is not text. */
const RESULT_PLACEHOLDER = 'The result is below.';

/** The message with a breakpoint at the end of its text. */
function markText(message: Record<string, unknown>, lifetime: CacheLifetime | undefined): Record<string, unknown> {
  const { content } = message;
  const parts: unknown[] = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [content].flat();
  const fields = parts.filter(isRecord);
  return lifetime && fields.at(-1)?.['type'] === 'text' ? { ...message, content: markLast(fields, lifetime) } : message;
}

/** Tool results are text only in this format: images and files from tools follow the results of their turn, as a user message. */
function toChatMessages(
  messages: readonly ModelMessage[],
  quirks: Quirks,
  readerFor: ReturnType<typeof createReaderResolver>,
  breakpoints: CacheBreakpoints,
): Record<string, unknown>[] {
  const system = messages.findLast(({ role }) => role === 'system');
  const converted: Record<string, unknown>[] = [];
  const toolParts: ContentPart[] = [];
  const flushParts = (): void => {
    if (toolParts.length > 0) converted.push({ role: 'user', content: toolParts.splice(0) });
  };
  for (const message of messages) {
    if (message.role !== 'tool') flushParts();
    const reader = readerFor(message);
    const lifetime = message === system ? breakpoints.system : breakpoints.messages.get(message);
    converted.push(markText(toChatMessage(message, quirks, reader), lifetime));
    const otherParts = message.role === 'tool' ? getOtherParts(message.content) : [];
    if (otherParts.length > 0) toolParts.push({ type: 'text', text: `Given by ${message.name ?? 'the tool'}:` });
    toolParts.push(...otherParts.map((part) => toContentPart(part, reader)));
  }
  flushParts();
  return converted;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Body of a streaming `POST /chat/completions` that requests usage. */
export function createChatBody(request: ModelRequest, quirks: Quirks = {}): Record<string, unknown> {
  const { cacheKey, cacheMarkedModels } = quirks;
  const breakpoints = cacheMarkedModels?.test(request.model) ? chooseBreakpoints(request) : NO_BREAKPOINTS;
  const body: Record<string, unknown> = {
    model: request.model,
    messages: toChatMessages(request.messages, quirks, createReaderResolver(request), breakpoints),
    stream: true,
    ...(quirks.streamOptions === false ? {} : { stream_options: { include_usage: true } }),
    ...quirks.body,
    ...(cacheKey && request.cacheKey !== undefined ? { [cacheKey]: request.cacheKey } : {}),
  };
  if (request.temperature !== undefined) body['temperature'] = request.temperature;
  if (request.maxTokens !== undefined) body[quirks.maxTokens ?? 'max_tokens'] = request.maxTokens;
  if (request.tools?.length) {
    body['tools'] = request.tools.map(({ name, description, schema, strict }) => ({
      type: 'function',
      function: { name, description, parameters: schema, ...omitUndefined({ strict }) },
    }));
  }
  return { ...body, ...omitUndefined(toOptionFields(request, quirks)), ...request.passed };
}

/** Other generation options. */
function toOptionFields(request: ModelRequest, quirks: Quirks): Record<string, unknown> {
  const { toolChoice, responseFormat: format } = request;
  return {
    // Servers reject these fields if there are no tools.
    ...(request.tools?.length
      ? {
          tool_choice: typeof toolChoice === 'object' ? { type: 'function', function: { name: toolChoice.name } } : toolChoice,
          parallel_tool_calls: request.parallelToolCalls,
        }
      : {}),
    response_format: format?.type === 'json_schema' ? { type: format.type, json_schema: toJsonSchema(format) } : format,
    top_p: request.topP,
    stop: request.stop,
    [quirks.seed ?? 'seed']: request.seed,
    ...toEffortFields(request, quirks),
    verbosity: quirks.verbosityModels?.test(request.model) ? request.verbosity : undefined,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
  };
}

function toJsonSchema({ name, description, schema, strict }: Extract<ResponseFormat, { type: 'json_schema' }>): Record<string, unknown> {
  return { name, schema, ...omitUndefined({ description, strict }) };
}

/**
 * Servers differ in what they accept: older ones reject `stream_options` or a cache key, newer models require `max_completion_tokens` and
 * no temperature. Returns the body without the rejected part, or undefined if the refusal has another reason.
 */
export function adaptBody(body: Record<string, unknown>, refusal: string): Record<string, unknown> | undefined {
  const { temperature, ...rest } = body;
  if (temperature !== undefined && /temperature/.test(refusal) && /unsupported|not support/i.test(refusal)) return rest;
  return adaptFieldNames(body, refusal);
}

/** Whether a server rejects `stream_options`. */
export const rejectsUsage = (refusal: string): boolean => /stream_options|include_usage/i.test(refusal);

/** Like `adaptBody`, but only with changes that do not affect the answer. */
export function adaptFieldNames(body: Record<string, unknown>, refusal: string): Record<string, unknown> | undefined {
  const { stream_options, max_tokens, ...rest } = body;
  const { prompt_cache_key, session_id, ...withoutKeys } = body;
  if ((prompt_cache_key ?? session_id) !== undefined && /prompt_cache_key|session_id/.test(refusal)) return withoutKeys;
  if (refusal.includes('cache_control')) return withoutBreakpoints(body);
  if (stream_options !== undefined && rejectsUsage(refusal)) return { ...rest, ...omitUndefined({ max_tokens }) };
  if (max_tokens !== undefined && refusal.includes('max_completion_tokens'))
    return { ...rest, ...omitUndefined({ stream_options }), max_completion_tokens: max_tokens };
  return undefined;
}

function omitUndefined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
