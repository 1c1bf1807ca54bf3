// A model server that costs next to nothing: its answers are bytes made beforehand. `deltas-<n>` streams n deltas; tells the parent
// when the first byte of each went out, by the machine's monotonic clock.
import { createServer, type ServerResponse } from 'node:http';
import { monotonic } from '../stats.ts';
import { serve } from './serve.ts';

const head = { id: 'chatcmpl-bench', created: 1_700_000_000, model: 'bench' };
const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const message = { role: 'assistant', content: 'The quick brown fox jumps over the lazy dog.', refusal: null };
const WHOLE = Buffer.from(
  JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: USAGE,
  }),
);
const MODELS = Buffer.from(
  JSON.stringify({ object: 'list', data: [{ id: 'whole', object: 'model', created: 1_700_000_000, owned_by: 'bench' }] }),
);

const event = (delta: object, finish: string | null, extra: object = {}): string =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...extra })}\n\n`;

/** Deltas of one write: a network chunk of about 16 KB. */
const PER_WRITE = 100;
const streams = new Map<number, Buffer[]>();

function bytesOf(count: number): Buffer[] {
  let parts = streams.get(count);
  if (parts) return parts;
  const events = [...Array(count).keys()].map((i) => event({ content: `w${i} ` }, null));
  events[0] = event({ role: 'assistant', content: '' }, null) + (events[0] ?? '');
  parts = [];
  for (let at = 0; at < count; at += PER_WRITE) parts.push(Buffer.from(events.slice(at, at + PER_WRITE).join('')));
  parts.push(Buffer.from(`${event({}, 'stop', { usage: USAGE })}data: [DONE]\n\n`));
  streams.set(count, parts);
  return parts;
}

async function stream(response: ServerResponse, count: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  process.send?.({ count, at: monotonic() });
  const wake = { up: (): void => {} };
  response.on('drain', () => wake.up()).on('close', () => wake.up());
  for (const part of bytesOf(count)) {
    if (response.destroyed) return;
    if (!response.write(part)) await new Promise<void>((drained) => (wake.up = drained));
  }
  response.end();
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'GET')
      return response.writeHead(200, { 'content-type': 'application/json', 'content-length': MODELS.byteLength }).end(MODELS);
    const count = /"deltas-(\d+)"/.exec(Buffer.concat(chunks).toString())?.[1];
    if (count !== undefined) return void stream(response, Number(count));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': WHOLE.byteLength }).end(WHOLE);
  });
});
server.keepAliveTimeout = 60_000;
serve(server);
