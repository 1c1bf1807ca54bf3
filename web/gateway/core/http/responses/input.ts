import type { Part } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Kept, ModelMessage } from '../../providers/provider.ts';
import { readArgs, readPart } from '../chat-request.ts';
import { badRequest } from '../errors.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { toSource } from '../../trust/sources.ts';
import { isSummary, readCompaction } from './compaction-item.ts';
import type { CallItem, CallOutputItem, ContentPart, CustomCallItem, Item, MessageItem } from './record.ts';
import { toModelName } from './response-tools.ts';
import { unseal } from './sealed.ts';
import { parse } from '../parse.ts';

type Path = readonly (string | number)[];

const head = z.looseObject({ type: z.string().nullish(), role: z.unknown().optional(), id: z.string().max(200).nullish() });
const part = z.looseObject({ type: z.string() });
const message = z.looseObject({
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([z.string(), z.array(z.unknown())], 'must be a string or an array of content parts'),
});
const called = { call_id: z.string().min(1).max(200), name: z.string().min(1).max(200), namespace: z.string().max(200).nullish() };
const call = z.looseObject({ ...called, arguments: z.string() });
const customCall = z.looseObject({ ...called, input: z.string() });
const output = z.looseObject({
  call_id: z.string().min(1).max(200),
  output: z.union([z.string(), z.array(z.unknown())], 'must be a string or an array of content parts'),
});
const compaction = z.looseObject({ encrypted_content: z.string() });
const reasoning = z.looseObject({ encrypted_content: z.string().nullish() });
const PARTS = {
  text: z.looseObject({ text: z.string() }),
  refusal: z.looseObject({ refusal: z.string() }),
  image: z.looseObject({ image_url: z.string('must be a data URL, or `file_id` of an uploaded file'), detail: z.string().nullish() }),
  file: z.looseObject({
    filename: z.string().max(500).nullish(),
    file_data: z.string('must be a data URL, or `file_id` of an uploaded file'),
  }),
};

/** Formats a path for an error, as `input[0].content[1]`. */
const nameOf = (path: Path): string =>
  path.reduce<string>((name, key) => (typeof key === 'number' ? `${name}[${key}]` : name === '' ? key : `${name}.${key}`), '');

/** Finds the item of a reference; undefined if it does not exist or belongs to another principal. */
export type FindItem = (id: string) => Promise<Item | undefined>;

/** Reads `input`. `idOf` creates the items' ids. Throws a 400 that names an invalid value or reference. */
export async function readInput(
  input: string | readonly unknown[],
  idOf: (prefix: string, index: number) => string,
  find: FindItem,
  ignored: IgnoredFields,
): Promise<Item[]> {
  if (typeof input === 'string') return [person(idOf('msg', 0), [{ type: 'input_text', text: input }])];
  const items: Item[] = [];
  // Sequentially: concurrent errors of 100,000 items would exhaust the memory.
  for (const [index, value] of input.entries()) {
    const item = await readItem(value, ['input', index], { idOf: (prefix) => idOf(prefix, index), find, ignored });
    if (item) items.push(item);
  }
  return items;
}

const person = (id: string, content: ContentPart[]): MessageItem => ({
  type: 'message',
  id,
  role: 'user',
  status: 'completed',
  content,
});

const nameOfCall = ({ call_id, name, namespace }: { call_id: string; name: string; namespace?: string | null | undefined }) => ({
  ...{ call_id, name },
  ...(namespace == null ? {} : { namespace }),
});

interface Reading {
  idOf: (prefix: string) => string;
  find: FindItem;
  ignored: IgnoredFields;
}

