import { type Envelope, envelope } from '#shared/http/envelope.ts';
import { parseJson } from '#shared/parse-json.ts';
import type { MessagePart, ToolCall } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ModelMessage, ToolSpec, GenerationOptions } from '../../providers/provider.ts';
import { badRequest } from './http-error.ts';
import type { IgnoredFields } from './ignored-fields.ts';
import { parseHttpParams } from './parse-http-params.ts';
import { ignoreOpenAiOnly, readFunctionTools, readGenerationOptions, optionParams } from './generation-options.ts';

const contentPart = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.union([z.string(), z.looseObject({ url: z.string() })]) }),
  z.looseObject({ type: z.literal('input_audio'), input_audio: z.looseObject({ data: z.string(), format: z.enum(['wav', 'mp3']) }) }),
  z.looseObject({
    type: z.literal('file'),
    file: z.looseObject({ filename: z.string().optional(), file_data: z.string('must be a data URL, or `file_id` of an uploaded file') }),
  }),
]);
type ContentPart = z.output<typeof contentPart>;

export const chatMessage = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  refusal: z.string().nullish(),
  name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
  function_call: z.null('is not supported; use `tool_calls`').optional(),
  audio: z.null('is not supported; audio replies are not stored').optional(),
  tool_calls: z.array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) })).nullish(),
});

export const chatParams = optionParams.extend({
  user: z.string().max(1000).nullish(),
  prompt_cache_key: z.string().max(1000).nullish().catch(null),
});
/** A client's own breakpoint, in Anthropic's format. */
const cacheMarker = z.object({ cache_control: z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).nullish() }) });

interface ChatOptions {
  messages: ModelMessage[];
  user: string | undefined;
  tools: ToolSpec[];
  generationOptions: GenerationOptions;
  /** See `ModelRequest`. */
  cacheKey: string | undefined;
}

export function readEnvelope(body: Record<string, unknown>): Envelope {
  return parseHttpParams(envelope, body);
}

/** Start of a data URL; longer ones are not accepted. */
const DATA_URL = /^data:([^;,]{1,200})(?:;[^;,]{1,200}){0,10};base64,/i;
/** No character matches two parts, so a mismatch is found in linear time. */
const BASE64 = /^[A-Za-z0-9+/\s]*(?:=\s*){0,2}$/;

/**
 * Whether a text is valid base64, with or without white space: the length with padding is a multiple of four, and no single character is
 * left over.
 */
function isBase64(data: string): boolean {
  if (!BASE64.test(data)) return false;
  const length = /\s/.test(data) ? data.replaceAll(/\s+/g, '').length : data.length;
  return length % 4 === 0 || (length % 4 !== 1 && !data.includes('='));
}

const requireBase64 = (data: string, param: string): string => {
  if (!isBase64(data)) throw badRequest(`The data in \`${param}\` is not valid base64.`, param);
  return data;
};

export function readContentPart(part: ContentPart, param: string): MessagePart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'input_audio': {
      const { data, format } = part.input_audio;
      const mimeType = format === 'wav' ? 'audio/wav' : 'audio/mpeg';
      return { type: 'file', mimeType, data: requireBase64(data, param), filename: `audio.${format}` };
    }
    case 'image_url':
      return { type: 'image', ...readUrl(typeof part.image_url === 'string' ? part.image_url : part.image_url.url, param) };
    case 'file':
      return { type: 'file', ...readUrl(part.file.file_data, param), filename: part.file.filename ?? 'file' };
  }
}

function readUrl(url: string, param: string): { mimeType: string; data: string } {
  const mimeType = DATA_URL.exec(url)?.[1];
  if (mimeType === undefined) throw badRequest(`\`${param}\` must be a data URL in base64. Remote URLs are not fetched.`, param);
  return { mimeType, data: requireBase64(url.slice(url.indexOf(',') + 1), param) };
}

