// A model that reads the requested pages and then replies.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenForParent } from './serve.ts';

listenForParent(
  createServer(async (request, response) => {
    if (request.url?.endsWith('/models'))
      return response.end(JSON.stringify({ object: 'list', data: [{ id: 'reader', object: 'model' }] }));
    const { messages } = (await json(request)) as { messages: { role: string; content: unknown }[] };
    const last = messages.at(-1);
    const [pages = ''] = /^[\d-]+/.exec(String(last?.content)) ?? [];
    const call = { index: 0, id: 'call', type: 'function', function: { name: 'read_pdf', arguments: JSON.stringify({ pages }) } };
    const tool = last?.role !== 'tool';
    const chunk = (delta: object, finish: string | null): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'reader', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      `${chunk(tool ? { tool_calls: [call] } : { content: 'Read.' }, null)}${chunk({}, tool ? 'tool_calls' : 'stop')}data: [DONE]\n\n`,
    );
  }),
);