/** Undefined for an item that is ignored. */
async function readItem(value: unknown, at: Path, { idOf, find, ignored }: Reading): Promise<Item | undefined> {
  const known = parse(head, value, at);
  const type = known.type ?? (known.role === undefined ? 'item_reference' : 'message');
  switch (type) {
    case 'message': {
      const { role, content } = parse(message, value, at);
      const parts = typeof content === 'string' ? [content] : content;
      return {
        type,
        id: idOf('msg'),
        role,
        status: 'completed',
        content: parts.map((each, i) => readContent(each, role, [...at, 'content', i])),
      };
    }
    case 'function_call': {
      const given = parse(call, value, at);
      return { type, id: idOf('fc'), ...nameOfCall(given), arguments: given.arguments, status: 'completed' };
    }
    case 'custom_tool_call': {
      const given = parse(customCall, value, at);
      return { type, id: idOf('ctc'), ...nameOfCall(given), input: given.input, status: 'completed' };
    }
    case 'custom_tool_call_output':
    case 'function_call_output': {
      const given = parse(output, value, at);
      const read = typeof given.output === 'string' ? given.output : given.output.map((each, i) => readOutput(each, [...at, 'output', i]));
      return { type, id: idOf('fco'), call_id: given.call_id, output: read, status: 'completed' };
    }
    case 'reasoning':
      // Earlier thoughts are not sent to the model again, except for data that its provider requires back.
      return { type, id: idOf('rs'), summary: [], content: [], status: 'completed', ...readSealed(value, at, ignored) };
    case 'compaction': {
      const made = readCompaction(idOf('msg'), parse(compaction, value, at).encrypted_content);
      // Created by another server.
      if (!made) ignored.add(nameOf(at));
      return made;
    }
    case 'item_reference': {
      const param = nameOf([...at, 'id']);
      if (known.id == null) throw badRequest(`\`${param}\` is required.`, param);
      const found = await find(known.id);
      if (!found) throw badRequest(`No stored item with id "${known.id}" (\`${param}\`).`, param);
      return found;
    }
    default:
      // Items of tools that this server lacks.
      ignored.add(nameOf(at));
      return undefined;
  }
}

function readSealed(value: unknown, at: Path, ignored: IgnoredFields): { encrypted_content?: string } {
  const { encrypted_content: sealed } = parse(reasoning, value, at);
  if (sealed == null) return {};
  if (unseal(sealed)) return { encrypted_content: sealed };
  // Created by another server, before the client changed the model.
  ignored.add(nameOf([...at, 'encrypted_content']));
  return {};
}

/** A part of a tool's output: the same types as a user's content, but none of the model's. */
function readOutput(value: unknown, at: Path): ContentPart {
  const { type } = parse(part, value, at);
  if (type.startsWith('input_')) return readContent(value, 'user', at);
  const param = nameOf([...at, 'type']);
  throw badRequest(`\`${param}\` must be text, an image or a file.`, param);
}

function readContent(value: unknown, role: MessageItem['role'], at: Path): ContentPart {
  const own = role === 'assistant';
  const text = (given: string): ContentPart =>
    own ? { type: 'output_text', text: given, annotations: [], logprobs: [] } : { type: 'input_text', text: given };
  if (typeof value === 'string') return text(value);
  const { type } = parse(part, value, at);
  if (type === 'input_text' || type === 'output_text' || type === 'text') return text(parse(PARTS.text, value, at).text);
  if (type === 'refusal') {
    const said = parse(PARTS.refusal, value, at).refusal;
    return own ? { type, refusal: said } : text(said);
  }
  const param = nameOf(at);
  if (type !== 'input_image' && type !== 'input_file') throw badRequest(`Unsupported content type (\`${param}.type\`).`, `${param}.type`);
  if (role !== 'user') throw badRequest(`\`${param}\` must be text. Images and files are only allowed in user messages.`, param);
  const read: ContentPart =
    type === 'input_image'
      ? (({ image_url, detail }) => ({ type, image_url, detail: detail ?? 'auto' }))(parse(PARTS.image, value, at))
      : (({ filename, file_data }) => ({ type, filename: filename ?? 'file', file_data }))(parse(PARTS.file, value, at));
  partOf(read, param);
  return read;
}

/** Converts a part for a provider. Throws a 400 that names `param` if its data is invalid. */
function partOf(given: ContentPart, param: string): Part {
  switch (given.type) {
    case 'input_image':
      return readPart({ type: 'image_url', image_url: given.image_url }, param);
    case 'input_file':
      return readPart({ type: 'file', file: { filename: given.filename, file_data: given.file_data } }, param);
    case 'refusal':
      return { type: 'text', text: given.refusal };
    default:
      return { type: 'text', text: given.text };
  }
}

