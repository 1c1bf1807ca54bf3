import type { MessagePart, ToolCall } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import type { CacheLifetime, ModelMessage } from '../../../providers/provider.ts';
import { toSource } from '../../../agent/trust/content-sources.ts';
import { readContentPart } from '../chat-request.ts';
import { badRequest } from '../http-error.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import { type ContentBlock, contentBlock, type MessageParams } from './messages-request.ts';

const BASE64_ONLY = 'must be base64 data. Remote URLs and uploaded files are not fetched';

const textSchema = z.looseObject({ text: z.string() });
const base64Schema = z.looseObject({ type: z.literal('base64', BASE64_ONLY), media_type: z.string().min(1).max(200), data: z.string() });
const imageSchema = z.looseObject({ source: base64Schema });
const documentSourceSchema = z.discriminatedUnion(
  'type',
  [
    base64Schema,
    z.looseObject({ type: z.literal('text'), data: z.string() }),
    z.looseObject({ type: z.literal('content'), content: z.union([z.string(), z.array(contentBlock)]) }),
  ],
  BASE64_ONLY,
);
const documentSchema = z.looseObject({ source: documentSourceSchema, title: z.string().nullish(), context: z.string().nullish() });
const searchResultSchema = z.looseObject({ title: z.string(), source: z.string(), content: z.array(textSchema) });
const toolUseSchema = z.looseObject({ id: z.string().min(1), name: z.string().min(1), input: z.record(z.string(), z.unknown()) });
const toolResultSchema = z.looseObject({
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(contentBlock)]).nullish(),
  is_error: z.boolean().nullish(),
});

type Path = readonly (string | number)[];

