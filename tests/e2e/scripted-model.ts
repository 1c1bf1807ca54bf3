import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

/** A provider whose one model, `usageChunk`, replies when and as a test says. */
export interface ScriptedModel extends AsyncDisposable {
  /** Base URL with `/v1`. */
  readonly url: string;
  /** Sends the next reply as a whole; with usage as OpenAI's server reports it, if given. */
  queueReply(
    text: string,
    usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number; prompt_tokens_details?: object },
  ): void;
  /** The next answer, piece by piece: `sendText` resolves once the piece is on its way. */
  beginReply(): StreamingReply;
  /** Cuts all its connections. */
  closeConnections(): void;
}

/** An answer that is being written. */
export interface StreamingReply {
  sendReasoning(text: string): Promise<void>;
  sendText(text: string): Promise<void>;
  /** A piece of a tool call, whose name comes with the first; the arguments are JSON. */
  sendToolCall(part: { name?: string; arguments: string }): Promise<void>;
  end(): Promise<void>;
}

const chunk = (delta: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const toEndChunks = (finish: string): string => `${chunk({}, finish)}data: [DONE]\n\n`;
const END_CHUNKS = toEndChunks('stop');

/** `listed`: further fields in its server's list of models. */
export async function startScriptedModel(listed: object = {}): Promise<ScriptedModel> {
  const answers: ((response: ServerResponse) => void)[] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/models'))
      return response.end(JSON.stringify({ object: 'list', data: [{ id: 'told', object: 'model', ...listed }] }));
    response.setHeader('content-type', 'text/event-stream');
    return (answers.shift() ?? ((asked) => asked.end(END_CHUNKS)))(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`,
    queueReply(text, usage) {
      const usageChunk = usage ? `data: ${JSON.stringify({ choices: [], usage })}\n\n` : '';
      answers.push((response) => response.end(`${chunk({ content: text })}${chunk({}, 'stop')}${usageChunk}data: [DONE]\n\n`));
    },
    beginReply() {
      const { promise, resolve } = Promise.withResolvers<ServerResponse>();
      answers.push(resolve);
      let finish = 'stop';
      return {
        async sendReasoning(text) {
          (await promise).write(chunk({ reasoning_content: text }));
        },
        async sendText(text) {
          (await promise).write(chunk({ content: text }));
        },
        async sendToolCall(part) {
          finish = 'tool_calls';
          const id = part.name === undefined ? {} : { id: `call_told_${calls++}` };
          (await promise).write(chunk({ tool_calls: [{ index: 0, ...id, function: part }] }));
        },
        async end() {
          (await promise).end(toEndChunks(finish));
        },
      };
    },
    closeConnections() {
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await Promise.resolve();
    },
  };
}
