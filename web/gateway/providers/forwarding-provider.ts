import type { SplicedCall, SpliceEnd } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import type { Provider } from './provider.ts';
import type { BodyItem } from './upstream-body.ts';

/** End of an answer that the bridge passed on without the host. */
export interface PassthroughResult {
  /** Settles at the end: with a displayable error, or undefined if the answer is complete. Rejects with the signal's reason. */
  failed: Promise<unknown>;
}

/** The caller to whom the bridge may send the answer itself (shared/link/splice.ts). */
export interface SpliceTarget {
  /** Stream of the caller's request. */
  exchange: Stream;
  /** The request's body, parsed and as the bridge has it; undefined if the bridge has not kept it. */
  receivedBody: { body: Record<string, unknown>; text: string } | undefined;
  call: SplicedCall;
  /** The bridge may handle the caller's next similar requests the same way. */
  isCacheable: boolean;
  /** Everything in the request line and headers that such a decision depends on. */
  variant?: string | undefined;
}

/** A raw response of the upstream, for a caller that uses the same format. */
export interface ForwardedResponse {
  /** Batches as they arrive, one per network chunk; ends or throws as the upstream does. */
  batches: AsyncGenerator<{ items: BodyItem[]; last: boolean }>;
  /** Call this after the finish: from then on, only a trailer is expected. */
  expectTrailer(): void;
  /** Converts a failure found in the response to a displayable error. */
  normalizeError(error: unknown): unknown;
  /** For models that close a thinking tag in their text without having opened it. */
  thinking?: {
    /** This model is known to do so. */
    first: boolean;
    /** Records that this model does so. */
    markFound(): void;
  };
  /** Set if the bridge passes the answer on; then there are no batches. */
  past?: PassthroughResult;
}

/** A provider that forwards a chat-completions request unchanged. */
export interface ForwardingProvider extends Provider {
  /**
   * Sends a caller's own `POST /chat/completions` body. Resolves with the response once the upstream has accepted it; rejects with
   * `ProviderError` before that. `signal`, and ending the batches early, cancel the upstream. `addUsage`: also asks for usage, if the
   * server supports it, for the gateway's own records. `to`: the caller to whom the bridge may send the answer directly.
   */
  forward(
    body: Record<string, unknown>,
    signal: AbortSignal,
    options: { addUsage: boolean; to?: SpliceTarget | undefined },
  ): Promise<ForwardedResponse>;
  /** Resolves with a displayable error for an answer that the bridge passed on and that ended with `end`. */
  toEndFault(end: SpliceEnd, signal: AbortSignal): Promise<unknown>;
}

export function canForward(provider: Provider): provider is ForwardingProvider {
  return 'forward' in provider && typeof provider.forward === 'function';
}
