import type { Part, ToolCall } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import type { CacheLifetime, ModelMessage } from '../../providers/provider.ts';
import { toSource } from '../../trust/sources.ts';
import { readPart } from '../chat-request.ts';
import { badRequest } from '../errors.ts';
import { parse } from '../parse.ts';
import { type Block, block, type Params } from './request.ts';

const BASE64_ONLY = 'must be base64 data. Remote URLs and uploaded files are not fetched';

const text = z.looseObject({ text: z.string() });
const base64 = z.looseObject({ type: z.literal('base64', BASE64_ONLY), media_type: z.string().min(1).max(200), data: z.string() });
const image = z.looseObject({ source: base64 });
const documentSource = z.discriminatedUnion(
  'type',
  [
    base64,
    z.looseObject({ type: z.literal('text'), data: z.string() }),
    z.looseObject({ type: z.literal('content'), content: z.union([z.string(), z.array(block)]) }),
  ],
  BASE64_ONLY,
);
const document = z.looseObject({ source: documentSource, title: z.string().nullish(), context: z.string().nullish() });
const searchResult = z.looseObject({ title: z.string(), source: z.string(), content: z.array(text) });
const toolUse = z.looseObject({ id: z.string().min(1), name: z.string().min(1), input: z.record(z.string(), z.unknown()) });
const toolResult = z.looseObject({
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(block)]).nullish(),
  is_error: z.boolean().nullish(),
});

type At = readonly (string | number)[];

