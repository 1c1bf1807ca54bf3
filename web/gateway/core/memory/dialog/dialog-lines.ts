import { parseJson } from '#shared/parse-json.ts';
import { part, toolCall } from '#shared/rpc/records.ts';
import { z } from '#shared/rpc/zod.ts';
import { complaint } from '../complaint.ts';
import { contentId } from '../content-id.ts';
import { type MemoryMessage, textOf } from '../message.ts';

const line = z.object({
  session_key: z.string().default(''),
  id: z.string().optional(),
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  name: z.string().optional(),
  content: z.union([z.string(), z.array(part)]),
  timestamp: z.number().optional(),
  tool_calls: z.array(toolCall).optional(),
  tool_call_id: z.string().optional(),
});

/** Throws a TypeError that names the first that is no message: its line could not be read again. */
export function mustBeMessages(messages: readonly MemoryMessage[]): void {
  for (const [at, { content, toolCalls, ...message }] of messages.entries()) {
    // What is no time is that of writing.
    const fields = { ...message, content, timestamp: undefined, tool_calls: toolCalls, tool_call_id: message.toolCallId };
    const read = line.safeParse(fields);
    if (!read.success) throw new TypeError(`Invalid messages[${at}]: ${complaint(read.error)}`);
  }
}

/** A message as it was said in a session. */
export interface DialogLine {
  sessionKey: string;
  message: MemoryMessage;
  /** From 1 on. */
  line: number;
}

/** One line of `dialog/<date>.jsonl`, with its end. */
export function formatDialogLine({ id, role, name, content, timestamp, toolCalls, toolCallId }: MemoryMessage, sessionKey: string): string {
  // A stored call has more, which is the chat's own.
  const calls = toolCalls?.map(({ id: callId, tool, args }) => ({ id: callId, tool, args }));
  const fields = { session_key: sessionKey, id, role, name, content, timestamp, tool_calls: calls, tool_call_id: toolCallId };
  return `${JSON.stringify(fields satisfies z.input<typeof line>)}\n`;
}

/** Reads the lines of a record; `broken` are the numbers of those that are none, such as one that was cut off. */
export function parseDialog(text: string): { lines: DialogLine[]; broken: number[] } {
  const lines: DialogLine[] = [];
  const broken: number[] = [];
  for (const [at, each] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (each.trim() === '') continue;
    const read = parsed(each);
    if (read) lines.push({ ...read, line: at + 1 });
    else broken.push(at + 1);
  }
  return { lines, broken };
}

function parsed(text: string): Omit<DialogLine, 'line'> | undefined {
  let given: unknown;
  try {
    given = parseJson(text);
  } catch {
    return undefined;
  }
  const { success, data } = line.safeParse(given);
  if (!success) return undefined;
  const { session_key: sessionKey, tool_calls: toolCalls, tool_call_id: toolCallId, ...rest } = data;
  return { sessionKey, message: { ...rest, toolCalls, toolCallId } };
}

/** What tells a message of a session from its others; undefined where it has neither an id nor a time. */
export function keyOf({ id, role, timestamp, ...rest }: MemoryMessage, sessionKey: string): string | undefined {
  if (id !== undefined) return `${sessionKey}\n${id}`;
  if (timestamp === undefined) return undefined;
  return `${sessionKey}\n${timestamp} ${role} ${contentId(textOf(rest) + JSON.stringify(rest.toolCalls ?? rest.toolCallId ?? null))}`;
}
