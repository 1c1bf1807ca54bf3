// A model server that writes Markdown with all kinds of blocks at 200 tokens per second.
import { createServer } from 'node:http';
import { listenForParent } from './serve.ts';

const TOKEN_COUNT = [
  'Some **bold** words, `code` and a [link](https://example.com) in a sentence that goes on.\n\n',
  '- an item\n- another, with *stress*\n\n',
  '```ts\nconst answer = 42;\nfor (const part of parts) console.log(part, answer);\n```\n\n',
  '| name | value |\n| --- | --- |\n| one | 1 |\n| two | 2 |\n\n',
]
  .join('')
  .split(/(?<=\s)/);
const TOKENS_PER_TICK = 2;
const TICK_MS = 10;

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const server = createServer((request, response) => {
  if (request.url?.endsWith('/models')) return response.end(JSON.stringify({ object: 'list', data: [{ id: 'writer', object: 'model' }] }));
  // Perch also asks for details of a model, by paths that other servers have.
  if (request.method !== 'POST' || !request.url?.endsWith('/chat/completions')) return response.writeHead(404).end();
  let body = '';
  request.on('data', (part: Buffer) => (body += part.toString()));
  request.on('end', () => {
    const { model } = JSON.parse(body) as { model: string };
    response.setHeader('content-type', 'text/event-stream');
    const end = `${chunk({}, 'stop')}data: [DONE]\n\n`;
    // `short` answers at once; `writer-<n>` writes n tokens.
    const count = Number(/^writer-(\d+)$/.exec(model)?.[1] ?? 0);
    if (count === 0) return response.end(chunk({ content: 'A short answer, as it is.' }, null) + end);
    let sent = 0;
    const ticks = setInterval(() => {
      for (let i = 0; i < TOKENS_PER_TICK; i++) response.write(chunk({ content: TOKEN_COUNT[sent++ % TOKEN_COUNT.length] }, null));
      if (sent < count) return;
      clearInterval(ticks);
      response.end(end);
    }, TICK_MS);
    response.on('close', () => clearInterval(ticks));
  });
});
listenForParent(server);
