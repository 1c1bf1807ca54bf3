import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import { ANTHROPIC_WIRE } from './anthropic-assembler.ts';
import { toToolReferences } from './anthropic-deferred-tools.ts';
import { toCacheControl, type CacheBreakpoints, chooseBreakpoints, markLast, withoutBreakpoints } from './cache-breakpoints.ts';
import { describeFile, type AttachmentReader, createReaderResolver } from './describe-file.ts';
import { toStandardBase64, OPENING_TEXT, toPlainText } from './content-parts.ts';
import { omitConflicting, rejectUnsupported, toOptionFields, toOutputLimit, withAnswerTool } from './anthropic-options.ts';
import { type CacheLifetime, type ModelMessage, type ModelRequest } from './provider.ts';

type MessageBlock = Record<string, unknown>;
interface AnthropicTurn {
  role: 'user' | 'assistant';
  content: MessageBlock[];
}

const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

const toTextBlocks = (value: string): MessageBlock[] => (value.trim() === '' ? [] : [{ type: 'text', text: value }]);
/** Ids of calls from other providers may contain characters that this API rejects. */
const toCallId = (id: string): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || 'call';

function toPartBlocks(part: MessagePart, reader: AttachmentReader): MessageBlock[] {
  if (part.type === 'text') return toTextBlocks(part.text);
  const source = { type: 'base64', media_type: part.mimeType, data: toStandardBase64(part) };
  if (part.type === 'image') {
    if (IMAGE_TYPES.has(part.mimeType)) return [{ type: 'image', source }];
    return toTextBlocks(describeFile({ ...part, filename: part.filename ?? 'image' }, reader));
  }
  return part.mimeType === 'application/pdf'
    ? [{ type: 'document', source, title: part.filename }]
    : toTextBlocks(describeFile(part, reader));
}

function toBlocks(
  { role, content, toolCalls, toolCallId, kept }: ModelMessage,
  reader: AttachmentReader,
  references?: MessageBlock[],
): MessageBlock[] {
  if (role === 'tool') {
    const toolContent = references ?? (typeof content === 'string' ? content : content.flatMap((part) => toPartBlocks(part, reader)));
    return [{ type: 'tool_result', tool_use_id: toCallId(toolCallId ?? ''), content: toolContent }];
  }
  if (role === 'user') return typeof content === 'string' ? toTextBlocks(content) : content.flatMap((part) => toPartBlocks(part, reader));
  const calls = (toolCalls ?? []).map(({ id, tool, args }) => ({ type: 'tool_use', id: toCallId(id), name: tool, input: args }));
  const thinkingBlocks: MessageBlock[] = kept?.wire === ANTHROPIC_WIRE && Array.isArray(kept.value) ? kept.value : [];
  return [...thinkingBlocks, ...toTextBlocks(toPlainText(content).trimEnd()), ...calls];
}

/**
 * Merges consecutive messages of one role into one turn. The first turn is the user's. Messages of an API client are all sent, after a
 * placeholder user turn if they start differently.
 */
function toTurns(request: ModelRequest, breakpoints: CacheBreakpoints): AnthropicTurn[] {
  const readerFor = createReaderResolver(request);
  const turns: AnthropicTurn[] = [];
  for (const message of request.messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    // The branch may have been truncated in the middle of a turn.
    if (!last && !request.exact && (role === 'assistant' || message.role === 'tool')) continue;
    const content = markEnd(toBlocks(message, readerFor(message), toToolReferences(message, request)), breakpoints.messages.get(message));
    if (content.length === 0) continue;
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  if (request.exact && turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: toTextBlocks(OPENING_TEXT) });
  return turns;
}

/** Thinking blocks cannot have a breakpoint. */
const markEnd = (content: MessageBlock[], lifetime: CacheLifetime | undefined): MessageBlock[] =>
  /thinking/.test(String(content.at(-1)?.['type'])) ? content : markLast(content, lifetime);

/** Body of a streaming `POST /messages`. `limit`: the model's output limit, used if the request has none. Throws `UnsupportedOptionError`. */
export function createMessagesBody(modelRequest: ModelRequest, limit: number): Record<string, unknown> {
  rejectUnsupported(modelRequest);
  const request = omitConflicting(modelRequest);
  const system = request.messages.filter(({ role }) => role === 'system').map(({ content }) => toPlainText(content));
  const maxTokens = toOutputLimit(request, limit);
  const breakpoints = chooseBreakpoints(request);
  const { tools, ...others } = toOptionFields(request, maxTokens);
  return {
    model: request.model,
    max_tokens: maxTokens,
    messages: toTurns(request, breakpoints),
    stream: true,
    ...(system.length > 0 ? { system: toSystemBlocks(system.join('\n\n'), breakpoints.system) } : {}),
    ...(request.temperature === undefined || (request.exact && request.temperature === 1)
      ? {}
      : { temperature: Math.min(1, request.temperature) }),
    ...(Array.isArray(tools) ? { tools: markLast(tools, breakpoints.tools ? '5m' : undefined) } : {}),
    ...others,
  };
}

const toSystemBlocks = (systemText: string, lifetime: CacheLifetime | undefined): string | MessageBlock[] =>
  lifetime && systemText.trim() !== '' ? [{ type: 'text', text: systemText, ...toCacheControl(lifetime) }] : systemText;

/**
 * The body without the part that the refusal is about: an output limit too high for the model, a temperature, a schema that the native
 * format does not support, or breakpoints that a compatible server does not know.
 */
export function adaptMessagesBody(
  request: ModelRequest,
  body: Record<string, unknown>,
  refusal: string,
): Record<string, unknown> | undefined {
  const { temperature, thinking, output_config: output, ...rest } = body;
  const allowed = Number(/max_tokens: \d+ > (\d+)/.exec(refusal)?.[1]);
  const current = body['max_tokens'];
  if (allowed > 0 && typeof current === 'number' && allowed < current) return { ...body, max_tokens: allowed };
  if (refusal.includes('cache_control')) return withoutBreakpoints(body);
  if (hasKey(thinking, 'display') && /display/.test(refusal)) {
    const { display: _display, ...thinkingFields } = thinking;
    return { ...body, thinking: thinkingFields };
  }
  if (hasKey(output, 'format') && request.responseFormat && /schema|output_config|output_format|grammar/i.test(refusal))
    return withAnswerTool(body, request.responseFormat);
  if (request.exact || temperature === undefined || !/temperature/.test(refusal)) return undefined;
  return { ...rest, ...(thinking ? { thinking } : {}), ...(output ? { output_config: output } : {}) };
}

const hasKey = <K extends string>(value: unknown, key: K): value is Record<K, unknown> =>
  typeof value === 'object' && value !== null && key in value;
