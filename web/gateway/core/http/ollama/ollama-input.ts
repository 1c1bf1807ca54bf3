import type { Part, ToolCall } from '#shared/rpc/records.ts';
import type { ModelMessage } from '../../providers/provider.ts';
import { toSource } from '../../trust/sources.ts';
import { readArgs, readPart } from '../chat-request.ts';
import type { OllamaMessage } from './ollama-request.ts';

/** Base64 prefixes of image formats: Ollama's clients send no type. */
const PICTURES: readonly [start: string, mimeType: string][] = [
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

function readImage(data: string, at: string): Part {
  if (data.startsWith('data:')) return readPart({ type: 'image_url', image_url: data }, at);
  const mimeType = PICTURES.find(([start]) => data.startsWith(start))?.[1] ?? 'image/png';
  return readPart({ type: 'image_url', image_url: `data:${mimeType};base64,${data}` }, at);
}

export function withImages(text: string, images: readonly string[], at: string): ModelMessage['content'] {
  if (images.length === 0) return text;
  const pictures = images.map((image, index) => readImage(image, `${at}[${index}]`));
  return text === '' ? pictures : [{ type: 'text', text }, ...pictures];
}

/**
 * Reads a conversation. Calls of older clients have no ids, and their results name at most the tool: a result belongs to the first matching
 * call without one. Throws a 400 that names the invalid value.
 */
export function readOllamaMessages(messages: readonly OllamaMessage[]): ModelMessage[] {
  let open: ToolCall[] = [];
  let count = 0;
  return messages.map(({ role, content, images, tool_calls, tool_name, name, tool_call_id }, index): ModelMessage => {
    const at = `messages[${index}]`;
    const text = content ?? '';
    if (role === 'assistant') {
      const calls = (tool_calls ?? []).map(({ id, function: called }, i): ToolCall => {
        const { arguments: given } = called;
        const args = typeof given === 'string' ? readArgs(given, `${at}.tool_calls[${i}].function.arguments`) : (given ?? {});
        return { id: id || `call_${count++}`, tool: called.name, args };
      });
      open = calls;
      return { role, content: text, ...(calls.length > 0 ? { toolCalls: calls } : {}) };
    }
    if (role !== 'tool') return { role, content: withImages(text, images ?? [], `${at}.images`) };
    const tool = tool_name ?? name ?? undefined;
    const call = open.find(({ id }) => id === tool_call_id) ?? open.find((each) => tool === undefined || each.tool === tool) ?? open.at(0);
    open = open.filter((each) => each !== call);
    // Without a call, other vendors would reject it as a result.
    if (!call)
      return { role: 'user', content: `Result of ${tool ?? 'a tool'}:\n${text}`, outside: [toSource('program', tool ?? 'a tool')] };
    return { role, content: withImages(text, images ?? [], `${at}.images`), toolCallId: call.id, name: call.tool };
  });
}
