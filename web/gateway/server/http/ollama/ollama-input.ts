import type { MessagePart, ToolCall } from '#shared/rpc/record-schemas.ts';
import type { ModelMessage } from '../../../providers/provider.ts';
import { toSource } from '../../../agent/trust/content-sources.ts';
import { parseCallArgs, readContentPart } from '../chat-request.ts';
import type { OllamaMessage } from './ollama-request.ts';

/** Base64 prefixes of image formats: Ollama's clients send no type. */
const IMAGE_PREFIXES: readonly [start: string, mimeType: string][] = [
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

function readImage(data: string, path: string): MessagePart {
  if (data.startsWith('data:')) return readContentPart({ type: 'image_url', image_url: data }, path);
  const mimeType = IMAGE_PREFIXES.find(([start]) => data.startsWith(start))?.[1] ?? 'image/png';
  return readContentPart({ type: 'image_url', image_url: `data:${mimeType};base64,${data}` }, path);
}

export function withImages(text: string, images: readonly string[], path: string): ModelMessage['content'] {
  if (images.length === 0) return text;
  const pictures = images.map((image, index) => readImage(image, `${path}[${index}]`));
  return text === '' ? pictures : [{ type: 'text', text }, ...pictures];
}

/**
 * Reads a conversation. Calls of older clients have no ids, and their results name at most the tool: a result belongs to the first matching
 * call without one. Throws a 400 that names the invalid value.
 */
export function readOllamaMessages(messages: readonly OllamaMessage[]): ModelMessage[] {
  let openCalls: ToolCall[] = [];
  let count = 0;
  return messages.map(({ role, content, images, tool_calls, tool_name, name, tool_call_id }, index): ModelMessage => {
    const path = `messages[${index}]`;
    const text = content ?? '';
    if (role === 'assistant') {
      const calls = (tool_calls ?? []).map(({ id, function: called }, i): ToolCall => {
        const { arguments: callArguments } = called;
        const args =
          typeof callArguments === 'string'
            ? parseCallArgs(callArguments, `${path}.tool_calls[${i}].function.arguments`)
            : (callArguments ?? {});
        return { id: id || `call_${count++}`, tool: called.name, args };
      });
      openCalls = calls;
      return { role, content: text, ...(calls.length > 0 ? { toolCalls: calls } : {}) };
    }
    if (role !== 'tool') return { role, content: withImages(text, images ?? [], `${path}.images`) };
    const tool = tool_name ?? name ?? undefined;
    const call =
      openCalls.find(({ id }) => id === tool_call_id) ??
      openCalls.find((openCall) => tool === undefined || openCall.tool === tool) ??
      openCalls.at(0);
    openCalls = openCalls.filter((openCall) => openCall !== call);
    // Without a call, other vendors would reject it as a result.
    if (!call)
      return { role: 'user', content: `Result of ${tool ?? 'a tool'}:\n${text}`, outside: [toSource('program', tool ?? 'a tool')] };
    return { role, content: withImages(text, images ?? [], `${path}.images`), toolCallId: call.id, name: call.tool };
  });
}
