import OpenAI from 'openai';
import { createTestGateway } from './test-gateway.ts';
import { type ProviderRequest, toNamedEvents, createFakeServer, createStreamResponse, toUnnamedEvents } from './fake-provider-server.ts';

/** A Messages API server that sends reasoning, then `text` or tool calls. */
export function createClaudeResponse(answer: { text?: string; calls?: string[]; thought?: string } = {}): Response {
  const { text = 'Hello', calls = [], thought } = answer;
  const blocks = [
    ...(thought
      ? [
          {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              { type: 'thinking_delta', thinking: thought },
              { type: 'signature_delta', signature: 'c2ln' },
            ],
          },
        ]
      : []),
    ...(calls.length > 0 ? [] : [{ start: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text }] }]),
    ...calls.map((id) => ({
      start: { type: 'tool_use', id, name: 'add', input: {} },
      deltas: [{ type: 'input_json_delta', partial_json: '{"a":1}' }],
    })),
  ];
  return createStreamResponse(
    toNamedEvents(
      { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' },
        usage: { output_tokens: 5, ...(thought ? { output_tokens_details: { thinking_tokens: 3 } } : {}) },
      },
      { type: 'message_stop' },
    ),
  );
}

/** A Gemini server that sends a greeting, and the number of its thought tokens. */
function createGeminiResponse(): Response {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, thoughtsTokenCount: 3 };
  return createStreamResponse(
    toUnnamedEvents({ candidates: [{ content: { parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }], usageMetadata }),
  );
}

/** A gateway with a provider of each vendor, called over `/v1` by the openai package. `bodies`: request bodies that their servers received. */
export async function createVendorGateway(
  answer: (request: ProviderRequest, count: number) => Response | Promise<Response> = ({ url }) =>
    url.includes('google') ? createGeminiResponse() : createClaudeResponse({ thought: 'Let me see' }),
) {
  const { fetch, asked } = createFakeServer((request, count) =>
    request.method === 'GET' ? Response.json({ data: [], models: [] }) : answer(request, count),
  );
  const gw = await createTestGateway({ fetch, useGuide: true });
  const { client } = await gw.client();
  await client.call('config.patch', {
    patch: {
      providers: { claude: { kind: 'anthropic', apiKey: 'k' }, gemini: { kind: 'google', apiKey: 'k' } },
      chat: { model: 'claude/claude-opus-5-5', titles: false },
    },
  });
  const v1 = (request: Request): Promise<Response> => gw.gateway.fetch(request, { id: 'owner', scopes: ['admin'] });
  const openai = new OpenAI({
    baseURL: 'http://127.0.0.1:7333/v1',
    apiKey: 'token',
    maxRetries: 0,
    fetch: (url, init) => v1(new Request(url, init)),
  });
  const bodies = (): (Record<string, unknown> | undefined)[] => asked.filter(({ method }) => method === 'POST').map(({ body }) => body);
  return { gw, client, openai, bodies };
}
