import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A request that the upstream got. */
export interface UpstreamRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** Parsed JSON; undefined without a body. */
  body: Record<string, unknown> | undefined;
  /** The caller closed the connection before the answer was whole. */
  hungUp: boolean;
  /** Resolves when the answer is over, whichever side ended it. */
  closed: Promise<void>;
}

interface UpstreamOptions {
  /** Models in the response of `GET /v1/models`. */
  models?: string[];
  /** Wanted in `Authorization`; without it no key is asked for. */
  apiKey?: string;
  /** 0 is any free port. */
  port?: number;
}

export interface Upstream extends AsyncDisposable {
  /** Base URL with `/v1`. */
  url: string;
  port: number;
  requests: UpstreamRequest[];
  /** How the next completions behave, first in first out, whatever their model; then the model's name decides again. */
  queue: string[];
  models: string[];
  /** Resolves with the n-th completions request (from 1) once it has come. */
  request(n?: number): Promise<UpstreamRequest>;
  close(): Promise<void>;
}

export const UPSTREAM_TEXT = ['Hel', 'lo ', 'wörld', ' 漢字', ' 😀', '!'];
export const UPSTREAM_USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, prompt_tokens_details: { cached_tokens: 3 } };

/** Embedding of every text. */
export const UPSTREAM_VECTOR = [0.5, -0.25, 2];

const ID = 'chatcmpl-upstream';

interface UpstreamReply {
  model: string;
  body: Record<string, unknown>;
  res: ServerResponse;
  send(text: string): Promise<void>;
}

