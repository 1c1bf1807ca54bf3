import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { writeEvent } from '#shared/http/messages-api.ts';

/** A request that the server received. */
interface AnthropicRequest {
  url: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown> & { messages: { role: string; content: unknown }[] };
}

type AnthropicTurn = { text: string } | { thinking: string; text: string } | { tool: string; input: Record<string, unknown>; id?: string };

export interface AnthropicUpstream extends AsyncDisposable {
  /** Base URL with `/v1`. */
  url: string;
  requests: AnthropicRequest[];
  /** The model's next answer; a greeting without a script. */
  script(request: AnthropicRequest): AnthropicTurn[];
  /** Handler that replaces the script. */
  respond: ((request: AnthropicRequest, response: ServerResponse) => boolean) | undefined;
}

const ANTHROPIC_USAGE = { input_tokens: 12, cache_read_input_tokens: 30, cache_creation_input_tokens: 5, output_tokens: 9 };
export const ANTHROPIC_KEY = 'sk-ant-upstream';

const toBlock = (turn: AnthropicTurn, index: number): Record<string, unknown>[] => [
  ...('thinking' in turn ? [{ type: 'thinking', thinking: turn.thinking, signature: 'signed' }] : []),
  'tool' in turn
    ? { type: 'tool_use', id: turn.id ?? `toolu_${index}`, name: turn.tool, input: turn.input }
    : { type: 'text', text: turn.text },
];

const toStopReason = (turns: AnthropicTurn[]): string => (turns.some((turn) => 'tool' in turn) ? 'tool_use' : 'end_turn');

/** Converts a message to events of Anthropic's API. */
export function messageEvents(model: string, turns: AnthropicTurn[]): string[] {
  const blocks = turns.flatMap(toBlock);
  const message = { id: 'msg_up', type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null };
  const events: Parameters<typeof writeEvent>[0][] = [
    { type: 'message_start', message: { ...message, usage: { ...ANTHROPIC_USAGE, output_tokens: 1 } } },
    { type: 'ping' },
  ];
  for (const [index, block] of blocks.entries()) {
    const [empty, deltas] = toDeltas(block);
    events.push({ type: 'content_block_start', index, content_block: empty });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  }
  const delta = { stop_reason: toStopReason(turns), stop_sequence: null };
  events.push({ type: 'message_delta', delta, usage: ANTHROPIC_USAGE }, { type: 'message_stop' });
  return events.map((event) => writeEvent(event));
}

function toDeltas(block: Record<string, unknown>): [Record<string, unknown>, Record<string, unknown>[]] {
  const pieces = (text: string): string[] => text.match(/[\s\S]{1,4}/g) ?? [''];
  if (block['type'] === 'text')
    return [{ ...block, text: '' }, pieces(String(block['text'])).map((text) => ({ type: 'text_delta', text }))];
  if (block['type'] === 'thinking')
    return [
      { ...block, thinking: '', signature: '' },
      [
        ...pieces(String(block['thinking'])).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block['signature'] },
      ],
    ];
  const json = pieces(JSON.stringify(block['input'])).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
  return [{ ...block, input: {} }, json];
}

/** A scripted server of Anthropic's Messages API. */
export async function startAnthropicUpstream(): Promise<AnthropicUpstream> {
  const requests: AnthropicRequest[] = [];
  const upstream: AnthropicUpstream = {
    url: '',
    requests,
    script: () => [{ text: 'Hello wörld 漢字!' }],
    respond: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = incoming.url ?? '';
    const fail = (status: number, type: string, message: string): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error: { type, message } }));
    };
    if (incoming.headers['x-api-key'] !== ANTHROPIC_KEY) return fail(401, 'authentication_error', 'invalid x-api-key');
    if (incoming.method === 'GET') {
      const data = [{ type: 'model', id: 'claude-test', display_name: 'Claude Test', created_at: '2026-01-01T00:00:00Z' }];
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data, has_more: false }));
    }
    const request: AnthropicRequest = { url, headers: incoming.headers, body: (await json(incoming)) as AnthropicRequest['body'] };
    requests.push(request);
    if (upstream.respond?.(request, response)) return;
    if (/^\/v1\/messages\/count_tokens/.test(url))
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ input_tokens: 4321 }));
    // Clients then send the complete conversation.
    if (request.body['thread'] != null) {
      const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
      const error = { type: 'invalid_request_error', message: 'no threads', details };
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
    }
    if (!/^\/v1\/messages(\?|$)/.test(url)) return fail(404, 'not_found_error', 'Not found');
    const model = String(request.body['model']);
    const turns = upstream.script(request);
    if (request.body['stream'] !== true) {
      const message = { id: 'msg_up', type: 'message', role: 'assistant', model, content: turns.flatMap(toBlock) };
      const body = { ...message, stop_reason: toStopReason(turns), stop_sequence: null, usage: ANTHROPIC_USAGE };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of messageEvents(model, turns)) response.write(event);
    response.end();
  };
  const server = createServer((incoming, response) => {
    response.on('error', () => {});
    answer(incoming, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  upstream.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return upstream;
}
