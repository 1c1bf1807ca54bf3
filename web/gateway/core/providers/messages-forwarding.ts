import { BETA_HEADER, VERSION_HEADER } from '#shared/http/messages-api.ts';
import type { SpliceEnd } from '#shared/link/splice.ts';
import { z } from '#shared/rpc/zod.ts';
import type { Clock } from '../clock.ts';
import { AnthropicAssembler } from './anthropic-assembler.ts';
import { statusError } from './openai-errors.ts';
import type { Forwarded, SpliceTo } from './forwarding.ts';
import { faultOfEnd, sendForwarded, toPassing } from './past-host.ts';
import { type Provider, ProviderError } from './provider.ts';
import { retried } from './retry.ts';
import { toStanding } from './standing.ts';
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
    options: { headers: MessagesHeaders; to?: SpliceTo | undefined },
  ): Promise<Forwarded>;
  /** The upstream's response to a request to count tokens. */
  countTokens(body: Record<string, unknown>, signal: AbortSignal, headers: MessagesHeaders): Promise<unknown>;
  /** Resolves with the failure of an answer that the bridge passed on and that ended with `end`. */
  faultOfEnd(end: SpliceEnd, signal: AbortSignal): Promise<unknown>;
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
  forward(...given: Parameters<MessagesProvider['forwardMessages']>): Promise<Forwarded> {
    return retried(() => this.#forward(...given), { clock: this.#clock, signal: given[1] });
  }

  count(...[body, signal, headers]: Parameters<MessagesProvider['countTokens']>): Promise<unknown> {
    const path = `/messages/count_tokens${toQuery(headers)}`;
    const ask = (): Promise<unknown> =>
      this.#http.watched(signal, (watchdog) => this.#http.json(path, watchdog, body, toHeaders(headers)), true);
    return retried(ask, { clock: this.#clock, signal });
  }

  faultOfEnd(end: SpliceEnd): unknown {
    const fault = faultOfEnd(end, this.#http, readFault);
    return fault && this.#http.explain(fault);
  }

  #forward(...[body, signal, { headers, to }]: Parameters<MessagesProvider['forwardMessages']>): Promise<Forwarded> {
    const forward = { wire: 'messages' as const, stream: body['stream'] === true, choices: 1, stripUsage: false, thinksFirst: false };
    const variant = to?.variant;
    const passing =
      to && toPassing(this.#http, to, forward, (own, sent) => (variant === undefined ? undefined : toStanding(own, sent, { variant })));
    return sendForwarded(this.#http, {
      signal,
      whole: !forward.stream,
      send: (watchdog) => this.#http.send(`/messages${toQuery(headers)}`, body, watchdog, passing, toHeaders(headers)),
      faultOfEnd: (end) => faultOfEnd(end, this.#http, readFault),
      isEnd,
    });
  }
}

/** Whether an event is the last one of an answer. */
export const isEnd = (data: string): boolean => /"type"\s*:\s*"message_stop"/.test(data.slice(0, 100));

/** The error that an event or a whole answer reports. */
export function readFault(provider: string, data: string): unknown {
  try {
    new AnthropicAssembler(provider).add(data);
  } catch (error) {
    return error;
  }
  return new ProviderError(`${provider} sent an unexpected part of a response.`);
}

const fault = z.object({ error: z.object({ details: z.record(z.string(), z.unknown()) }) });

/** Error of an unsuccessful response, with the details that Anthropic's clients act on. */
export const messagesFailure: typeof statusError = (provider, response, text, now) => {
  const error = statusError(provider, response, text, now);
  error.details = fault.safeParse(parseJson(text)).data?.error.details;
  return error;
};

const toQuery = ({ betaPath }: MessagesHeaders): string => (betaPath ? '?beta=true' : '');
const toHeaders = ({ version, beta }: MessagesHeaders): Record<string, string> => ({
  ...(version ? { [VERSION_HEADER]: version } : {}),
  ...(beta ? { [BETA_HEADER]: beta } : {}),
});