const toChunk = (model: string, delta: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: ID, object: 'chat.completion.chunk', created: 1_700_000_000, model, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`;

const toUsageChunk = (model: string): string =>
  `data: ${JSON.stringify({ id: ID, object: 'chat.completion.chunk', created: 1_700_000_000, model, choices: [], usage: UPSTREAM_USAGE })}\n\n`;

const DONE = 'data: [DONE]\n\n';

function toCompletion(model: string, content: string): string {
  return JSON.stringify({
    id: ID,
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage: UPSTREAM_USAGE,
  });
}

function toEmbeddings({ model, input, encoding_format: format }: Record<string, unknown>): Record<string, unknown> {
  const texts = Array.isArray(input) ? input : [input];
  const embedding = format === 'base64' ? Buffer.from(new Float32Array(UPSTREAM_VECTOR).buffer).toString('base64') : UPSTREAM_VECTOR;
  const usage = { prompt_tokens: texts.length, total_tokens: texts.length };
  return { object: 'list', model, data: texts.map((_, index) => ({ object: 'embedding', index, embedding })), usage };
}

function includesUsage(body: Record<string, unknown>): boolean {
  const options = body['stream_options'];
  return typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;
}

/** The whole of a well-behaved stream. */
function toStreamBody(model: string, body: Record<string, unknown>, pieces: readonly string[] = UPSTREAM_TEXT): string {
  const text = pieces.map((content) => toChunk(model, { content })).join('');
  return (
    toChunk(model, { role: 'assistant', content: '' }) +
    text +
    toChunk(model, {}, 'stop') +
    (includesUsage(body) ? toUsageChunk(model) : '') +
    DONE
  );
}

const sendJson = (res: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void => {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(typeof value === 'string' ? value : JSON.stringify(value));
};

const sendEvents = (res: ServerResponse): void => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
};

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Behaviour of each mode. The model's name selects it, with its argument after the last dash. */
const MODES: Record<string, (answer: UpstreamReply, argument: number) => Promise<void> | void> = {
  async normal({ model, body, res, send }) {
    if (body['stream'] !== true) return sendJson(res, 200, toCompletion(model, UPSTREAM_TEXT.join('')));
    sendEvents(res);
    await send(toStreamBody(model, body));
    res.end();
  },
  /** `slow-20`: milliseconds between chunks. */
  async slow({ model, body, res, send }, ms) {
    sendEvents(res);
    for (const part of toStreamBody(model, body).split(/(?<=\n\n)/)) {
      await send(part);
      await delay(ms || 10);
    }
    res.end();
  },
  /** Nothing at all, not even headers. */
  silent() {},
  /** Some text, then nothing. */
  async stall({ model, res, send }) {
    sendEvents(res);
    await send(toChunk(model, { role: 'assistant', content: '' }) + toChunk(model, { content: 'Hel' }));
  },
  /** All but usage and `[DONE]`, then nothing. */
  async 'stall-end'({ model, res, send }) {
    sendEvents(res);
    await send(toChunk(model, { content: 'Hello' }) + toChunk(model, {}, 'stop'));
  },
  /** Ends in the middle, politely. */
  async cut({ model, res, send }) {
    sendEvents(res);
    await send(toChunk(model, { content: 'Hel' }));
    res.end();
  },
  /** Ends within an event. */
  async 'cut-event'({ model, res, send }) {
    sendEvents(res);
    await send(toChunk(model, { content: 'Hel' }) + toChunk(model, { content: 'lo' }).slice(0, 40));
    res.end();
  },
  /** Resets the connection in the middle. */
  async reset({ model, res, send }) {
    sendEvents(res);
    await send(toChunk(model, { content: 'Hel' }));
    res.socket?.destroy();
  },
  /** Closes before any answer. */
  hangup({ res }) {
    res.socket?.destroy();
  },
  async garbage({ model, res, send }) {
    sendEvents(res);
    await send(`${toChunk(model, { content: 'Hel' })}data: }{ not json\n\n`);
    await send(toChunk(model, { content: 'lo' }) + DONE);
    res.end();
  },
  /** JSON of a form that no chunk has. */
  async odd({ model, res, send }) {
    sendEvents(res);
    await send(`${toChunk(model, { content: 'Hel' })}data: {"choices":[{"delta":{"content":5}}]}\n\n${DONE}`);
    res.end();
  },
  html({ res }) {
    res
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><html><head><title>Router login</title></head><body>Hi</body></html>');
  },
  empty({ res }) {
    sendEvents(res);
    res.end();
  },
  /** `error-429`, `error-500`, …: an error body with that status. */
  error({ res }, status) {
    const headers: Record<string, string> = status === 429 ? { 'retry-after': '1' } : {};
    sendJson(res, status || 500, { error: { message: `upstream says ${status}`, type: 'upstream', code: `e${status}` } }, headers);
  },
  /** The quota is used up: 429 that no repeating helps. */
  quota({ res }) {
    sendJson(res, 429, { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } });
  },
  'error-page'({ res }) {
    res.writeHead(502, { 'content-type': 'text/html' }).end('<html><head><title>Bad Gateway</title></head></html>');
  },
  'error-text'({ res }) {
    res.writeHead(400, { 'content-type': 'text/plain' }).end('no such thing');
  },
  /** An error object after some text. */
  async 'error-inside'({ model, res, send }) {
    sendEvents(res);
    await send(`${toChunk(model, { content: 'Hel' })}data: {"error":{"message":"out of memory","type":"server_error"}}\n\n`);
    res.end();
  },
  /** Ignores `stream`. */
  whole({ model, res }) {
    sendJson(res, 200, toCompletion(model, UPSTREAM_TEXT.join('')));
  },
  /** `split-3`: number of bytes per write. */
  async split({ model, body, res }, size) {
    sendEvents(res);
    const bytes = Buffer.from(toStreamBody(model, body).replaceAll('\n', '\r\n'));
    res.socket?.setNoDelay(true);
    for (let at = 0; at < bytes.length; at += size || 1) {
      res.write(bytes.subarray(at, at + (size || 1)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    res.end();
  },
  async tool({ model, body, res, send }) {
    const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Köln"}' } };
    if (body['stream'] !== true) {
      const choices = [
        {
          index: 0,
          message: { role: 'assistant', content: null, refusal: null, tool_calls: [call] },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ];
      return sendJson(res, 200, { id: ID, object: 'chat.completion', created: 1_700_000_000, model, choices, usage: UPSTREAM_USAGE });
    }
    sendEvents(res);
    const part = (args: string, first = false): string =>
      toChunk(model, {
        tool_calls: [
          {
            index: 0,
            ...(first ? { id: 'call_1', type: 'function' } : {}),
            function: { ...(first ? { name: 'get_weather' } : {}), arguments: args },
          },
        ],
      });
    await send(
      toChunk(model, { role: 'assistant', content: null }) +
        part('', true) +
        part('{"ci') +
        part('ty":"Köln"}') +
        toChunk(model, {}, 'tool_calls') +
        DONE,
    );
    res.end();
  },
  /** Two calls, without index, whole, and a finish that does not tell of them. */
  async 'tool-plain'({ model, res, send }) {
    sendEvents(res);
    const call = (name: string): string => toChunk(model, { content: null, tool_calls: [{ function: { name, arguments: '{}' } }] });
    await send(call('one') + call('two') + toChunk(model, {}, 'stop') + DONE);
    res.end();
  },
  async 'tool-broken'({ model, res, send }) {
    sendEvents(res);
    await send(
      toChunk(model, { tool_calls: [{ index: 0, id: 'c', function: { name: 'one', arguments: '{"a":' } }] }) +
        toChunk(model, {}, 'tool_calls') +
        DONE,
    );
    res.end();
  },
  async reasoning({ model, res, send }) {
    sendEvents(res);
    await send(
      toChunk(model, { content: null, reasoning_content: 'Hmm' }) +
        toChunk(model, { reasoning: ' so' }) +
        toChunk(model, { content: 'Yes' }, 'stop') +
        DONE,
    );
    res.end();
  },
  /** One event of more than a megabyte. */
  async huge({ model, res, send }) {
    sendEvents(res);
    await send(toChunk(model, { content: 'x'.repeat(26_500_000) }) + toChunk(model, {}, 'stop') + DONE);
    res.end();
  },
  /** `deltas-10000`: number of deltas of one word. */
  async deltas({ model, body, res, send }, count) {
    sendEvents(res);
    for (let sent = 0; sent < count; sent += 100) {
      const pieces = Array.from({ length: Math.min(100, count - sent) }, (_, i) => toChunk(model, { content: `w${sent + i} ` }));
      await send(pieces.join(''));
    }
    await send(toChunk(model, {}, 'stop') + (includesUsage(body) ? toUsageChunk(model) : '') + DONE);
    res.end();
  },
  /** `large-100`: number of deltas of 10 KB. */
  async large({ model, res, send }, count) {
    sendEvents(res);
    for (let i = 0; i < count && !res.destroyed; i++) await send(toChunk(model, { content: `${'x'.repeat(9_999)} ` }));
    await send(toChunk(model, {}, 'stop') + DONE);
    res.end();
  },
  /** Text without end, a delta every millisecond or so, until the caller leaves. */
  async endless({ model, res, send }) {
    sendEvents(res);
    for (let i = 0; !res.destroyed; i++) {
      await send(toChunk(model, { content: `w${i} ` }));
      await delay(1);
    }
  },
  /** Refuses `stream_options`. */
  async strict(answer, argument) {
    if ('stream_options' in answer.body) return sendJson(answer.res, 400, { error: { message: "Unknown field: 'stream_options'" } });
    await MODES['normal']?.(answer, argument);
  },
  /** Refuses to think. */
  async thoughtless(answer, argument) {
    if ('reasoning_effort' in answer.body) return sendJson(answer.res, 400, { error: { message: 'reasoning_effort is not supported' } });
    await MODES['normal']?.(answer, argument);
  },
  unknown({ model, res }) {
    sendJson(res, 404, { error: { message: `model '${model}' not found`, type: 'not_found_error' } });
  },
};

const MODES_BY_NAME = new Map(Object.entries(MODES));

function parseMode(name: string): { run: (answer: UpstreamReply, argument: number) => Promise<void> | void; argument: number } {
  const exact = MODES_BY_NAME.get(name);
  if (exact) return { run: exact, argument: 0 };
  const dash = name.lastIndexOf('-');
  const run = MODES_BY_NAME.get(dash > 0 ? name.slice(0, dash) : name) ?? MODES['normal'];
  return { run: run ?? (() => {}), argument: Number(name.slice(dash + 1)) || 0 };
}

async function readBody(req: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const chunks: Buffer[] = [];
  for await (const part of req) chunks.push(part);
  const text = Buffer.concat(chunks).toString();
  const value: unknown = text === '' ? undefined : JSON.parse(text);
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : undefined;
}

/** A local server of the chat-completions format that behaves as the model's name or the queue says, including faults. */
export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const requests: UpstreamRequest[] = [];
  const queue: string[] = [];
  const models = options.models ?? ['normal', 'tool'];
  const waiting: (() => void)[] = [];

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const record: UpstreamRequest = {
      method: req.method ?? '',
      path: req.url ?? '',
      headers: req.headers,
      body: undefined,
      hungUp: false,
      closed,
    };
    res.on('close', () => {
      record.hungUp = !res.writableFinished;
      resolve();
    });
    res.on('error', () => {});
    record.body = await readBody(req);
    requests.push(record);
    for (const wake of waiting.splice(0)) wake();
    if (options.apiKey && req.headers.authorization !== `Bearer ${options.apiKey}`) {
      return sendJson(res, 401, {
        error: { message: `Incorrect API key provided: ${req.headers.authorization ?? 'none'}`, code: 'invalid_api_key' },
      });
    }
    if (req.method === 'GET' && req.url === '/v1/models') {
      return sendJson(res, 200, {
        object: 'list',
        data: models.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'upstream' })),
      });
    }
    if (req.method === 'POST' && req.url === '/v1/embeddings' && record.body) return sendJson(res, 200, toEmbeddings(record.body));
    if (req.method !== 'POST' || req.url !== '/v1/chat/completions' || !record.body)
      return sendJson(res, 404, { error: { message: 'no such address' } });
    const model = String(record.body['model']);
    const { run, argument } = parseMode(queue.shift() ?? model);
    const send = (text: string): Promise<void> =>
      new Promise((done) => {
        if (res.destroyed) done();
        else res.write(text, () => done());
      });
    await run({ model, body: record.body, res, send }, argument);
  };

  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.destroy());
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The upstream has no port');
  const { port } = address;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const over = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await over;
  };

  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    queue,
    models,
    async request(n = 1) {
      for (;;) {
        const found = requests.filter(({ method }) => method === 'POST')[n - 1];
        if (found) return found;
        await new Promise<void>((wake) => waiting.push(wake));
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
