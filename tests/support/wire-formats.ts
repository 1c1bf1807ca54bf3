import { createClaudeResponse } from './vendors.ts';
import { type ProviderRequest, toNamedEvents, createStreamResponse, toUnnamedEvents } from './fake-provider-server.ts';

/** Response of a scripted model server: a text, or a tool call. */
export type ScriptedReply = string | { id: string; name: string; args: Record<string, unknown> };

/** Set-up, requests and responses of one kind of provider. */
interface WireFormat {
  settings: Record<string, unknown>;
  model: string;
  reply(reply: ScriptedReply): Response;
  /** Returns the tools of a request, in its own format. */
  tools(body: Record<string, unknown>): Record<string, unknown>[];
  name(tool: Record<string, unknown>): unknown;
  messages(body: Record<string, unknown>): unknown[];
}

const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? (value as Record<string, unknown>[]) : []);

const chunk = (delta: unknown, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const openAi = (settings: Record<string, unknown>, model: string): WireFormat => ({
  settings,
  model,
  reply: (reply) =>
    createStreamResponse(
      typeof reply === 'string'
        ? `${chunk({ content: reply }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`
        : `${chunk({ tool_calls: [{ index: 0, id: reply.id, type: 'function', function: { name: reply.name, arguments: JSON.stringify(reply.args) } }] }, null)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`,
    ),
  tools: ({ tools }) => list(tools),
  name: ({ function: { name } = { name: undefined } }: { function?: { name?: unknown } }) => name,
  messages: ({ messages }) => list(messages).filter(({ role }) => role !== 'system'),
});

/** Request formats of model servers. */
export const WIRE_FORMATS: Readonly<Record<string, WireFormat>> = {
  OpenAI: openAi({ kind: 'openai-compatible', baseUrl: 'https://api.openai.com/v1', apiKey: 'k' }, 'gpt-5'),
  Ollama: openAi({ kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' }, 'llama3.2'),
  Anthropic: {
    settings: { kind: 'anthropic', apiKey: 'k' },
    model: 'claude-opus-5-5',
    reply: (reply) =>
      typeof reply === 'string'
        ? createClaudeResponse({ text: reply })
        : createStreamResponse(
            toNamedEvents(
              { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
              { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: reply.id, name: reply.name, input: {} } },
              { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(reply.args) } },
              { type: 'content_block_stop', index: 0 },
              { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
              { type: 'message_stop' },
            ),
          ),
    tools: ({ tools }) => list(tools),
    name: ({ name }) => name,
    messages: ({ messages }) => list(messages),
  },
  Google: {
    settings: { kind: 'google', apiKey: 'k' },
    model: 'gemini-3.8-flash',
    reply: (reply) =>
      createStreamResponse(
        toUnnamedEvents({
          candidates: [
            {
              content: { parts: [typeof reply === 'string' ? { text: reply } : { functionCall: { name: reply.name, args: reply.args } }] },
              finishReason: 'STOP',
            },
          ],
          usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2 },
        }),
      ),
    tools: ({ tools }) => list(list(tools)[0]?.['functionDeclarations']),
    name: ({ name }) => name,
    messages: ({ contents }) => list(contents),
  },
};

/** Answers requests in a wire format one after the other, and records their bodies. */
export function createReplyHandler(
  wire: WireFormat,
  replies: readonly ScriptedReply[],
): { answer: (request: ProviderRequest) => Response; bodies: Record<string, unknown>[] } {
  const bodies: Record<string, unknown>[] = [];
  return {
    bodies,
    answer({ method, body }) {
      if (method === 'GET' || !body) return Response.json({ data: [], models: [] });
      bodies.push(body);
      return wire.reply(replies[bodies.length - 1] ?? 'Done');
    },
  };
}
