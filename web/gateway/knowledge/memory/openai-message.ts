import type { MessagePart, ToolCall } from '#shared/rpc/record-schemas.ts';
import type { MemoryMessage } from './memory-message.ts';

/** A content part of a message of OpenAI's APIs. Memory keeps text, and pictures that carry their data. */
export interface OpenAiPart {
  readonly type: string;
  readonly text?: string | undefined;
  readonly refusal?: string | undefined;
  readonly image_url?: string | { readonly url: string } | undefined;
}

/** A tool call of OpenAI's chat completions. */
export interface OpenAiToolCall {
  readonly id: string;
  readonly type?: string | undefined;
  readonly function?: { readonly name: string; readonly arguments: string } | undefined;
  readonly custom?: { readonly name: string; readonly input: string } | undefined;
}

/** A message of OpenAI's chat completions, with an optional id and time. */
export interface OpenAiMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function';
  content?: string | null | readonly OpenAiPart[] | undefined;
  refusal?: string | null | undefined;
  name?: string | undefined;
  tool_calls?: readonly OpenAiToolCall[] | null | undefined;
  tool_call_id?: string | undefined;
  id?: string | undefined;
  /** Milliseconds since the Unix epoch. */
  timestamp?: number | undefined;
}

/** A message in any shape that memory accepts. */
export type GivenMessage = MemoryMessage | OpenAiMessage;

interface Conversion {
  message: MemoryMessage;
  from: Pick<OpenAiMessage, 'content' | 'tool_calls'>;
}

/** Cache of conversions, so that the same input always yields the same object. */
const conversions = new WeakMap<object, Conversion>();

/** Converts a message to memory's shape. An invalid one is returned as it is, for the later check to report. */
export function toMemoryMessage(input: GivenMessage): MemoryMessage {
  if (!isOpenAi(input)) return input;
  const { content, tool_calls } = input;
  const cached = conversions.get(input);
  if (cached && cached.from.content === content && cached.from.tool_calls === tool_calls) return cached.message;
  const message = fromOpenAi(input);
  conversions.set(input, { message, from: { content, tool_calls } });
  return message;
}

/** Returns a message with other content, in the shape of the original. */
export function withContent<M extends GivenMessage>(original: M, content: MemoryMessage['content']): M {
  if (!isOpenAi(original) || !Array.isArray(original.content)) return { ...original, content };
  const parts: readonly OpenAiPart[] = original.content;
  const texts = typeof content === 'string' ? [{ type: 'text', text: content }] : content.filter(({ type }) => type === 'text');
  return { ...original, content: [...texts, ...parts.filter((part) => getPartText(part) === undefined)] };
}

const OWN_PARTS = ['text', 'image', 'file'];

/** Whether a message has a member that only OpenAI's shape has. */
function isOpenAi(input: GivenMessage): input is OpenAiMessage {
  if (typeof input !== 'object' || input === null) return false;
  if (input.role === 'developer' || input.role === 'function' || 'tool_calls' in input || 'tool_call_id' in input) return true;
  const { content } = input;
  if (input.role === 'assistant' && (content === null || content === undefined)) return true;
  return (
    Array.isArray(content) &&
    content.some((part: unknown) => isObject(part) && (!OWN_PARTS.includes(String(part.type)) || isObject(part.file)))
  );
}

function fromOpenAi(input: OpenAiMessage & Partial<Pick<MemoryMessage, 'toolCalls' | 'toolCallId'>>): MemoryMessage {
  const { role, content, refusal, name, id, timestamp } = input;
  const toolCalls = input.tool_calls?.map(toToolCall) ?? input.toolCalls;
  const toolCallId = input.tool_call_id ?? input.toolCallId;
  return {
    role: role === 'developer' ? 'system' : role === 'function' ? 'tool' : role,
    content: typeof content === 'string' ? content : (content?.map(toPart) ?? refusal ?? ''),
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
    ...(timestamp !== undefined && { timestamp }),
    ...(toolCalls !== undefined && { toolCalls }),
    ...(toolCallId !== undefined && { toolCallId }),
  };
}

function toPart(part: OpenAiPart): MessagePart {
  const text = getPartText(part);
  if (text !== undefined) return { type: 'text', text };
  const { image_url } = part;
  const url = typeof image_url === 'string' ? image_url : image_url?.url;
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url ?? '') ?? [];
  if (mimeType !== undefined && data !== undefined) return { type: 'image', mimeType, data };
  // Only the reference is kept: memory does not read files outside its workspace.
  return { type: 'text', text: `[${url === undefined ? part.type : `image ${url}`}]` };
}

/** The text of a part; undefined if it has none. */
export const getPartText = ({ text, refusal }: OpenAiPart): string | undefined => text ?? refusal;

function toToolCall({ id, function: call, custom }: OpenAiToolCall): ToolCall {
  if (custom) return { id, tool: custom.name, args: { input: custom.input } };
  return { id, tool: call?.name ?? '', args: toArguments(call?.arguments ?? '') };
}

/** Parses tool arguments as an object; anything else is kept as text. */
function toArguments(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Models may produce malformed JSON.
  }
  return { arguments: text };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
