import { describe, expect } from 'vitest';
import { FakeClock } from '../../../tests/support/fake-clock.ts';
import { createMemoryCollection } from '../../../tests/support/memory-collection.ts';
import { createFakeServer, createStreamResponse, toUnnamedEvents } from '../../../tests/support/fake-provider-server.ts';
import { verifies } from '../../../tests/requirements.ts';
import { ExchangeReset } from '#shared/link/stream-http.ts';
import { SCOPES } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import { type Clock, systemClock } from '#shared/async/clock.ts';
import { GuideProvider } from '../agent/guide/guide.ts';
import { createHttpHandler } from '../server/http/http-handler.ts';
import { OpenAiCompatible } from './openai-compatible.ts';
import { type ModelEvent, ProviderError } from './provider.ts';
import { Providers } from './providers.ts';

/** The events of one answer, and the error that ended it, if any. */
async function collectEvents(
  answer: () => Response,
  apiKey?: string,
  clock: Clock = systemClock,
): Promise<{ events: ModelEvent[]; error: unknown }> {
  const { fetch } = createFakeServer(answer);
  const provider = new OpenAiCompatible({ id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1', apiKey, fetch, clock });
  const events: ModelEvent[] = [];
  try {
    const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
    for await (const event of provider.stream(request, new AbortController().signal)) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

const chunk = (delta: unknown): string => toUnnamedEvents({ choices: [{ index: 0, delta }] });

/** The same event repeated while it is read, up to 200 MB. */
function createEndlessStream(event: string): { response: Response; state: { sent: number; cancelled: boolean } } {
  const bytes = new TextEncoder().encode(event);
  const state = { sent: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if ((state.sent += bytes.length) > 200_000_000) return controller.close();
      controller.enqueue(bytes);
    },
    cancel: () => void (state.cancelled = true),
  });
  return { response: new Response(body, { headers: { 'content-type': 'text/event-stream' } }), state };
}

describe('a stream of any server', () => {
  verifies('providers/hostile-upstream', 'that is cut off with the bridge is not laid to the server', async () => {
    const cut = (reason: Error): Response => {
      const pieces = [chunk({ content: 'Hel' })];
      const body = new ReadableStream<string>({
        pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) controller.error(reason);
          else controller.enqueue(piece);
        },
      });
      return new Response(body.pipeThrough(new TextEncoderStream()), { headers: { 'content-type': 'text/event-stream' } });
    };
    const said = async (reason: Error): Promise<unknown> => (await collectEvents(() => cut(reason))).error;
    expect(await said(new ExchangeReset(1006, 'the link closed'))).toMatchObject({
      message: 'The connection to the bridge was lost while Upstream was replying.',
      retryable: true,
    });
    for (const reason of [new ExchangeReset(CLOSE_CODES.internal, 'socket hang up'), new TypeError('terminated')])
      expect(await said(reason)).toMatchObject({
        message: 'Upstream closed the connection before its reply was complete.',
        retryable: true,
      });
  });

  verifies('providers/endless', 'that writes a call, or thinks, without end is ended', async () => {
    const piece = 'x'.repeat(500_000);
    for (const delta of [
      { tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: piece } }] },
      { reasoning_content: piece },
    ]) {
      const { response, state } = createEndlessStream(chunk(delta));
      const { error } = await collectEvents(() => response);
      expect(error).toBeInstanceOf(ProviderError);
      expect((error as ProviderError).message).toBe('Upstream sent too much reasoning and too many tool calls.');
      expect(state.cancelled).toBe(true);
      expect(state.sent).toBeLessThan(80_000_000);
    }
  });

  verifies('providers/endless', 'that sends comments and nothing else is given up, though not soon', async () => {
    for (const event of [': still thinking\n\n', ' ', '\n']) {
      const clock = new FakeClock();
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          clock.advance(20_000);
          if (clock.monotonic() > 3_600_000) controller.close();
          else controller.enqueue(new TextEncoder().encode(event));
        },
      });
      const { error } = await collectEvents(() => new Response(body), undefined, clock);
      expect((error as ProviderError).message).toBe('Upstream sent nothing for 600 s.');
      expect(clock.monotonic()).toBeLessThan(700_000);
    }
  });

  verifies('providers/key-in-stream', 'that quotes the key in an error tells it to nobody', async () => {
    const key = 'key-0123456789';
    const said = [chunk({ content: 'Hel' }), toUnnamedEvents({ error: { message: `The key ${key} is not good any more` } })].join('');
    const { events, error } = await collectEvents(() => createStreamResponse(said), key);
    expect(events).toEqual([{ type: 'text', text: 'Hel' }]);
    expect((error as ProviderError).message).toBe('Upstream reported an error: The key *** is not good any more');
  });

  verifies('providers/key-in-stream', 'nor a part of it, where the error is too long to be told', async () => {
    const key = 'key-0123456789';
    for (let before = 60; before < 510; before++) {
      const message = `${'x'.repeat(before)}${key} and so on${'y'.repeat(500)}`;
      for (const answer of [
        () => createStreamResponse(toUnnamedEvents({ error: { message } })),
        () => createStreamResponse(`data: ${message}\n\n`),
        () => Response.json({ error: { message } }, { status: 400 }),
      ]) {
        const { error } = await collectEvents(answer, key);
        expect(error).toBeInstanceOf(ProviderError);
        expect((error as ProviderError).message).not.toContain(key.slice(0, 5));
      }
    }
  });

  verifies('providers/key-in-stream', 'nor to a caller of /v1 that it passes through to', async () => {
    const key = 'key-0123456789';
    const fault = { error: { message: `The key ${key} is not good any more` } };
    const answers = [
      () => createStreamResponse(toUnnamedEvents({ choices: [{ index: 0, delta: { content: 'Hel' } }] }, fault)),
      () => createStreamResponse(toUnnamedEvents(fault)),
      () => Response.json(fault),
    ];
    for (const [at, answer] of answers.entries()) {
      const guide = new GuideProvider({ clock: systemClock, sources: () => ({ memories: async () => [], messages: async () => [] }) });
      const providers = new Providers({ guide, fetch: createFakeServer(answer).fetch, clock: systemClock, localServers: [] });
      providers.configure([{ id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1', apiKey: key }]);
      const agents = { list: () => [], run: async function* () {} };
      const http = createHttpHandler({
        agents,
        providers,
        ...{ responses: createMemoryCollection(), conversations: createMemoryCollection(), apiFiles: createMemoryCollection() },
        mcp: () => Promise.reject(new Error('no tools are served here')),
        speak: () => Promise.reject(new Error('no voice is here')),
        convertAudio: () => Promise.reject(new Error('no browser is here')),
        version: '1.2.3',
        clock: systemClock,
        fault: () => new RpcError('INTERNAL_ERROR', 'ours'),
      });
      for (const stream of [true, false]) {
        const body = JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hi' }], stream });
        const request = new Request('http://127.0.0.1/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        const said = await (await http(request, { id: 'owner', scopes: [...SCOPES] })).text();
        expect(said, `${at} ${stream}`).toContain('The key *** is not good any more');
        expect(said).not.toContain(key);
      }
    }
  });
});

verifies('http.chat/splice-back-pressure', 'a slow reader is not mistaken for a silent upstream', async () => {
  const clock = new FakeClock();
  const first = chunk({ content: 'a' });
  const { fetch } = createFakeServer(() =>
    createStreamResponse(first + toUnnamedEvents({ choices: [{ index: 0, delta: { content: 'b' }, finish_reason: 'stop' }] }), {
      cuts: [first.length],
    }),
  );
  const provider = new OpenAiCompatible({ id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1', apiKey: undefined, fetch, clock });
  const texts: string[] = [];
  const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
  for await (const event of provider.stream(request, new AbortController().signal)) {
    if (event.type !== 'text') continue;
    texts.push(event.text);
    clock.advance(600_000);
  }
  expect(texts).toEqual(['a', 'b']);
});