const toPath = (at: At): string =>
  at.reduce<string>((path, key) => (typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`), '');

/**
 * Reads the conversation, including the system prompt. Blocks without a counterpart at other vendors are added to `ignored`. Throws a 400
 * that names the invalid value.
 */
export function readMessages({ system, messages }: Params, ignored: Set<string>): ModelMessage[] {
  const reader = new Reader(ignored);
  const instructions = system == null || system.length === 0 ? [] : [reader.system(system, ['system'])];
  return [
    ...instructions,
    ...messages.flatMap(({ role, content }, index) => reader.message(role, content, ['messages', index, 'content'])),
  ];
}

class Reader {
  readonly #ignored: Set<string>;
  /** Names of the tools by the IDs of their calls: results do not contain them. */
  readonly #tools = new Map<string, string>();

  constructor(ignored: Set<string>) {
    this.#ignored = ignored;
  }

  system(content: string | Block[], at: At): ModelMessage {
    if (typeof content === 'string') return { role: 'system', content };
    const parts = content.map((each, index): Part => ({ type: 'text', text: parse(text, each, [...at, index]).text }));
    return { role: 'system', content: parts, ...breakpoint(content) };
  }

  message(role: 'user' | 'assistant' | 'system', content: string | Block[], at: At): ModelMessage[] {
    if (role === 'system') return [this.system(content, at)];
    if (typeof content === 'string') return [{ role, content }];
    return role === 'assistant' ? this.#assistant(content, at) : this.#user(content, at);
  }

  #assistant(content: Block[], at: At): ModelMessage[] {
    const texts: Part[] = [];
    const calls: ToolCall[] = [];
    for (const [index, each] of content.entries()) {
      const here = [...at, index];
      if (each.type === 'text') texts.push({ type: 'text', text: parse(text, each, here).text });
      else if (each.type === 'tool_use') {
        const { id, name, input } = parse(toolUse, each, here);
        this.#tools.set(id, name);
        calls.push({ id, tool: name, args: input });
      }
      // Thinking blocks are only for the vendor that created them; data that providers require back is kept for the client
      // (http/thoughts.ts).
      else if (each.type !== 'thinking' && each.type !== 'redacted_thinking') this.#ignore(each, here);
    }
    if (texts.length === 0 && calls.length === 0) return [];
    const written = texts.length === 0 ? '' : texts;
    return [{ role: 'assistant', content: written, ...(calls.length > 0 ? { toolCalls: calls } : {}), ...breakpoint(content) }];
  }

  /** Results come first, as separate messages; the rest is one user message. */
  #user(content: Block[], at: At): ModelMessage[] {
    const results: ModelMessage[] = [];
    const parts: Part[] = [];
    for (const [index, each] of content.entries()) {
      const here = [...at, index];
      if (each.type === 'tool_result') results.push({ ...this.#result(each, here), ...breakpoint([each]) });
      else parts.push(...this.#parts(each, here));
    }
    const last = content.at(-1);
    const marked = last?.type === 'tool_result' ? {} : breakpoint(content);
    const outside = content.flatMap(getQuotedSources);
    const quoted = outside.length > 0 ? { outside } : {};
    return [...results, ...(parts.length > 0 ? [{ role: 'user' as const, content: parts, ...marked, ...quoted }] : [])];
  }

  #result(given: Block, at: At): ModelMessage {
    const { tool_use_id: id, content, is_error: failed } = parse(toolResult, given, at);
    const parts: Part[] =
      typeof content === 'string'
        ? [{ type: 'text', text: content }]
        : (content ?? []).flatMap((each, index) => this.#parts(each, [...at, 'content', index]));
    const told: Part[] = failed ? [{ type: 'text', text: 'Error:' }, ...parts] : parts;
    const onlyText = told.every(({ type }) => type === 'text');
    const name = this.#tools.get(id);
    return {
      role: 'tool',
      toolCallId: id,
      ...(name === undefined ? {} : { name }),
      content: onlyText ? told.map((part) => (part.type === 'text' ? part.text : '')).join('\n') : told,
    };
  }

  #parts(given: Block, at: At): Part[] {
    switch (given.type) {
      case 'text':
        return [{ type: 'text', text: parse(text, given, at).text }];
      case 'image':
        return [toPart('image', parse(image, given, at).source, [...at, 'source'])];
      case 'document':
        return this.#document(given, at);
      case 'search_result': {
        const { title, source, content } = parse(searchResult, given, at);
        return [{ type: 'text', text: [`${title} (${source})`, ...content.map((each) => each.text)].join('\n') }];
      }
      case 'tool_use':
        throw badRequest(`\`${toPath(at)}\` must be in a message of the assistant.`, toPath(at));
      default:
        this.#ignore(given, at);
        return [];
    }
  }

  #document(given: Block, at: At): Part[] {
    const { source, title, context } = parse(document, given, at);
    const about: Part[] = context ? [{ type: 'text', text: context }] : [];
    const titled: Part[] = title ? [{ type: 'text', text: title }] : [];
    if (source.type === 'base64') {
      const part = toPart('file', source, [...at, 'source']);
      return [...about, part.type === 'file' ? { ...part, filename: title || 'document.pdf' } : part];
    }
    if (source.type === 'text') return [...titled, ...about, { type: 'text', text: source.data }];
    if (typeof source.content === 'string') return [...titled, ...about, { type: 'text', text: source.content }];
    return [...titled, ...about, ...source.content.flatMap((each, index) => this.#parts(each, [...at, 'source', 'content', index]))];
  }

  #ignore({ type }: Block, at: At): void {
    this.#ignored.add(`${toPath(at)}(${type})`);
  }
}

/** Outside sources of a block whose text becomes part of the message. */
const getQuotedSources = ({ type, title }: Block): string[] =>
  type === 'document' || type === 'search_result' ? [toSource('document', typeof title === 'string' ? title : 'without a name')] : [];

/** A part from base64, validated like a data URL of chat completions. */
function toPart(type: 'image' | 'file', { media_type, data }: z.output<typeof base64>, at: At): Part {
  const url = `data:${media_type};base64,${data}`;
  return type === 'image'
    ? readPart({ type: 'image_url', image_url: url }, toPath(at))
    : readPart({ type: 'file', file: { file_data: url } }, toPath(at));
}

/** The breakpoint of the last block that has one. */
function breakpoint(content: readonly Block[]): { cacheBreakpoint?: CacheLifetime } {
  const marked = content.findLast(({ cache_control }) => cache_control)?.cache_control;
  return marked ? { cacheBreakpoint: marked.ttl ?? '5m' } : {};
}
