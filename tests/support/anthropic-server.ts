import { once } from 'node:events';
import { createServer } from 'node:http';
import { toNamedEvents } from './fake-provider-server.ts';

interface AnthropicServer extends AsyncDisposable {
  /** Base URL with `/v1`. */
  url: string;
}

/** A local server of the Messages API for callers with this key, including browsers; it replies `text`. */
export async function startAnthropicServer(apiKey: string, text: string): Promise<AnthropicServer> {
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
  const message = toNamedEvents(
    { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  );
  const models = { data: [{ type: 'model', id: 'claude-opus-5-5', display_name: 'Claude Opus 5.5' }], has_more: false };
  const server = createServer((req, res) => {
    const json = (status: number, value: object): void =>
      void res.writeHead(status, { 'content-type': 'application/json', ...cors }).end(JSON.stringify(value));
    if (req.method === 'OPTIONS') return json(200, {});
    if (req.headers['x-api-key'] !== apiKey || req.headers['anthropic-version'] === undefined)
      return json(401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } });
    if (req.method === 'GET') return json(200, models);
    res.writeHead(200, { 'content-type': 'text/event-stream', ...cors }).end(message);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
