import type { MessagePart } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ModelMessage } from '../../../providers/provider.ts';
import type { ProviderState } from '../../../storage/records/provider-state.ts';
import { parseCallArgs, readContentPart } from '../chat-request.ts';
import { badRequest } from '../http-error.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { toSource } from '../../../agent/trust/content-sources.ts';
import { isSummary, readCompaction } from './compaction-item.ts';
import type { CallItem, CallOutputItem, ContentPart, CustomCallItem, Item, MessageItem } from '../../../storage/records/response-record.ts';
import { toModelName } from './response-tools.ts';
import { unsealState } from './sealed-state.ts';
import { parseHttpParams } from '../parse-http-params.ts';

type FieldPath = readonly (string | number)[];

const itemHead = z.looseObject({ type: z.string().nullish(), role: z.unknown().optional(), id: z.string().max(200).nullish() });
const partSchema = z.looseObject({ type: z.string() });
const messageSchema = z.looseObject({
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([z.string(), z.array(z.unknown())], 'must be a string or an array of content parts'),
});
const callFields = { call_id: z.string().min(1).max(200), name: z.string().min(1).max(200), namespace: z.string().max(200).nullish() };
const callSchema = z.looseObject({ ...callFields, arguments: z.string() });
const customCallSchema = z.looseObject({ ...callFields, input: z.string() });
const outputSchema = z.looseObject({
  call_id: z.string().min(1).max(200),
  output: z.union([z.string(), z.array(z.unknown())], 'must be a string or an array of content parts'),
});
const compactionSchema = z.looseObject({ encrypted_content: z.string() });
const reasoningSchema = z.looseObject({ encrypted_content: z.string().nullish() });
const PART_SCHEMAS = {
  text: z.looseObject({ text: z.string() }),
  refusal: z.looseObject({ refusal: z.string() }),
  image: z.looseObject({ image_url: z.string('must be a data URL, or `file_id` of an uploaded file'), detail: z.string().nullish() }),
  file: z.looseObject({
    filename: z.string().max(500).nullish(),
    file_data: z.string('must be a data URL, or `file_id` of an uploaded file'),
  }),
};

/** Formats a path for an error, as `input[0].content[1]`. */
const formatPath = (path: FieldPath): string =>
  path.reduce<string>((name, key) => (typeof key === 'number' ? `${name}[${key}]` : name === '' ? key : `${name}.${key}`), '');

/** Finds the item of a reference; undefined if it does not exist or belongs to another principal. */
export type FindItem = (id: string) => Promise<Item | undefined>;

/** Reads `input`. `createItemId` creates the items' ids. Throws a 400 that names an invalid value or reference. */
export async function readInput(
  input: string | readonly unknown[],
  createItemId: (prefix: string, index: number) => string,
  find: FindItem,
  ignored: IgnoredFields,
): Promise<Item[]> {
  if (typeof input === 'string') return [createUserMessage(createItemId('msg', 0), [{ type: 'input_text', text: input }])];
  const items: Item[] = [];
  // Sequentially: concurrent errors of 100,000 items would exhaust the memory.
  for (const [index, value] of input.entries()) {
    const item = await readItem(value, ['input', index], { createItemId: (prefix) => createItemId(prefix, index), find, ignored });
    if (item) items.push(item);
  }
  return items;
}

const createUserMessage = (id: string, content: ContentPart[]): MessageItem => ({
  type: 'message',
  id,
  role: 'user',
  status: 'completed',
  content,
});

const toCallName = ({ call_id, name, namespace }: { call_id: string; name: string; namespace?: string | null | undefined }) => ({
  ...{ call_id, name },
  ...(namespace == null ? {} : { namespace }),
});

interface ReadContext {
  createItemId: (prefix: string) => string;
  find: FindItem;
  ignored: IgnoredFields;
}

