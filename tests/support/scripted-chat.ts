import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { writeSse } from '#shared/http/sse.ts';

interface ChatBody {
  model: string;
  stream?: boolean;
  messages: { role: string; content: unknown }[];
  tools?: unknown[];
}

export interface ScriptedChat extends AsyncDisposable {
  /** Base URL with `/v1`. */
  url: string;
  requests: ChatBody[];
  /** The model's next answer. */
  script(body: ChatBody): { text: string } | { tool: string; input: Record<string, unknown> };
}

/** A scripted server of the chat-completions format, with tools. */
export async function startScriptedChat(): Promise<ScriptedChat> {
  const requests: ChatBody[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') return void response.setHeader('content-type', 'application/json').end('{"data":[{"id":"model"}]}');
    const body = (await json(request)) as ChatBody;
    requests.push(body);
    const turn = server.script(body);
    const head = { id: `chatcmpl-${requests.length}`, created: 1_700_000_000, model: body.model };
    const called = 'tool' in turn && [
      { index: 0, id: `call_${requests.length}`, type: 'function', function: { name: turn.tool, arguments: JSON.stringify(turn.input) } },
    ];
    const message = { role: 'assistant', ...('text' in turn ? { content: turn.text } : { content: null, tool_calls: called }) };
    const finish_reason = called ? 'tool_calls' : 'stop';
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    if (!body.stream) {
      const body = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage };
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (delta: object, finish: string | null): string =>
      writeSse(JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] }));
    response.write(chunk(message, null) + chunk({}, finish_reason));
    response.end(writeSse(JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })) + writeSse('[DONE]'));
  };
  const listener = createServer((request, response) => {
    response.on('error', () => {});
    answer(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const server: ScriptedChat = {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/v1`,
    requests,
    script: () => ({ text: 'Hello' }),
    async [Symbol.asyncDispose]() {
      listener.closeAllConnections();
      listener.close();
      await once(listener, 'close');
    },
  };
  return server;
}