/** Parses the arguments of a call. Throws a 400 that names `path`. */
export function parseCallArgs(json: string, path: string): Record<string, unknown> {
  let args: unknown;
  try {
    args = json.trim() === '' ? {} : parseJson(json);
  } catch {
    throw badRequest(`\`${path}\` is not valid JSON, or it is nested too deeply.`, path);
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) throw badRequest(`\`${path}\` must be a JSON object.`, path);
  return { ...args };
}

function readCalls(calls: NonNullable<z.output<typeof chatMessage>['tool_calls']>, param: string): ToolCall[] {
  return calls.map(({ id, function: { name, arguments: json } }, i) => ({
    id,
    tool: name,
    args: parseCallArgs(json, `${param}.tool_calls[${i}].function.arguments`),
  }));
}

function readMessage(value: unknown, index: number): ModelMessage {
  const { role, content: rawContent, refusal, name, tool_call_id, tool_calls } = parseHttpParams(chatMessage, value, ['messages', index]);
  const param = `messages[${index}]`;
  // Same form as in answers: the refusal replaces the content, or follows it.
  const content = role === 'assistant' && refusal ? withRefusal(rawContent, refusal) : rawContent;
  if (content == null && !(role === 'assistant' && tool_calls?.length))
    throw badRequest(`\`${param}.content\` is required.`, `${param}.content`);
  if (role === 'tool' && !tool_call_id) throw badRequest(`\`${param}.tool_call_id\` is required.`, `${param}.tool_call_id`);
  const parts =
    typeof content === 'string'
      ? []
      : (content ?? []).map((part, i) => parseHttpParams(contentPart, part, ['messages', index, 'content', i]));
  const invalidIndex = role === 'user' ? -1 : parts.findIndex(({ type }) => type !== 'text' && type !== 'refusal');
  if (invalidIndex >= 0)
    throw badRequest(
      `\`${param}.content[${invalidIndex}]\` must be text. Images, audio and files are only allowed in user messages.`,
      `${param}.content[${invalidIndex}]`,
    );
  const breakpoint = typeof content === 'string' ? undefined : cacheMarker.safeParse(content?.at(-1)).data?.cache_control;
  const messageContent = typeof content === 'string' ? content : parts.map((part, i) => readContentPart(part, `${param}.content[${i}]`));
  return {
    role: role === 'developer' ? 'system' : role,
    content: name && role !== 'tool' ? prefixSpeaker(name, messageContent) : messageContent,
    ...(tool_calls?.length ? { toolCalls: readCalls(tool_calls, param) } : {}),
    ...(tool_call_id == null ? {} : { toolCallId: tool_call_id }),
    ...(name == null ? {} : { name }),
    ...(breakpoint ? { cacheBreakpoint: breakpoint.ttl ?? '5m' } : {}),
  };
}

function withRefusal(content: z.output<typeof chatMessage>['content'], refusal: string): string | unknown[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  return parts.length === 0 ? refusal : [...parts, { type: 'refusal', refusal }];
}

/** Adds the name of one of several speakers to the text: other vendors have no field for it. */
function prefixSpeaker(name: string, content: ModelMessage['content']): ModelMessage['content'] {
  if (typeof content === 'string') return `${name}: ${content}`;
  return content.length === 0 ? content : [{ type: 'text', text: `${name}:` }, ...content];
}

/**
 * Reads a request for agents and models of other vendors. Fields without effect are added to `ignored`. Throws a 400 for invalid values,
 * and for fields that would silently change the meaning.
 */
export function readChatOptions(body: Envelope, ignored: IgnoredFields): ChatOptions {
  ignoreOpenAiOnly(body, ignored);
  const params = parseHttpParams(chatParams, body);
  const messages = body.messages.map(readMessage);
  const tools = readFunctionTools(params, ignored);
  return {
    messages,
    // Explicit breakpoints take precedence.
    cacheKey: messages.some(({ cacheBreakpoint }) => cacheBreakpoint) ? undefined : params.prompt_cache_key || undefined,
    user: params.user || undefined,
    tools,
    generationOptions: readGenerationOptions(params, tools),
  };
}
