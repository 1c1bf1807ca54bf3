import type { Fetch, FetchInit } from '../../web/gateway/core/fetch.ts';
import type { ModelEvent, ModelRequest, Provider } from '../../web/gateway/core/providers/provider.ts';

/** A request to a simulated provider. */
export interface Asked {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
  signal: AbortSignal;
}

/** Body of a request as text, in either form. */
export const sentText = ({ body, bytes }: Pick<FetchInit, 'body' | 'bytes'>): string | undefined =>
  bytes ? new TextDecoder().decode(bytes) : body;

/** A server behind the core's `Fetch`: `answer` gives the response to each request, `asked` keeps them. */
export function standIn(answer: (asked: Asked, count: number) => Response | Promise<Response>): { fetch: Fetch; asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch: Fetch = async (url, { method = 'GET', headers = {}, signal, ...sent }) => {
    const text = sentText(sent);
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    const one: Asked = { url, method, headers, signal, body: typeof value === 'object' && value !== null ? { ...value } : undefined };
    asked.push(one);
    return answer(one, asked.length);
  };
  return { fetch, asked };
}

/** Server-sent events with their names, as Anthropic writes them. */
export const named = (...events: readonly ({ type: string } & Record<string, unknown>)[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** Server-sent events with only `data`, as Google writes them. */
export const unnamed = (...events: readonly unknown[]): string => events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('');

export interface Streaming {
  /** Cut at these places, modulo the length. */
  cuts?: readonly number[];
  /** `stall` leaves the connection open; `break` resets it. */
  ends?: 'close' | 'stall' | 'break';
  onCancel?: () => void;
}

/** A streaming response of these bytes. */
export function streamed(text: string, { cuts = [], ends = 'close', onCancel }: Streaming = {}): Response {
  const bytes = new TextEncoder().encode(text);
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const pieces = at.slice(1).map((end, index) => bytes.slice(at[index], end));
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces.shift();
        if (piece) return controller.enqueue(piece);
        if (ends === 'stall') return new Promise(() => {});
        return ends === 'break' ? controller.error(new TypeError('network error')) : controller.close();
      },
      cancel: () => onCancel?.(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** Result of one response. */
export interface Outcome {
  events: ModelEvent[];
  /** The tools of calls that were begun, as they were told with each piece; not among the events. */
  calling: string[][];
  text: string;
  /** The error that ended it, if any. */
  error: unknown;
}

/** All that a provider gives to a request. */
export const outcomeOf = (provider: Provider, request: ModelRequest, signal = new AbortController().signal): Promise<Outcome> =>
  heard(() => provider.stream(request, signal));

export async function heard(answer: () => AsyncIterable<ModelEvent>): Promise<Outcome> {
  const outcome: Outcome = { events: [], calling: [], text: '', error: undefined };
  try {
    for await (const event of answer()) {
      if (event.type === 'calling') outcome.calling.push(event.tools);
      else outcome.events.push(event);
      if (event.type === 'text') outcome.text += event.text;
    }
  } catch (thrown) {
    outcome.error = thrown;
  }
  return outcome;
}
