import { describe, expect } from 'vitest';
import { standIn, streamed, unnamed } from '../../../../tests/support/streamed.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { systemClock } from '../clock.ts';
import { OpenAiCompatible } from './openai-compatible.ts';
import { type ModelEvent, ProviderError } from './provider.ts';

/** What comes of one answer, and what ended it where that was an error. */
async function asked(answer: () => Response, apiKey?: string): Promise<{ events: ModelEvent[]; error: unknown }> {
  const { fetch } = standIn(answer);
  const provider = new OpenAiCompatible({ id: 'up', name: 'Upstream', baseUrl: 'http://up.test/v1', apiKey, fetch, clock: systemClock });
  const events: ModelEvent[] = [];
  try {
    const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
    for await (const event of provider.stream(request, new AbortController().signal)) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

const chunk = (delta: unknown): string => unnamed({ choices: [{ index: 0, delta }] });

/** The same event again and again, for as long as somebody reads, 200 MB at the most. */
function endless(event: string): { response: Response; state: { sent: number; cancelled: boolean } } {
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
  verifies('providers/endless', 'that writes a call, or thinks, without end is ended', async () => {
    const piece = 'x'.repeat(500_000);
    for (const delta of [
      { tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: piece } }] },
      { reasoning_content: piece },
    ]) {
      const { response, state } = endless(chunk(delta));
      const { error } = await asked(() => response);
      expect(error).toBeInstanceOf(ProviderError);
      expect((error as ProviderError).message).toBe('Upstream sent more thoughts and calls than can be kept');
      expect(state.cancelled).toBe(true);
      expect(state.sent).toBeLessThan(80_000_000);
    }
  });

  verifies('providers/key-in-stream', 'that quotes the key in an error tells it to nobody', async () => {
    const key = 'key-0123456789';
    const said = [chunk({ content: 'Hel' }), unnamed({ error: { message: `The key ${key} is not good any more` } })].join('');
    const { events, error } = await asked(() => streamed(said), key);
    expect(events).toEqual([{ type: 'text', text: 'Hel' }]);
    expect((error as ProviderError).message).toBe('Upstream reported an error: The key *** is not good any more');
  });
});
