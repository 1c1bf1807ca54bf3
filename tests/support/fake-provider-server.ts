import type { Fetch, FetchInit } from '../../web/gateway/ports/fetch.ts';
import type { ModelEvent, ModelRequest, Provider } from '../../web/gateway/providers/provider.ts';

/** A request to a simulated provider. */
export interface ProviderRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
  signal: AbortSignal;
}

/** Returns the body of a request as text, in either form. */
export const getBodyText = ({ body, bytes }: Pick<FetchInit, 'body' | 'bytes'>): string | undefined =>
  bytes ? new TextDecoder().decode(bytes) : body;

/** A server behind the core's `Fetch`: `answer` returns the response to each request, and `asked` records the requests. */
export function createFakeServer(answer: (requests: ProviderRequest, count: number) => Response | Promise<Response>): {
  fetch: Fetch;
  asked: ProviderRequest[];
} {
  const asked: ProviderRequest[] = [];
  const fetch: Fetch = async (url, { method = 'GET', headers = {}, signal, ...sent }) => {
    const text = getBodyText(sent);
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    const request: ProviderRequest = {
      url,
      method,
      headers,
      signal,
      body: typeof value === 'object' && value !== null ? { ...value } : undefined,
    };
    asked.push(request);
    return answer(request, asked.length);
  };
  return { fetch, asked };
}

/** Server-sent events with their names, as Anthropic writes them. */
export const toNamedEvents = (...events: readonly ({ type: string } & Record<string, unknown>)[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** Server-sent events with only `data`, as Google writes them. */
export const toUnnamedEvents = (...events: readonly unknown[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('');

export interface StreamOptions {
  /** Positions at which to split the bytes, modulo the length. */
  cuts?: readonly number[];
  /** `stall` leaves the connection open; `break` resets it. */
  ends?: 'close' | 'stall' | 'break';
  onCancel?: () => void;
}

/** A streaming response of these bytes. */
export function createStreamResponse(text: string, { cuts = [], ends = 'close', onCancel }: StreamOptions = {}): Response {
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
export interface ProviderOutcome {
  events: ModelEvent[];
  /** Names of the tools of started calls, as reported with each delta; not part of the events. */
  pendingCalls: string[][];
  text: string;
  /** The error that ended it, if any. */
  error: unknown;
}

/** All events of a provider's response to a request. */
export const collectOutcome = (
  provider: Provider,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<ProviderOutcome> => collectEvents(() => provider.stream(request, signal));

export async function collectEvents(answer: () => AsyncIterable<ModelEvent>): Promise<ProviderOutcome> {
  const outcome: ProviderOutcome = { events: [], pendingCalls: [], text: '', error: undefined };
  try {
    for await (const event of answer()) {
      if (event.type === 'calling') outcome.pendingCalls.push(event.tools);
      else outcome.events.push(event);
      if (event.type === 'text') outcome.text += event.text;
    }
  } catch (thrown) {
    outcome.error = thrown;
  }
  return outcome;
}
