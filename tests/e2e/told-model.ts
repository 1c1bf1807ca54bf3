import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

/** A provider whose one model, `told`, answers what a test says, when it says it. */
export interface ToldModel extends AsyncDisposable {
  /** Base URL with `/v1`. */
  readonly url: string;
  /** The next answer, whole; with its usage as the server of OpenAI tells it, where that is given. */
  answer(text: string, usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number }): void;
  /** The next answer, piece by piece: `more` resolves once the piece is on its way. */
  begin(): { think(text: string): Promise<void>; more(text: string): Promise<void>; end(): Promise<void> };
  /** Cuts all its connections. */
  hangUp(): void;
}

const chunk = (delta: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const END = `${chunk({}, 'stop')}data: [DONE]\n\n`;

/** `listed`: what its server tells of it, beside its name. */
export async function startToldModel(listed: object = {}): Promise<ToldModel> {
  const answers: ((response: ServerResponse) => void)[] = [];
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/models'))
      return response.end(JSON.stringify({ object: 'list', data: [{ id: 'told', object: 'model', ...listed }] }));
    response.setHeader('content-type', 'text/event-stream');
    return (answers.shift() ?? ((asked) => asked.end(END)))(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`,
    answer(text, usage) {
      const told = usage ? `data: ${JSON.stringify({ choices: [], usage })}\n\n` : '';
      answers.push((response) => response.end(`${chunk({ content: text })}${chunk({}, 'stop')}${told}data: [DONE]\n\n`));
    },
    begin() {
      const { promise, resolve } = Promise.withResolvers<ServerResponse>();
      answers.push(resolve);
      return {
        async think(text) {
          (await promise).write(chunk({ reasoning_content: text }));
        },
        async more(text) {
          (await promise).write(chunk({ content: text }));
        },
        async end() {
          (await promise).end(END);
        },
      };
    },
    hangUp() {
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await Promise.resolve();
    },
  };
}
