import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { ProviderKind } from '../../shared/rpc/records.ts';
import { named, unnamed } from '../support/streamed.ts';

/** The three formats that the kinds of provider speak. */
export type WireFormat = 'openai' | 'anthropic' | 'google';
export const toFormat = (kind: ProviderKind): WireFormat => (kind === 'anthropic' || kind === 'google' ? kind : 'openai');

export const PICTURE = 'iVBORw0KGgo=';
export const UPSTREAM_ERROR = 'no room for this request';

const choice = (delta: object, finish: string | null = null): object => ({ choices: [{ index: 0, delta, finish_reason: finish }] });
const candidate = (part: object, finish?: string): object => ({
  candidates: [{ content: { parts: [part] }, ...(finish ? { finishReason: finish } : {}) }],
});
const block = (index: number, start: object, ...deltas: object[]): ({ type: string } & Record<string, unknown>)[] => [
  { type: 'content_block_start', index, content_block: start },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const search = (query: string): string => JSON.stringify({ query });

/** Pieces of a reply: "Hel" and "lo", a thought, calls of two tools, a picture if the format has them, and the usage of 40 (30 cached) and 9 tokens. */
const OPENAI = {
  first: unnamed(choice({ reasoning_content: 'plan' }), choice({ content: 'Hel' })),
  rest: `${unnamed(
    choice({ content: 'lo', images: [{ image_url: { url: `data:image/png;base64,${PICTURE}` } }] }),
    ...['alpha', 'beta'].flatMap((query, index) => [
      choice({ tool_calls: [{ index, id: `call_${index}`, function: { name: 'search', arguments: '' } }] }),
      choice({ tool_calls: [{ index, function: { arguments: search(query) } }] }),
    ]),
    choice({}, 'tool_calls'),
    { choices: [], usage: { prompt_tokens: 40, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 30 } } },
  )}data: [DONE]\n\n`,
  error: unnamed({ error: { message: UPSTREAM_ERROR, code: 400 } }),
};
const ANTHROPIC = {
  first: named(
    { type: 'message_start', message: { usage: { input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 1 } } },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'plan' },
      { type: 'signature_delta', signature: 'c2ln' },
    ),
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hel' } },
  ),
  rest: named(
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'lo' } },
    { type: 'content_block_stop', index: 1 },
    ...['alpha', 'beta'].flatMap((query, at) =>
      block(
        at + 2,
        { type: 'tool_use', id: `call_${at}`, name: 'search', input: {} },
        { type: 'input_json_delta', partial_json: search(query) },
      ),
    ),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ),
  error: named({ type: 'error', error: { type: 'invalid_request_error', message: UPSTREAM_ERROR } }),
};
const GOOGLE = {
  first: unnamed(candidate({ text: 'plan', thought: true }), candidate({ text: 'Hel' })),
  rest: unnamed(
    candidate({ text: 'lo' }),
    candidate({ inlineData: { mimeType: 'image/png', data: PICTURE } }),
    ...['alpha', 'beta'].map((query) => candidate({ functionCall: { name: 'search', args: { query } } })),
    {
      ...candidate({ text: '' }, 'STOP'),
      usageMetadata: { promptTokenCount: 40, candidatesTokenCount: 9, cachedContentTokenCount: 30 },
    },
  ),
  error: unnamed({ error: { code: 400, message: UPSTREAM_ERROR, status: 'INVALID_ARGUMENT' } }),
};
const SCRIPTS = { openai: OPENAI, anthropic: ANTHROPIC, google: GOOGLE };

export interface ScriptedServer extends AsyncDisposable {
  url: string;
  bodies: Record<string, unknown>[];
  /** Lets a reply go on behind its first text. */
  goOn(): void;
  /** The next reply breaks off with an error behind its first text. */
  fails: boolean;
}

/** A local server that speaks a format: it sends the first text of a reply, and the rest when it is told to. */
export async function scriptedServer(format: WireFormat): Promise<ScriptedServer> {
  const script = SCRIPTS[format];
  let next = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    void json(request).then(async (body) => {
      scripted.bodies.push(body as Record<string, unknown>);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(script.first);
      await next.promise;
      next = Promise.withResolvers();
      response.end(scripted.fails ? script.error : script.rest);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const scripted: ScriptedServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies: [],
    goOn: () => next.resolve(),
    fails: false,
    [Symbol.asyncDispose]() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
  return scripted;
}