const toPath = (keys: Path): string =>
  keys.reduce<string>((path, key) => (typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`), '');

/**
 * Reads the conversation, including the system prompt. Blocks without a counterpart at other vendors are added to `ignored`. Throws a 400
 * that names the invalid value.
 */
export function readMessages({ system, messages }: MessageParams, ignored: Set<string>): ModelMessage[] {
  const reader = new MessagesReader(ignored);
  const instructions = system == null || system.length === 0 ? [] : [reader.system(system, ['system'])];
  return [
    ...instructions,
    ...messages.flatMap(({ role, content }, index) => reader.message(role, content, ['messages', index, 'content'])),
  ];
}

class MessagesReader {
  readonly #ignored: Set<string>;
  /** Names of the tools by the IDs of their calls: results do not contain them. */
  readonly #tools = new Map<string, string>();

  constructor(ignored: Set<string>) {
    this.#ignored = ignored;
  }

  system(content: string | ContentBlock[], path: Path): ModelMessage {
    if (typeof content === 'string') return { role: 'system', content };
    const parts = content.map((block, index): MessagePart => ({
      type: 'text',
      text: parseHttpParams(textSchema, block, [...path, index]).text,
    }));
    return { role: 'system', content: parts, ...toBreakpoint(content) };
  }

  message(role: 'user' | 'assistant' | 'system', content: string | ContentBlock[], path: Path): ModelMessage[] {
    if (role === 'system') return [this.system(content, path)];
    if (typeof content === 'string') return [{ role, content }];
    return role === 'assistant' ? this.#assistant(content, path) : this.#user(content, path);
  }

  #assistant(content: ContentBlock[], path: Path): ModelMessage[] {
    const texts: MessagePart[] = [];
    const calls: ToolCall[] = [];
    for (const [index, block] of content.entries()) {
      const blockPath = [...path, index];
      if (block.type === 'text') {
        const { text } = parseHttpParams(textSchema, block, blockPath);
        const before = content[index - 1];
        const last = texts.at(-1);
        // The parts of a text of which some are cited.
        if (last?.type === 'text' && before?.type === 'text' && (isCited(before) || isCited(block))) last.text += text;
        else texts.push({ type: 'text', text });
      } else if (block.type === 'tool_use') {
        const { id, name, input } = parseHttpParams(toolUseSchema, block, blockPath);
        this.#tools.set(id, name);
        calls.push({ id, tool: name, args: input });
      }
      // Thinking blocks are only for the vendor that created them; data that providers require back is kept for the client
      // (http/provider-state-cache.ts).
      else if (block.type !== 'thinking' && block.type !== 'redacted_thinking') this.#ignore(block, blockPath);
    }
    if (texts.length === 0 && calls.length === 0) return [];
    const textContent = texts.length === 0 ? '' : texts;
    return [{ role: 'assistant', content: textContent, ...(calls.length > 0 ? { toolCalls: calls } : {}), ...toBreakpoint(content) }];
  }

  /** Results come first, as separate messages; the rest is one user message. */
  #user(content: ContentBlock[], path: Path): ModelMessage[] {
    const results: ModelMessage[] = [];
    const parts: MessagePart[] = [];
    for (const [index, block] of content.entries()) {
      const blockPath = [...path, index];
      if (block.type === 'tool_result') results.push({ ...this.#result(block, blockPath), ...toBreakpoint([block]) });
      else parts.push(...this.#parts(block, blockPath));
    }
    const last = content.at(-1);
    const breakpoints = last?.type === 'tool_result' ? {} : toBreakpoint(content);
    const outside = content.flatMap(getQuotedSources);
    const quoted = outside.length > 0 ? { outside } : {};
    return [...results, ...(parts.length > 0 ? [{ role: 'user' as const, content: parts, ...breakpoints, ...quoted }] : [])];
  }

  #result(inputBlock: ContentBlock, path: Path): ModelMessage {
    const { tool_use_id: id, content, is_error: failed } = parseHttpParams(toolResultSchema, inputBlock, path);
    const parts: MessagePart[] =
      typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : (content ?? []).flatMap((innerBlock, index) => this.#parts(innerBlock, [...path, 'content', index]));
    const resultParts: MessagePart[] = failed ? [{ type: 'text', text: 'Error:' }, ...parts] : parts;
    const onlyText = resultParts.every(({ type }) => type === 'text');
    const name = this.#tools.get(id);
    return {
      role: 'tool',
      toolCallId: id,
      ...(name === undefined ? {} : { name }),
      content: onlyText ? resultParts.map((part) => (part.type === 'text' ? part.text : '')).join('\n') : resultParts,
    };
  }

  #parts(inputBlock: ContentBlock, path: Path): MessagePart[] {
    switch (inputBlock.type) {
      case 'text':
        return [{ type: 'text', text: parseHttpParams(textSchema, inputBlock, path).text }];
      case 'image':
        return [toPart('image', parseHttpParams(imageSchema, inputBlock, path).source, [...path, 'source'])];
      case 'document':
        return this.#document(inputBlock, path);
      case 'search_result': {
        const { title, source, content } = parseHttpParams(searchResultSchema, inputBlock, path);
        return [{ type: 'text', text: [`${title} (${source})`, ...content.map((block) => block.text)].join('\n') }];
      }
      case 'tool_use':
        throw badRequest(`\`${toPath(path)}\` must be in a message of the assistant.`, toPath(path));
      default:
        this.#ignore(inputBlock, path);
        return [];
    }
  }

  #document(inputBlock: ContentBlock, path: Path): MessagePart[] {
    const { source, title, context } = parseHttpParams(documentSchema, inputBlock, path);
    const contextParts: MessagePart[] = context ? [{ type: 'text', text: context }] : [];
    const titleParts: MessagePart[] = title ? [{ type: 'text', text: title }] : [];
    if (source.type === 'base64') {
      const part = toPart('file', source, [...path, 'source']);
      return [...contextParts, part.type === 'file' ? { ...part, filename: title || 'document.pdf' } : part];
    }
    if (source.type === 'text') return [...titleParts, ...contextParts, { type: 'text', text: source.data }];
    if (typeof source.content === 'string') return [...titleParts, ...contextParts, { type: 'text', text: source.content }];
    return [
      ...titleParts,
      ...contextParts,
      ...source.content.flatMap((innerBlock, index) => this.#parts(innerBlock, [...path, 'source', 'content', index])),
    ];
  }

  #ignore({ type }: ContentBlock, path: Path): void {
    this.#ignored.add(`${toPath(path)}(${type})`);
  }
}

const isCited = ({ citations }: ContentBlock): boolean => Array.isArray(citations) && citations.length > 0;

/** Outside sources of a block whose text becomes part of the message. */
const getQuotedSources = ({ type, title }: ContentBlock): string[] =>
  type === 'document' || type === 'search_result' ? [toSource('document', typeof title === 'string' ? title : 'without a name')] : [];

/** A part from base64, validated like a data URL of chat completions. */
function toPart(type: 'image' | 'file', { media_type, data }: z.output<typeof base64Schema>, path: Path): MessagePart {
  const url = `data:${media_type};base64,${data}`;
  return type === 'image'
    ? readContentPart({ type: 'image_url', image_url: url }, toPath(path))
    : readContentPart({ type: 'file', file: { file_data: url } }, toPath(path));
}

/** The breakpoint of the last block that has one. */
function toBreakpoint(content: readonly ContentBlock[]): { cacheBreakpoint?: CacheLifetime } {
  const breakpoints = content.findLast(({ cache_control }) => cache_control)?.cache_control;
  return breakpoints ? { cacheBreakpoint: breakpoints.ttl ?? '5m' } : {};
}
