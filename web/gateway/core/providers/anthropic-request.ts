import type { Part } from '#shared/rpc/records.ts';
import { WIRE } from './anthropic-assembler.ts';
import { toReferences } from './anthropic-deferred.ts';
import { cacheControl, type CacheBreakpoints, chooseBreakpoints, markLast, withoutBreakpoints } from './cache-breakpoints.ts';
import { fileNote, type Reader, readerOf } from './file-note.ts';
import { base64Of, OPENING, plainText } from './parts.ts';
import { refuseUnsupported, wishes, withAnswerTool } from './anthropic-wishes.ts';
import { type CacheLifetime, type ModelMessage, type ModelRequest } from './provider.ts';

type Block = Record<string, unknown>;
interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

const IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

const text = (value: string): Block[] => (value.trim() === '' ? [] : [{ type: 'text', text: value }]);
/** Ids of calls from other providers may contain characters that this API rejects. */
const callId = (id: string): string => id.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || 'call';

function partBlocks(part: Part, reader: Reader): Block[] {
  if (part.type === 'text') return text(part.text);
  const source = { type: 'base64', media_type: part.mimeType, data: base64Of(part) };
  if (part.type === 'image') {
    if (IMAGES.has(part.mimeType)) return [{ type: 'image', source }];
    return text(fileNote({ ...part, filename: part.filename ?? 'image' }, reader));
  }
  return part.mimeType === 'application/pdf' ? [{ type: 'document', source, title: part.filename }] : text(fileNote(part, reader));
}

function blocks({ role, content, toolCalls, toolCallId, kept }: ModelMessage, reader: Reader, references?: Block[]): Block[] {
  if (role === 'tool') {
    const given = references ?? (typeof content === 'string' ? content : content.flatMap((part) => partBlocks(part, reader)));
    return [{ type: 'tool_result', tool_use_id: callId(toolCallId ?? ''), content: given }];
  }
  if (role === 'user') return typeof content === 'string' ? text(content) : content.flatMap((part) => partBlocks(part, reader));
  const calls = (toolCalls ?? []).map(({ id, tool, args }) => ({ type: 'tool_use', id: callId(id), name: tool, input: args }));
  const thoughts: Block[] = kept?.wire === WIRE && Array.isArray(kept.value) ? kept.value : [];
  return [...thoughts, ...text(plainText(content).trimEnd()), ...calls];
}

/**
 * Merges consecutive messages of one role into one turn. The first turn is the user's. Messages of an API client are all sent, after a
 * placeholder user turn if they start differently.
 */
function turns(request: ModelRequest, breakpoints: CacheBreakpoints): Turn[] {
  const readerFor = readerOf(request);
  const out: Turn[] = [];
  for (const message of request.messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = out.at(-1);
    // The branch may have been truncated in the middle of a turn.
    if (!last && !request.exact && (role === 'assistant' || message.role === 'tool')) continue;
    const content = markedAtEnd(blocks(message, readerFor(message), toReferences(message, request)), breakpoints.messages.get(message));
    if (content.length === 0) continue;
    if (last?.role === role) last.content.push(...content);
    else out.push({ role, content });
  }
  if (request.exact && out[0]?.role !== 'user') out.unshift({ role: 'user', content: text(OPENING) });
  return out;
}

/** Thinking blocks cannot have a breakpoint. */
const markedAtEnd = (content: Block[], lifetime: CacheLifetime | undefined): Block[] =>
  /thinking/.test(String(content.at(-1)?.['type'])) ? content : markLast(content, lifetime);

/** Body of a streaming `POST /messages`. `limit`: the model's output limit, used if the request has none. Throws `Unsupported`. */
export function messagesBody(request: ModelRequest, limit: number): Record<string, unknown> {
  refuseUnsupported(request);
  const system = request.messages.filter(({ role }) => role === 'system').map(({ content }) => plainText(content));
  const maxTokens = Math.min(request.maxTokens ?? limit, limit);
  const breakpoints = chooseBreakpoints(request);
  const { tools, ...others } = wishes(request, maxTokens);
  return {
    model: request.model,
    max_tokens: maxTokens,
    messages: turns(request, breakpoints),
    stream: true,
    ...(system.length > 0 ? { system: systemBlocks(system.join('\n\n'), breakpoints.system) } : {}),
    ...(request.temperature === undefined || (request.exact && request.temperature === 1)
      ? {}
      : { temperature: Math.min(1, request.temperature) }),
    ...(Array.isArray(tools) ? { tools: markLast(tools, breakpoints.tools ? '5m' : undefined) } : {}),
    ...others,
  };
}

const systemBlocks = (written: string, lifetime: CacheLifetime | undefined): string | Block[] =>
  lifetime && written.trim() !== '' ? [{ type: 'text', text: written, ...cacheControl(lifetime) }] : written;

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
  if (has(thinking, 'display') && /display/.test(refusal)) {
    const { display: _display, ...bare } = thinking;
    return { ...body, thinking: bare };
  }
  if (has(output, 'format') && request.responseFormat && /schema|output_config|output_format|grammar/i.test(refusal))
    return withAnswerTool(body, request.responseFormat);
  if (request.exact || temperature === undefined || !/temperature/.test(refusal)) return undefined;
  return { ...rest, ...(thinking ? { thinking } : {}), ...(output ? { output_config: output } : {}) };
}

const has = <K extends string>(value: unknown, key: K): value is Record<K, unknown> =>
  typeof value === 'object' && value !== null && key in value;
