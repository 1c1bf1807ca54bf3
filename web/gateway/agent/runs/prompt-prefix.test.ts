import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createTestGateway } from '../../../../tests/support/test-gateway.ts';
import { readContext } from '../../../../tests/support/model-context.ts';
import { getLongTermMemory } from '../../../../tests/support/long-term-memory.ts';
import {
  type ProviderRequest,
  toNamedEvents,
  createFakeServer,
  createStreamResponse,
  toUnnamedEvents,
} from '../../../../tests/support/fake-provider-server.ts';
import { createClaudeResponse } from '../../../../tests/support/vendors.ts';

const PNG_ATTACHMENT = { filename: 'a.png', mimeType: 'image/png', content: 'iVBORw0KGgo=' };
const TEXT_ATTACHMENT = { filename: 'list.csv', mimeType: 'text/csv', content: btoa('herons,3\n') };

/** A server of a provider's format that calls `current_time` in its first answer to each message, and then says hello. */
interface ProviderServer {
  model: string;
  provider: object;
  answer(calls: boolean, count: number): Response;
  /** The parts of a request in the order in which a model reads them. */
  read(body: Record<string, unknown>): { fixed: unknown; messages: unknown[] };
}

const toOpenaiServer = (model: string, provider: object): ProviderServer => ({
  model,
  provider,
  answer: (calls, count) =>
    createStreamResponse(
      toUnnamedEvents({
        ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
        choices: [
          calls
            ? {
                index: 0,
                delta: {
                  tool_calls: [{ index: 0, id: `call_${count}`, type: 'function', function: { name: 'current_time', arguments: '{}' } }],
                },
                finish_reason: 'tool_calls',
              }
            : { index: 0, delta: { content: `Hello ${count}` }, finish_reason: 'stop' },
        ],
      }),
    ),
  read: ({ tools, messages = [] }) => ({ fixed: tools, messages: messages as unknown[] }),
});

