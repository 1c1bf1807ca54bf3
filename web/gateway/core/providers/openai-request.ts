import type { Part } from '#shared/rpc/records.ts';
import type { ModelMessage, ModelRequest } from './provider.ts';

/** MIME types beside `text/*` whose bytes are text. */
const TEXT_TYPES = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|x-sh|sql|x-ndjson)\b)|\+(json|xml)\b/;

type ContentPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

function decodeText(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}

function fileNote(name: string, mimeType: string, data: string): string {
  if (TEXT_TYPES.test(mimeType)) return `File ${name}:\n\n${decodeText(data)}`;
  return `[The file ${name} (${mimeType}, ${Math.floor((data.length * 3) / 4)} bytes) is attached; its content is not text and is not shown.]`;
}

function contentPart(part: Part): ContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
    case 'file':
      return { type: 'text', text: fileNote(part.filename, part.mimeType, part.data) };
  }
}

/** The text of a message's content; pictures leave nothing. */
export function plainText(content: string | readonly Part[]): string {
  if (typeof content === 'string') return content;
  return content
    .flatMap((part) =>
      part.type === 'image' ? [] : part.type === 'text' ? [part.text] : [fileNote(part.filename, part.mimeType, part.data)],
    )
    .join('\n\n');
}

function chatMessage(message: ModelMessage): Record<string, unknown> {
  const { role, content } = message;
  switch (role) {
    case 'user': {
      // Many servers take parts only with models that see; a plain string is what all of them take.
      const plain = typeof content === 'string' || !content.some((part) => part.type === 'image');
      return { role, content: plain ? plainText(content) : content.map(contentPart) };
    }
    case 'assistant': {
      const text = plainText(content);
      if (!message.toolCalls?.length) return { role, content: text };
      const calls = message.toolCalls.map(({ id, tool, args }) => ({
        id,
        type: 'function',
        function: { name: tool, arguments: JSON.stringify(args) },
      }));
      return { role, content: text === '' ? null : text, tool_calls: calls };
    }
    case 'tool':
      return { role, content: plainText(content), tool_call_id: message.toolCallId ?? '' };
    case 'system':
      return { role, content: plainText(content) };
  }
}

/** The body of `POST /chat/completions`, streaming, with the usage asked for. */
export function chatBody(request: ModelRequest): Record<string, unknown> {
  const body: Record<string, unknown> = {
    model: request.model,
    messages: request.messages.map(chatMessage),
    stream: true,
    stream_options: { include_usage: true },
  };
  if (request.temperature !== undefined) body['temperature'] = request.temperature;
  if (request.maxTokens !== undefined) body['max_tokens'] = request.maxTokens;
  if (request.tools?.length) {
    body['tools'] = request.tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    }));
  }
  return body;
}

/**
 * Servers differ in what they take: older ones refuse `stream_options`, newer models want `max_completion_tokens` and no temperature. Given
 * the refusal, the body without what was refused, or undefined where that is not the reason.
 */
export function adaptBody(body: Record<string, unknown>, refusal: string): Record<string, unknown> | undefined {
  const { stream_options, max_tokens, temperature, ...rest } = body;
  if (stream_options !== undefined && refusal.includes('stream_options')) return { ...rest, ...given({ max_tokens, temperature }) };
  if (max_tokens !== undefined && refusal.includes('max_completion_tokens')) {
    return { ...rest, ...given({ stream_options, temperature }), max_completion_tokens: max_tokens };
  }
  if (temperature !== undefined && /temperature/.test(refusal) && /unsupported|not support/i.test(refusal)) {
    return { ...rest, ...given({ stream_options, max_tokens }) };
  }
  return undefined;
}

function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