/** An item with its origin, for errors. */
export interface Entry {
  item: Item;
  param: string;
  /** Data that the provider requires back with this call. */
  kept?: Kept | undefined;
}

/**
 * Converts the conversation to messages. Throws a 400 for outputs without calls and, if the model answers, for calls without outputs.
 */
export function toMessages(entries: readonly Entry[], isAnswered = true): ModelMessage[] {
  const messages: ModelMessage[] = [];
  /** Calls without an output so far. */
  const waiting = new Map<string, CallItem | CustomCallItem>();
  let sealed: Kept | undefined;
  for (const { item, param, kept } of entries) {
    if (item.type === 'message') {
      addMessage(messages, item, param);
      if (item.role === 'user') sealed = undefined;
    } else if (item.type === 'reasoning') sealed = item.encrypted_content === undefined ? sealed : unseal(item.encrypted_content);
    else if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      addCall(messages, item, param, kept ?? sealed);
      sealed = undefined;
      waiting.set(item.call_id, item);
    } else {
      messages.push({ role: 'tool', ...resultOf(item, waiting.get(item.call_id), param) });
      waiting.delete(item.call_id);
    }
  }
  if (!isAnswered) return messages;
  const [first] = waiting.keys();
  if (first !== undefined) throw badRequest(`\`input\` has no output for the function call "${first}".`, 'input');
  if (!messages.some(({ role }) => role !== 'system'))
    throw badRequest('`input` must include at least one message to respond to.', 'input');
  return messages;
}

const partsOf = (content: readonly ContentPart[], param: string): Part[] => content.map((each, i) => partOf(each, `${param}[${i}]`));
/** A plain string, which every server accepts, if there is only text. */
const plainly = (parts: Part[], between: string): string | Part[] =>
  parts.every(({ type }) => type === 'text') ? textOf(parts, between) : parts;

function addMessage(messages: ModelMessage[], { role, content }: MessageItem, param: string): void {
  const parts = partsOf(content, `${param}.content`);
  const last = messages.at(-1);
  if (role === 'user')
    messages.push({ role, content: plainly(parts, ''), ...(isSummary(content) ? { outside: [toSource('program', 'a summary')] } : {}) });
  else if (role === 'assistant' && last?.role === 'assistant' && last.toolCalls) {
    // Merges text into the message with its calls. Lists would be copied again for each of thousands of texts.
    const [before, text] = [textIn(last.content), textOf(parts)];
    last.content = before === '' || text === '' ? before + text : `${before}\n\n${text}`;
  } else messages.push({ role: role === 'developer' ? 'system' : role, content: textOf(parts) });
}

const textIn = (content: string | readonly Part[]): string => (typeof content === 'string' ? content : textOf(content));
const textOf = (parts: readonly Part[], between = ''): string => parts.map((each) => (each.type === 'text' ? each.text : '')).join(between);

function addCall(messages: ModelMessage[], item: CallItem | CustomCallItem, param: string, kept: Kept | undefined): void {
  let last = messages.at(-1);
  if (last?.role !== 'assistant') messages.push((last = { role: 'assistant', content: '' }));
  last.toolCalls ??= [];
  const args = item.type === 'custom_tool_call' ? { input: item.input } : readArgs(item.arguments, `${param}.arguments`);
  last.toolCalls.push({ id: item.call_id, tool: toModelName(item), args });
  if (kept) last.kept = kept;
}

function resultOf(
  { call_id, output: given }: CallOutputItem,
  of: CallItem | CustomCallItem | undefined,
  param: string,
): Omit<ModelMessage, 'role'> {
  if (!of) throw badRequest(`No function call with id "${call_id}" before \`${param}.call_id\`.`, `${param}.call_id`);
  const content = typeof given === 'string' ? given : plainly(partsOf(given, `${param}.output`), '\n');
  return { content, toolCallId: call_id, name: toModelName(of) };
}