/** Undefined for an item that is ignored. */
async function readItem(value: unknown, path: FieldPath, { createItemId, find, ignored }: ReadContext): Promise<Item | undefined> {
  const parsedHead = parseHttpParams(itemHead, value, path);
  const type = parsedHead.type ?? (parsedHead.role === undefined ? 'item_reference' : 'message');
  switch (type) {
    case 'message': {
      const { role, content } = parseHttpParams(messageSchema, value, path);
      const parts = typeof content === 'string' ? [content] : content;
      return {
        type,
        id: createItemId('msg'),
        role,
        status: 'completed',
        content: parts.map((part, i) => readContent(part, role, [...path, 'content', i])),
      };
    }
    case 'function_call': {
      const parsed = parseHttpParams(callSchema, value, path);
      return { type, id: createItemId('fc'), ...toCallName(parsed), arguments: parsed.arguments, status: 'completed' };
    }
    case 'custom_tool_call': {
      const parsed = parseHttpParams(customCallSchema, value, path);
      return { type, id: createItemId('ctc'), ...toCallName(parsed), input: parsed.input, status: 'completed' };
    }
    case 'custom_tool_call_output':
    case 'function_call_output': {
      const parsed = parseHttpParams(outputSchema, value, path);
      const outputContent =
        typeof parsed.output === 'string' ? parsed.output : parsed.output.map((each, i) => readOutput(each, [...path, 'output', i]));
      return { type, id: createItemId('fco'), call_id: parsed.call_id, output: outputContent, status: 'completed' };
    }
    case 'reasoning':
      // Earlier thoughts are not sent to the model again, except for data that its provider requires back.
      return { type, id: createItemId('rs'), summary: [], content: [], status: 'completed', ...readSealed(value, path, ignored) };
    case 'compaction': {
      const summaryMessage = readCompaction(createItemId('msg'), parseHttpParams(compactionSchema, value, path).encrypted_content);
      // Created by another server.
      if (!summaryMessage) ignored.add(formatPath(path));
      return summaryMessage;
    }
    case 'item_reference': {
      const param = formatPath([...path, 'id']);
      if (parsedHead.id == null) throw badRequest(`\`${param}\` is required.`, param);
      const found = await find(parsedHead.id);
      if (!found) throw badRequest(`No stored item with id "${parsedHead.id}" (\`${param}\`).`, param);
      return found;
    }
    default:
      // Items of tools that this server lacks.
      ignored.add(formatPath(path));
      return undefined;
  }
}

function readSealed(value: unknown, path: FieldPath, ignored: IgnoredFields): { encrypted_content?: string } {
  const { encrypted_content: sealedState } = parseHttpParams(reasoningSchema, value, path);
  if (sealedState == null) return {};
  if (unsealState(sealedState)) return { encrypted_content: sealedState };
  // Created by another server, before the client changed the model.
  ignored.add(formatPath([...path, 'encrypted_content']));
  return {};
}

/** A part of a tool's output: the same types as a user's content, but none of the model's. */
function readOutput(value: unknown, path: FieldPath): ContentPart {
  const { type } = parseHttpParams(partSchema, value, path);
  if (type.startsWith('input_')) return readContent(value, 'user', path);
  const param = formatPath([...path, 'type']);
  throw badRequest(`\`${param}\` must be text, an image or a file.`, param);
}

function readContent(value: unknown, role: MessageItem['role'], path: FieldPath): ContentPart {
  const isAssistant = role === 'assistant';
  const text = (plainText: string): ContentPart =>
    isAssistant ? { type: 'output_text', text: plainText, annotations: [], logprobs: [] } : { type: 'input_text', text: plainText };
  if (typeof value === 'string') return text(value);
  const { type } = parseHttpParams(partSchema, value, path);
  if (type === 'input_text' || type === 'output_text' || type === 'text') return text(parseHttpParams(PART_SCHEMAS.text, value, path).text);
  if (type === 'refusal') {
    const refusalText = parseHttpParams(PART_SCHEMAS.refusal, value, path).refusal;
    return isAssistant ? { type, refusal: refusalText } : text(refusalText);
  }
  const param = formatPath(path);
  if (type !== 'input_image' && type !== 'input_file') throw badRequest(`Unsupported content type (\`${param}.type\`).`, `${param}.type`);
  if (role !== 'user') throw badRequest(`\`${param}\` must be text. Images and files are only allowed in user messages.`, param);
  const contentPart: ContentPart =
    type === 'input_image'
      ? (({ image_url, detail }) => ({ type, image_url, detail: detail ?? 'auto' }))(parseHttpParams(PART_SCHEMAS.image, value, path))
      : (({ filename, file_data }) => ({ type, filename: filename ?? 'file', file_data }))(parseHttpParams(PART_SCHEMAS.file, value, path));
  toPart(contentPart, param);
  return contentPart;
}

