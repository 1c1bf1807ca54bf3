// A model server that costs next to nothing: its answers are bytes made beforehand. `deltas-<n>` streams n deltas, a hundred in a write, `writes-<n>` each in
// a write of its own, `singles-<n>` each in a packet of its own, as models do; `flood-<n>` n deltas of 4,000 characters; `paced-<n>` one every 20 ms, with the time at which it was sent; `never` and `first` answer nothing, or one event and then nothing, and tell when they are hung up on; tells the parent when the first byte of each went out, by the machine's monotonic clock.
import { createServer, type ServerResponse } from 'node:http';
import { getMonotonicTime } from '../stats.ts';
import { setImmediate } from 'node:timers/promises';
import { toMessageBytes, FULL_MESSAGE } from './messages-bytes.ts';
import { listenForParent } from './serve.ts';

const head = { id: 'chatcmpl-bench', created: 1_700_000_000, model: 'bench' };
const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const message = { role: 'assistant', content: 'The quick brown fox jumps over the lazy dog.', refusal: null };
const FULL_COMPLETION = Buffer.from(
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
const DELTAS_PER_WRITE = 100;
const FLOOD_TEXT = 'flood '.repeat(667);
const streams = new Map<string, Buffer[]>();

function toStreamBytes(count: number, perWrite: number, kind: string): Buffer[] {
  const key = `${kind}/${count}/${perWrite}`;
  let parts = streams.get(key);
  if (parts) return parts;
  const events = [...Array(count).keys()].map((i) => event({ content: kind === 'flood' ? FLOOD_TEXT : `w${i} ` }, null));
  events[0] = event({ role: 'assistant', content: '' }, null) + (events[0] ?? '');
  parts = [];
  for (let at = 0; at < count; at += perWrite) parts.push(Buffer.from(events.slice(at, at + perWrite).join('')));
  parts.push(Buffer.from(`${event({}, 'stop', { usage: USAGE })}data: [DONE]\n\n`));
  streams.set(key, parts);
  return parts;
}

/** Waits to be hung up on. */
function waitForHangUp(response: ServerResponse, first: boolean): void {
  process.send?.({ waits: true });
  response.on('close', () => process.send?.({ leftAt: getMonotonicTime() }));
  if (first) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event({ content: 'w' }, null));
}

async function writeStream(response: ServerResponse, count: number, kind: string, messages: boolean): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  process.send?.({ count, at: getMonotonicTime() });
  const waiting = { up: (): void => {} };
  response.on('drain', () => waiting.up()).on('close', () => waiting.up());
  const perWrite = kind === 'deltas' ? DELTAS_PER_WRITE : 1;
  for (const part of messages ? toMessageBytes(count, perWrite) : toStreamBytes(count, perWrite, kind)) {
    if (response.destroyed) return;
    if (!response.write(part)) await new Promise<void>((drained) => (waiting.up = drained));
    if (kind === 'singles') await setImmediate();
  }
  response.end();
}

const PACE_MS = 20;

/** Deltas such as `@12.345 `: milliseconds by the machine's monotonic clock. */
function writePacedStream(response: ServerResponse, count: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const start = getMonotonicTime();
  let sent = 0;
  const timer = setInterval(() => {
    // A late timer must write more than one delta.
    for (; sent < count && start + sent * PACE_MS <= getMonotonicTime(); sent++)
      response.write(event({ content: `@${getMonotonicTime().toFixed(3)} ` }, null));
    if (sent < count) return;
    clearInterval(timer);
    response.end(toStreamBytes(1, 1, 'paced').at(-1));
  }, PACE_MS);
  response.on('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'GET')
      return response.writeHead(200, { 'content-type': 'application/json', 'content-length': MODELS.byteLength }).end(MODELS);
    const text = Buffer.concat(chunks).toString();
    if (/"(never|first)"/.test(text)) return waitForHangUp(response, text.includes('"first"'));
    const [, kind = '', count] = /"(deltas|writes|singles|flood|paced)-(\d+)"/.exec(text) ?? [];
    if (kind === 'paced') return writePacedStream(response, Number(count));
    const messages = request.url === '/v1/messages';
    if (count !== undefined) return void writeStream(response, Number(count), kind, messages);
    const body = messages ? FULL_MESSAGE : FULL_COMPLETION;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.byteLength }).end(body);
  });
});
server.keepAliveTimeout = 60_000;
listenForParent(server);
