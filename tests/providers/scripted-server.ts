import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { ProviderKind } from '../../shared/rpc/record-schemas.ts';
import { toNamedEvents, toUnnamedEvents } from '../support/fake-provider-server.ts';

/** The three formats that the kinds of provider speak. */
type WireFormat = 'openai' | 'anthropic' | 'google';
export const toFormat = (kind: ProviderKind): WireFormat => (kind === 'anthropic' || kind === 'google' ? kind : 'openai');

export const PICTURE_BYTES = 'iVBORw0KGgo=';
export const UPSTREAM_ERROR = 'no room for this request';

const toChoice = (delta: object, finish: string | null = null): object => ({ choices: [{ index: 0, delta, finish_reason: finish }] });
const toCandidate = (part: object, finish?: string): object => ({
  candidates: [{ content: { parts: [part] }, ...(finish ? { finishReason: finish } : {}) }],
});
const toBlock = (index: number, start: object, ...deltas: object[]): ({ type: string } & Record<string, unknown>)[] => [
  { type: 'content_block_start', index, content_block: start },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const search = (query: string): string => JSON.stringify({ query });

/** Pieces of a reply: "Hel" and "lo", a thought, calls of two tools, a picture if the format has them, and the usage of 40 (30 cached) and 9 tokens. */
const OPENAI = {
  first: toUnnamedEvents(toChoice({ reasoning_content: 'plan' }), toChoice({ content: 'Hel' })),
  rest: `${toUnnamedEvents(
    toChoice({ content: 'lo', images: [{ image_url: { url: `data:image/png;base64,${PICTURE_BYTES}` } }] }),
    ...['alpha', 'beta'].flatMap((query, index) => [
      toChoice({ tool_calls: [{ index, id: `call_${index}`, function: { name: 'search', arguments: '' } }] }),
      toChoice({ tool_calls: [{ index, function: { arguments: search(query) } }] }),
    ]),
    toChoice({}, 'tool_calls'),
    { choices: [], usage: { prompt_tokens: 40, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 30 } } },
  )}data: [DONE]\n\n`,
  error: toUnnamedEvents({ error: { message: UPSTREAM_ERROR, code: 400 } }),
};
const ANTHROPIC = {
  first: toNamedEvents(
    { type: 'message_start', message: { usage: { input_tokens: 10, cache_read_input_tokens: 30, output_tokens: 1 } } },
    ...toBlock(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'plan' },
      { type: 'signature_delta', signature: 'c2ln' },
    ),
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hel' } },
  ),
  rest: toNamedEvents(
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'lo' } },
    { type: 'content_block_stop', index: 1 },
    ...['alpha', 'beta'].flatMap((query, at) =>
      toBlock(
        at + 2,
        { type: 'tool_use', id: `call_${at}`, name: 'search', input: {} },
        { type: 'input_json_delta', partial_json: search(query) },
      ),
    ),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ),
  error: toNamedEvents({ type: 'error', error: { type: 'invalid_request_error', message: UPSTREAM_ERROR } }),
};
const GOOGLE = {
  first: toUnnamedEvents(toCandidate({ text: 'plan', thought: true }), toCandidate({ text: 'Hel' })),
  rest: toUnnamedEvents(
    toCandidate({ text: 'lo' }),
    toCandidate({ inlineData: { mimeType: 'image/png', data: PICTURE_BYTES } }),
    ...['alpha', 'beta'].map((query) => toCandidate({ functionCall: { name: 'search', args: { query } } })),
    {
      ...toCandidate({ text: '' }, 'STOP'),
      usageMetadata: { promptTokenCount: 40, candidatesTokenCount: 9, cachedContentTokenCount: 30 },
    },
  ),
  error: toUnnamedEvents({ error: { code: 400, message: UPSTREAM_ERROR, status: 'INVALID_ARGUMENT' } }),
};
const SCRIPTS = { openai: OPENAI, anthropic: ANTHROPIC, google: GOOGLE };

export interface ScriptedServer extends AsyncDisposable {
  url: string;
  bodies: Record<string, unknown>[];
  /** Lets a reply go on behind its first text. */
  continueReply(): void;
  /** The next reply breaks off with an error behind its first text. */
  failReply: boolean;
}

/** A local server that speaks a format: it sends the first text of a reply, and the rest when it is told to. */
export async function startScriptedServer(format: WireFormat): Promise<ScriptedServer> {
  const script = SCRIPTS[format];
  let next = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    void json(request).then(async (body) => {
      scripted.bodies.push(body as Record<string, unknown>);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(script.first);
      await next.promise;
      next = Promise.withResolvers();
      response.end(scripted.failReply ? script.error : script.rest);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const scripted: ScriptedServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies: [],
    continueReply: () => next.resolve(),
    failReply: false,
    [Symbol.asyncDispose]() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
  return scripted;
}
