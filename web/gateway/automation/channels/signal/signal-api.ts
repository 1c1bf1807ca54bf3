import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import { SseScanner } from '#shared/http/sse.ts';
import type { Fetch } from '../../../ports/fetch.ts';
import { parseJson } from '../../../providers/upstream-http.ts';
import { PlatformError, requestPlatform } from '../platform-request.ts';

const NAME = 'Signal';
const MAX_EVENT_BYTES = 1024 * 1024;
const RPC_TIMEOUT_MS = 120_000;
const LIMIT_RETRY_MS = 60_000;

const rpcResponse = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string().catch('') }).optional(),
});

/** Error codes of signal-cli: wrong use, an untrusted key, and a limit of Signal's. */
const REFUSED_CODES = [-1, -2, -4, -32602];
const LIMIT_CODE = -5;

export interface SignalApiDeps {
  fetch: Fetch;
  clock: Clock;
  apiBase: string;
  /** Phone number of the account. */
  account: string;
}

/** `id`: number of the event; older builds of signal-cli give none. */
type EventListener = (event: unknown, id: string | undefined) => void;

/** The JSON-RPC of signal-cli's daemon by HTTP (https://github.com/AsamK/signal-cli/blob/master/man/signal-cli-jsonrpc.5.adoc). */
export class SignalApi {
  readonly #deps: SignalApiDeps;

  constructor(deps: SignalApiDeps) {
    this.#deps = deps;
  }

  /** Calls a method; resolves with its result, parsed by `result`. Throws `PlatformError`. */
  async call<T extends z.ZodType>(method: string, params: object, result: T, signal: AbortSignal): Promise<z.output<T>> {
    const { fetch, clock, apiBase, account } = this.#deps;
    const body = JSON.stringify({ jsonrpc: '2.0', id: '1', method, params: { account, ...params } });
    const request = { method: 'POST' as const, headers: { 'content-type': 'application/json' }, body, signal, timeoutMs: RPC_TIMEOUT_MS };
    const { status, json } = await requestPlatform({ name: NAME, fetch, clock }, `${apiBase}/api/v1/rpc`, request);
    const answer = rpcResponse.safeParse(json).data;
    if (!answer || (status !== 200 && !answer.error))
      throw new PlatformError('There is no signal-cli at channels.signal.apiBase.', { status, isUnsent: status >= 400 && status < 500 });
    if (answer.error) throw toError(answer.error.code, answer.error.message);
    const parsed = result.safeParse(answer.result);
    if (!parsed.success) throw new PlatformError(`${NAME} sent an unexpected response to ${method}.`);
    return parsed.data;
  }

  /**
   * Opens the stream of events; resolves once it is open. `lastEventId`: event after which it continues, if signal-cli numbers them and
   * still has those after it. `onEnd`: called when it ends. Throws `PlatformError`.
   */
  async subscribe(
    { lastEventId, onEvent, onEnd }: { lastEventId: string | undefined; onEvent: EventListener; onEnd: () => void },
    signal: AbortSignal,
  ): Promise<void> {
    const { fetch, apiBase, account } = this.#deps;
    const query = new URLSearchParams({ account }).toString();
    const headers = { accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
    let response: Response;
    try {
      response = await fetch(`${apiBase}/api/v1/events?${query}`, { headers, signal });
    } catch (cause) {
      signal.throwIfAborted();
      throw new PlatformError('Couldn’t reach signal-cli. Is its daemon running?', { cause, isUnsent: true });
    }
    if (response.status !== 200 || !response.body) {
      void response.body?.cancel().catch(() => {});
      throw new PlatformError(`signal-cli does not send events (${response.status}). Check channels.signal.apiBase.`);
    }
    void readEvents(response.body, onEvent).finally(onEnd);
  }
}

async function readEvents(body: ReadableStream<Uint8Array>, onEvent: EventListener): Promise<void> {
  const scanner = new SseScanner(MAX_EVENT_BYTES);
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const { data, id } of scanner.push(value)) onEvent(parseJson(data), id);
    }
  } catch {
    // The next poll opens it again, and reports why it cannot.
    void reader.cancel().catch(() => {});
  } finally {
    scanner.close();
  }
}

function toError(code: number, message: string): PlatformError {
  const text = message.slice(0, 300);
  if (code === LIMIT_CODE)
    return new PlatformError('Signal is limiting messages. They are sent later.', { isUnsent: true, retryAfterMs: LIMIT_RETRY_MS });
  // A network error of signal-cli may come after the message was sent.
  const isRefused = REFUSED_CODES.includes(code);
  return new PlatformError(`signal-cli rejected the request (${code}: ${text}).`, {
    isUnsent: isRefused || code === -32601,
    refused: isRefused,
  });
}
