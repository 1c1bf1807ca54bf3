import { ANTHROPIC_BETA_HEADER, ANTHROPIC_VERSION_HEADER } from '#shared/http/messages-api.ts';
import type { SpliceEnd } from '#shared/link/splice.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '#shared/async/clock.ts';
import { AnthropicAssembler } from './anthropic-assembler.ts';
import { toStatusError } from './upstream-errors.ts';
import type { ForwardedResponse, SpliceTarget } from './forwarding-provider.ts';
import { getEndFault, sendForwarded, toPassthroughOptions } from './passthrough-result.ts';
import { type Provider, ProviderError } from './provider.ts';
import { retry } from './retry.ts';
import { toCachedRoute } from './cached-route.ts';
import { parseJson, type UpstreamHttp } from './upstream-http.ts';

/** API version and beta features of the caller's request. */
export interface MessagesHeaders {
  version: string | null;
  beta: string | null;
  /** The caller used the path of the beta API. */
  betaPath: boolean;
}

/** A provider that forwards a request of Anthropic's Messages API unchanged. */
export interface MessagesProvider extends Provider {
  /**
   * Sends a caller's own body. Resolves once the upstream has accepted it; rejects with `ProviderError` before that. `to`: the caller to
   * whom the bridge may send the answer directly.
   */
  forwardMessages(
    body: Record<string, unknown>,
    signal: AbortSignal,
    options: { headers: MessagesHeaders; to?: SpliceTarget | undefined },
  ): Promise<ForwardedResponse>;
  /** The upstream's response to a request to count tokens. */
  countTokens(body: Record<string, unknown>, signal: AbortSignal, headers: MessagesHeaders): Promise<unknown>;
  /** Resolves with the failure of an answer that the bridge passed on and that ended with `end`. */
  toEndFault(end: SpliceEnd, signal: AbortSignal): Promise<unknown>;
}

export const canForwardMessages = (provider: Provider): provider is MessagesProvider =>
  'forwardMessages' in provider && typeof provider.forwardMessages === 'function';

/** Forwards requests and responses between callers and one Anthropic server. */
export class MessagesForwarding {
  readonly #http: UpstreamHttp;
  readonly #clock: Clock;

  constructor(http: UpstreamHttp, clock: Clock) {
    this.#http = http;
    this.#clock = clock;
  }

  /** Tries up to three times until the upstream has accepted the request. */
  forward(...args: Parameters<MessagesProvider['forwardMessages']>): Promise<ForwardedResponse> {
    return retry(() => this.#forward(...args), { clock: this.#clock, signal: args[1] });
  }

  count(...[body, signal, headers]: Parameters<MessagesProvider['countTokens']>): Promise<unknown> {
    const path = `/messages/count_tokens${toQuery(headers)}`;
    const sendRequest = (): Promise<unknown> =>
      this.#http.withWatchdog(signal, (watchdog) => this.#http.json(path, watchdog, body, toHeaders(headers)), true);
    return retry(sendRequest, { clock: this.#clock, signal });
  }

  toEndFault(end: SpliceEnd): unknown {
    const fault = getEndFault(end, this.#http, readMessagesFault);
    return fault && this.#http.explain(fault);
  }

  #forward(...[body, signal, { headers, to }]: Parameters<MessagesProvider['forwardMessages']>): Promise<ForwardedResponse> {
    const forward = { wire: 'messages' as const, stream: body['stream'] === true, choices: 1, stripUsage: false, thinksFirst: false };
    const variant = to?.variant;
    const passthroughOptions =
      to &&
      toPassthroughOptions(this.#http, to, forward, (receivedBody, sent) =>
        variant === undefined ? undefined : toCachedRoute(receivedBody, sent, { variant }),
      );
    return sendForwarded(this.#http, {
      signal,
      isBuffered: !forward.stream,
      send: (watchdog) => this.#http.send(`/messages${toQuery(headers)}`, body, watchdog, passthroughOptions, toHeaders(headers)),
      toEndFault: (end) => getEndFault(end, this.#http, readMessagesFault),
      isLast: isMessageEnd,
    });
  }
}

/** Whether an event is the last one of an answer. */
export const isMessageEnd = (data: string): boolean => /"type"\s*:\s*"message_stop"/.test(data.slice(0, 100));

/** The error that an event or a whole answer reports. */
export function readMessagesFault(provider: string, data: string): unknown {
  try {
    new AnthropicAssembler(provider).add(data);
  } catch (error) {
    return error;
  }
  return new ProviderError(`${provider} sent an unexpected part of a response.`);
}

const faultSchema = z.object({ error: z.object({ details: z.record(z.string(), z.unknown()) }) });

/** Error of an unsuccessful response, with the details that Anthropic's clients act on. */
export const toMessagesError: typeof toStatusError = (provider, response, text, now) => {
  const error = toStatusError(provider, response, text, now);
  error.details = faultSchema.safeParse(parseJson(text)).data?.error.details;
  return error;
};

const toQuery = ({ betaPath }: MessagesHeaders): string => (betaPath ? '?beta=true' : '');
const toHeaders = ({ version, beta }: MessagesHeaders): Record<string, string> => ({
  ...(version ? { [ANTHROPIC_VERSION_HEADER]: version } : {}),
  ...(beta ? { [ANTHROPIC_BETA_HEADER]: beta } : {}),
});