const SERVERS: Record<string, ProviderServer> = {
  OpenAI: toOpenaiServer('up/gpt-5', { kind: 'openai', apiKey: 'k' }),
  Ollama: toOpenaiServer('up/m', { kind: 'ollama' }),
  'llama.cpp': toOpenaiServer('up/m', { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:8080/v1' }),
  Anthropic: {
    model: 'up/claude-opus-5-5',
    provider: { kind: 'anthropic', apiKey: 'k' },
    answer: (calls, count) =>
      calls
        ? createStreamResponse(toThinkingCall(`toolu_${count}`))
        : createClaudeResponse({ text: `Hello ${count}`, thought: 'Let me see' }),
    // Its cache breakpoints move and are not part of the comparison.
    read: ({ tools, system, messages = [] }) =>
      JSON.parse(
        JSON.stringify({ fixed: [tools, system], messages }, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
      ) as {
        fixed: unknown;
        messages: unknown[];
      },
  },
  Google: {
    model: 'up/gemini-3-pro',
    provider: { kind: 'google', apiKey: 'k' },
    answer: (calls, count) =>
      createStreamResponse(
        toUnnamedEvents({
          candidates: [
            {
              content: {
                parts: calls
                  ? [{ functionCall: { id: `f${count}`, name: 'current_time', args: {} }, thoughtSignature: 'c2ln' }]
                  : [{ text: `Hello ${count}` }],
              },
              finishReason: 'STOP',
            },
          ],
          usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2 },
        }),
      ),
    read: ({ tools, systemInstruction, contents = [] }) => ({ fixed: [tools, systemInstruction], messages: contents as unknown[] }),
  },
};

function toThinkingCall(id: string): string {
  return toNamedEvents(
    { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Look' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id, name: 'current_time', input: {} } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  );
}

/** A gateway whose main agent uses a server that records every request. */
async function captureRequests({ model, provider, answer }: ProviderServer) {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 9, 30));
  const { fetch, asked } = createFakeServer(({ method, body }, count) =>
    method === 'GET' ? Response.json({ data: [], models: [] }) : answer(isUserTurn(body), count),
  );
  const gw = await createTestGateway({ fetch, clock, useGuide: true });
  const { client } = await gw.client();
  await client.call('config.patch', { patch: { providers: { up: provider }, chat: { model, titles: false, timeZone: 'UTC' } } });
  await getLongTermMemory(gw.vault).add([{ text: 'My dog is called Bruno, a brown terrier', category: 'fact', createdAt: 0 }]);
  const posts = (): ProviderRequest[] => asked.filter(({ method }) => method === 'POST');
  return { gw, client, clock, bodies: () => posts().map(({ body }) => body ?? {}) };
}

/** Whether the newest message is a person's, and not a tool's result. */
function isUserTurn(body: Record<string, unknown> | undefined): boolean {
  const messages = (body?.['messages'] ?? body?.['contents'] ?? []) as { role: string; content?: unknown; parts?: unknown }[];
  const last = messages.at(-1);
  return last?.role === 'user' && !/tool_result|functionResponse/.test(JSON.stringify(last.content ?? last.parts));
}

describe.each(Object.entries(SERVERS))('a chat with a model of %s', (_name, server) => {
  it('repeats every earlier request byte for byte', async () => {
    const { gw, client, clock, bodies } = await captureRequests(server);
    await using _gw = gw;
    const send = (message: string, more: object = {}) => client.call('chat.send', { message, ...more });
    await send('What is my dog called?');
    clock.advance(2 * 60_000);
    await client.call('system.event', { text: 'A parcel has come' });
    await send('Look at these', { attachments: [PNG_ATTACHMENT, TEXT_ATTACHMENT] });
    clock.advance(2 * 60_000);
    await send('Thanks');
    await send('And now?');
    expect(gw.faults).toEqual([]);
    const requests = bodies().map((body) => server.read(body));
    expect(requests).toHaveLength(8);
    for (const [index, { fixed, messages }] of requests.slice(1).entries()) {
      const before = requests[index];
      expect(JSON.stringify(fixed)).toBe(JSON.stringify(before?.fixed));
      expect(messages.length).toBeGreaterThan(before?.messages.length ?? 0);
      expect(JSON.stringify(messages.slice(0, before?.messages.length))).toBe(JSON.stringify(before?.messages));
    }
    const [first, last] = [JSON.stringify(bodies()[0]), JSON.stringify(bodies().at(-1))];
    expect(first).toContain('21 November 2026 at 09:30');
    expect(first).toContain('Bruno');
    expect(last).toContain('21 November 2026 at 09:34');
    expect(last).toContain('A parcel has come');
    expect(JSON.stringify(requests[0]?.fixed)).not.toContain('2026 at');
  });
});

verifies('chat.send/context', 'is no part of history, search, exports, sizes or titles, and edits and resends get a new one', async () => {
  const { gw, client, clock, bodies } = await captureRequests(SERVERS['llama.cpp'] as ProviderServer);
  await using _gw = gw;
  await client.call('chat.send', { message: 'What is my dog called?' });
  const stored = (await gw.vault.messages.listAll('main/main')).find(({ role }) => role === 'user');
  expect(stored?.runContext?.text).toContain('Bruno');
  const { messages } = await client.call('chat.history', { sessionId: 'main' });
  const { size = 0, title } = (await client.call('sessions.list', {})).sessions[0] ?? {};
  const exported = await client.call('sessions.export', { path: 'main/main.jsonl' });
  for (const seen of [messages, exported, title])
    expect(JSON.stringify(seen)).not.toMatch(/runContext|providerState|added by Perch|untrusted data/);
  expect((await client.call('sessions.search', { query: 'Bruno' })).results).toEqual([]);
  expect(size).toBe(new TextEncoder().encode(messages.map((message) => `${JSON.stringify(message)}\n`).join('')).length);
  const contexts = () => bodies().map(({ messages: list }) => readContext(list as { content: unknown }[]));
  clock.advance(60_000);
  await client.call('chat.resend', { sessionId: 'main' });
  expect(contexts().at(-1)).toContain('09:31');
  clock.advance(60_000);
  await client.call('chat.edit', { sessionId: 'main', message: 'And my cat?' });
  expect(contexts().at(-1)).toContain('09:32');
  expect(contexts().at(-1)).not.toContain('09:31');
});

verifies('chat.send/context', 'loses the line of a memory that is forgotten or changed', async () => {
  const { gw, client, bodies } = await captureRequests(SERVERS['llama.cpp'] as ProviderServer);
  await using _gw = gw;
  await client.call('chat.send', { message: 'What is my dog called?' });
  const [memory] = (await client.call('memory.list', {})).memories;
  await client.call('memory.forget', { id: memory?.id ?? '' });
  const stored = await gw.vault.messages.listAll('main/main');
  expect(JSON.stringify(stored.map(({ runContext }) => runContext))).not.toContain('Bruno');
  await client.call('chat.send', { message: 'Thanks' });
  const last = JSON.stringify(bodies().at(-1));
  expect(last).toContain('recalled memory');
  expect(last).not.toContain('Bruno');
});

verifies(['sessions.fork/copies', 'chat.send/context'], 'a fork goes on with the same prompt', async () => {
  const { gw, client, bodies } = await captureRequests(SERVERS['Anthropic'] as ProviderServer);
  await using _gw = gw;
  await client.call('chat.send', { message: 'What is my dog called?' });
  await client.call('sessions.fork', { path: 'main/main.jsonl', sessionId: 'fork' });
  await client.call('chat.send', { message: 'And now?' });
  await client.call('chat.send', { message: 'And now?', sessionId: 'fork' });
  const [, , original, , fork] = bodies().map((body) => SERVERS['Anthropic']?.read(body));
  expect(fork?.messages.length).toBe(5);
  expect(fork?.messages.slice(0, 4)).toEqual(original?.messages.slice(0, 4));
});
