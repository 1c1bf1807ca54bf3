import { http, HttpResponse } from 'msw';
import { z } from '#shared/rpc/zod.ts';
import { readEnvelope, readChatOptions } from '../server/http/chat-request.ts';
import { ChunkWriter, toCompletion, createCompletionHead, type CompletionUsage } from '../server/http/completion-objects.ts';
import { IgnoredFields } from '../server/http/ignored-fields.ts';
import { estimateUsage } from '../providers/estimate-usage.ts';
import type { ModelMessage } from '../providers/provider.ts';
import { TOOL_CALL } from '../storage/records/routed-call.ts';
import { type ScriptedReply, getNextReply } from './demo-script.ts';

/** Names under `.invalid` never resolve (RFC 6761, section 6.4). */
export const PROVIDER_URL = 'https://perch-demo.invalid/v1';
const DEMO_MODELS = [
  { id: 'scripted', name: 'Scripted', context_length: 32_768, pricing: { prompt: '0.0000025', completion: '0.00001' } },
  { id: 'scripted-small', name: 'Scripted (small)', context_length: 8_192, pricing: { prompt: '0.0000005', completion: '0.000002' } },
].map((model) => ({ ...model, object: 'model', owned_by: 'perch-demo', capabilities: { vision: true, function_calling: true } }));

const bodySchema = z.record(z.string(), z.unknown());

/**
 * OpenAI's `/v1/models` and `/v1/chat/completions`, parsed by the gateway's own schemas and written by its own writers. `wordDelayMs`:
 * milliseconds between two words.
 */
export const providerHandlers = (wordDelayMs: number): ReturnType<typeof http.get>[] => [
  http.get(`${PROVIDER_URL}/models`, () => HttpResponse.json({ object: 'list', data: DEMO_MODELS })),
  http.post(`${PROVIDER_URL}/chat/completions`, async ({ request }) => {
    const envelope = readEnvelope(bodySchema.parse(await request.json()));
    const { messages, tools } = readChatOptions(envelope, new IgnoredFields());
    const names = new Set(tools.map(({ name }) => name));
    // A tool that is not in the request can still be called through this one.
    const line = getNextReply(messages, { has: (name) => names.has(name) || names.has(TOOL_CALL) });
    const counted = computeUsage(messages, line, envelope.model);
    const head = createCompletionHead(envelope.model, Date.now());
    if (envelope.stream) {
      const writer = new ChunkWriter(head, envelope.stream_options?.include_usage === true);
      return new HttpResponse(streamReply(createEvents(writer, line, counted), wordDelayMs, request.signal), {
        headers: { 'content-type': 'text/event-stream' },
      });
    }
    const { text, calls } = line;
    return HttpResponse.json(
      toCompletion(head, [{ text, refusal: '', reasoning: line.reasoning ?? '', calls, finish: getFinishReason(line) }], counted),
    );
  }),
];

const getFinishReason = ({ calls }: ScriptedReply): 'stop' | 'tool_calls' => (calls.length > 0 ? 'tool_calls' : 'stop');

/** An image counts with the tokens that models use for one, not with its base64 text. */
const computeUsage = (
  messages: readonly ModelMessage[],
  { text, reasoning = '', calls }: ScriptedReply,
  model: string,
): CompletionUsage => ({
  usage: estimateUsage(messages, text + reasoning + (calls.length > 0 ? JSON.stringify(calls) : ''), model),
  reasoningTokens: undefined,
});

/** Streams the answer word by word, like a model; ends with the request. */
function streamReply(events: Generator<string, undefined>, wordDelayMs: number, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      await waitForPace(wordDelayMs, signal);
      if (signal.aborted) return controller.error(signal.reason);
      const { value, done } = events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
}

function* createEvents(writer: ChunkWriter, reply: ScriptedReply, usage: CompletionUsage): Generator<string, undefined> {
  for (const word of splitWords(reply.reasoning ?? '')) yield writer.reasoning(0, word);
  for (const word of splitWords(reply.text)) yield writer.text(0, word);
  for (const call of reply.calls) {
    yield writer.toolCall(0, call);
    // Takes as long as a model would to write the arguments.
    for (const _ of JSON.stringify(call.args).matchAll(/.{1,4}/gs)) yield '';
  }
  yield writer.finish(0, getFinishReason(reply)) + writer.end(usage);
}

const splitWords = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? [];

const waitForPace = (waitMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, waitMs);
    signal.addEventListener('abort', done);
  });
