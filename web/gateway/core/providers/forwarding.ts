import type { SplicedCall, SpliceEnd } from '#shared/link/splice.ts';
import type { Stream } from '#shared/link/stream.ts';
import type { Provider } from './provider.ts';
import type { BodyItem } from './upstream-body.ts';

/** How an answer that went past the host ended. */
export interface PastHost {
  /** Resolves when it is over: with what went wrong, as it may be told, or with undefined where the answer is whole. Rejects with the signal's reason. */
  failed: Promise<unknown>;
}

/** The caller to whom the bridge may give the answer itself (shared/link/splice.ts). */
export interface SpliceTo {
  /** The stream on which the request came. */
  exchange: Stream;
  /** The request's body, read and as the bridge has it; undefined where it has not kept it. */
  own: { body: Record<string, unknown>; text: string } | undefined;
  call: SplicedCall;
  /** The caller's next requests of the kind may be answered alike. */
  stands: boolean;
  /** All in the request line and headers that such a decision depends on. */
  variant?: string | undefined;
}

/** A raw answer of the upstream, for a caller that speaks the same language. */
export interface Forwarded {
  /** Batches as they come, one per network chunk; ends or throws as the upstream does. */
  batches: AsyncGenerator<{ items: BodyItem[]; last: boolean }>;
  /** After the finish: only a trailer is still waited for. */
  trailer(): void;
  /** A failure that was found in what came, as it may be told. */
  told(error: unknown): unknown;
  /** Of models that end thoughts in their text without having begun them. */
  thinking?: {
    /** This model does. */
    first: boolean;
    /** It was found that this model does. */
    found(): void;
  };
  /** Instead of batches, of which there are none then. */
  past?: PastHost;
}

/** A provider that passes a completions request through as it is. */
export interface ForwardingProvider extends Provider {
  /**
   * Sends a caller's own `POST /chat/completions` body. Resolves when the upstream has accepted it, with what it sends; rejects with
   * `ProviderError` before that. The upstream is cancelled by `signal` and when the batches are left early. `addUsage`: also asks for figures of
   * usage, if the server gives them, for the gateway's own records. `to`: the answer may go to that caller past the host.
   */
  forward(
    body: Record<string, unknown>,
    signal: AbortSignal,
    options: { addUsage: boolean; to?: SpliceTo | undefined },
  ): Promise<Forwarded>;
  /** Resolves with what went wrong in an answer that ended so past the host, as it may be told. */
  faultOfEnd(end: SpliceEnd, signal: AbortSignal): Promise<unknown>;
}

export function canForward(provider: Provider): provider is ForwardingProvider {
  return 'forward' in provider && typeof provider.forward === 'function';
}
