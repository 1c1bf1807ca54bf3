import { parseJson } from '#shared/parse-json.ts';
import { messagePart, toolCall } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { formatZodError } from '../format-zod-error.ts';
import { computeContentId } from '../content-id.ts';
import { type MemoryMessage, getText } from '../memory-message.ts';

const dialogLine = z.object({
  session_key: z.string().default(''),
  id: z.string().optional(),
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  name: z.string().optional(),
  content: z.union([z.string(), z.array(messagePart)]),
  timestamp: z.number().optional(),
  tool_calls: z.array(toolCall).optional(),
  tool_call_id: z.string().optional(),
});

/** Throws a TypeError that names the first invalid message, whose line could not be parsed again. */
export function assertMessages(messages: readonly MemoryMessage[]): void {
  for (const [index, { content, toolCalls, ...message }] of messages.entries()) {
    // An invalid timestamp is replaced by the time of writing.
    const fields = { ...message, content, timestamp: undefined, tool_calls: toolCalls, tool_call_id: message.toolCallId };
    const read = dialogLine.safeParse(fields);
    if (!read.success) throw new TypeError(`Invalid messages[${index}]: ${formatZodError(read.error)}`);
  }
}

/** A message of a session, as read from a dialog file. */
export interface DialogLine {
  sessionKey: string;
  message: MemoryMessage;
  /** Counted from 1. */
  line: number;
}

/** Formats a message as one line of `dialog/<date>.jsonl`, with a line break. */
export function formatDialogLine({ id, role, name, content, timestamp, toolCalls, toolCallId }: MemoryMessage, sessionKey: string): string {
  // Stored calls have further members, which only the chat uses.
  const calls = toolCalls?.map(({ id: callId, tool, args }) => ({ id: callId, tool, args }));
  const fields = { session_key: sessionKey, id, role, name, content, timestamp, tool_calls: calls, tool_call_id: toolCallId };
  return `${JSON.stringify(fields satisfies z.input<typeof dialogLine>)}\n`;
}

/** Parses the lines of a dialog file; `broken` are the numbers of invalid lines, such as a truncated one. */
export function parseDialog(text: string): { lines: DialogLine[]; broken: number[] } {
  const lines: DialogLine[] = [];
  const broken: number[] = [];
  for (const [index, each] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (each.trim() === '') continue;
    const read = parseLine(each);
    if (read) lines.push({ ...read, line: index + 1 });
    else broken.push(index + 1);
  }
  return { lines, broken };
}

function parseLine(text: string): Omit<DialogLine, 'line'> | undefined {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    return undefined;
  }
  const { success, data } = dialogLine.safeParse(parsed);
  if (!success) return undefined;
  const { session_key: sessionKey, tool_calls: toolCalls, tool_call_id: toolCallId, ...rest } = data;
  return { sessionKey, message: { ...rest, toolCalls, toolCallId } };
}

/** Key that identifies a message in its session; undefined if it has neither an id nor a time. */
export function toMessageKey({ id, role, timestamp, ...rest }: MemoryMessage, sessionKey: string): string | undefined {
  if (id !== undefined) return `${sessionKey}\n${id}`;
  if (timestamp === undefined) return undefined;
  return `${sessionKey}\n${timestamp} ${role} ${computeContentId(getText(rest) + JSON.stringify(rest.toolCalls ?? rest.toolCallId ?? null))}`;
}