/** Converts a part for a provider. Throws a 400 that names `param` if its data is invalid. */
function toPart(contentPart: ContentPart, param: string): MessagePart {
  switch (contentPart.type) {
    case 'input_image':
      return readContentPart({ type: 'image_url', image_url: contentPart.image_url }, param);
    case 'input_file':
      return readContentPart({ type: 'file', file: { filename: contentPart.filename, file_data: contentPart.file_data } }, param);
    case 'refusal':
      return { type: 'text', text: contentPart.refusal };
    default:
      return { type: 'text', text: contentPart.text };
  }
}

/** An item with its origin, for errors. */
export interface ItemEntry {
  item: Item;
  param: string;
  /** Data that the provider requires back with this call. */
  kept?: ProviderState | undefined;
}

/**
 * Converts the conversation to messages. Throws a 400 for outputs without calls and, if the model answers, for calls without outputs.
 */
export function toMessages(entries: readonly ItemEntry[], isAnswered = true): ModelMessage[] {
  const messages: ModelMessage[] = [];
  /** Calls without an output so far. */
  const openCalls = new Map<string, CallItem | CustomCallItem>();
  let sealedState: ProviderState | undefined;
  for (const { item, param, kept } of entries) {
    if (item.type === 'message') {
      addMessage(messages, item, param);
      if (item.role === 'user') sealedState = undefined;
    } else if (item.type === 'reasoning')
      sealedState = item.encrypted_content === undefined ? sealedState : unsealState(item.encrypted_content);
    else if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      addCall(messages, item, param, kept ?? sealedState);
      sealedState = undefined;
      openCalls.set(item.call_id, item);
    } else if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      messages.push({ role: 'tool', ...toToolResult(item, openCalls.get(item.call_id), param) });
      openCalls.delete(item.call_id);
    }
  }
  if (!isAnswered) return messages;
  const [first] = openCalls.keys();
  if (first !== undefined) throw badRequest(`\`input\` has no output for the function call "${first}".`, 'input');
  if (!messages.some(({ role }) => role !== 'system'))
    throw badRequest('`input` must include at least one message to respond to.', 'input');
  return messages;
}

const toParts = (content: readonly ContentPart[], param: string): MessagePart[] => content.map((part, i) => toPart(part, `${param}[${i}]`));
/** A plain string, which every server accepts, if there is only text. */
const toPlainContent = (parts: MessagePart[], separator: string): string | MessagePart[] =>
  parts.every(({ type }) => type === 'text') ? joinText(parts, separator) : parts;

function addMessage(messages: ModelMessage[], { role, content }: MessageItem, param: string): void {
  const parts = toParts(content, `${param}.content`);
  const last = messages.at(-1);
  if (role === 'user')
    messages.push({
      role,
      content: toPlainContent(parts, ''),
      ...(isSummary(content) ? { outside: [toSource('program', 'a summary')] } : {}),
    });
  else if (role === 'assistant' && last?.role === 'assistant' && last.toolCalls) {
    // Merges text into the message with its calls. Lists would be copied again for each of thousands of texts.
    const [before, text] = [getContentText(last.content), joinText(parts)];
    last.content = before === '' || text === '' ? before + text : `${before}\n\n${text}`;
  } else messages.push({ role: role === 'developer' ? 'system' : role, content: joinText(parts) });
}

const getContentText = (content: string | readonly MessagePart[]): string => (typeof content === 'string' ? content : joinText(content));
const joinText = (parts: readonly MessagePart[], separator = ''): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join(separator);

function addCall(messages: ModelMessage[], item: CallItem | CustomCallItem, param: string, kept: ProviderState | undefined): void {
  let last = messages.at(-1);
  if (last?.role !== 'assistant') messages.push((last = { role: 'assistant', content: '' }));
  last.toolCalls ??= [];
  const args = item.type === 'custom_tool_call' ? { input: item.input } : parseCallArgs(item.arguments, `${param}.arguments`);
  last.toolCalls.push({ id: item.call_id, tool: toModelName(item), args });
  if (kept) last.kept = kept;
}

function toToolResult(
  { call_id, output: outputValue }: CallOutputItem,
  callItem: CallItem | CustomCallItem | undefined,
  param: string,
): Omit<ModelMessage, 'role'> {
  if (!callItem) throw badRequest(`No function call with id "${call_id}" before \`${param}.call_id\`.`, `${param}.call_id`);
  const content = typeof outputValue === 'string' ? outputValue : toPlainContent(toParts(outputValue, `${param}.output`), '\n');
  return { content, toolCallId: call_id, name: toModelName(callItem) };
}
