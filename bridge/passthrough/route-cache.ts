import { isUtf8 } from 'node:buffer';
import { computeBodyEdits } from '#shared/http/body-edits.ts';
import { envelope } from '#shared/http/envelope.ts';
import type { Mux } from '#shared/link/mux.ts';
import type { ForwardRequest, SplicedCall } from '#shared/link/splice.ts';
import { parseJson } from '#shared/parse-json.ts';
import { type UpstreamRequest, toUpstreamHead } from './upstream-request.ts';
import { applyByteEdits } from './apply-edits.ts';
import type { PassthroughLimits } from './streaming-passthrough.ts';

/** A host's decision for a caller and a model, valid for a short time. */
interface CachedRoute {
  upstream: Omit<UpstreamRequest, 'body' | 'signal'>;
  /** The upstream's name of the model. */
  model: string;
  addUsage: boolean;
  call: Pick<SplicedCall, 'provider' | 'model' | 'principal'>;
  wire: ForwardRequest['wire'];
  limits: Pick<ForwardRequest, 'idleMs' | 'trailerMs' | 'thinksFirst'>;
  /** Expiry, by `performance.now()`. */
  expiresAt: number;
}

/** A request as it is sent upstream by a cached decision. */
export interface RoutedRequest {
  upstream: Omit<UpstreamRequest, 'signal'>;
  call: CachedRoute['call'];
  wire: ForwardRequest['wire'];
  messages: unknown[];
  /** Time limits for events, if the caller wants events. */
  events: PassthroughLimits | undefined;
}

const BYTE_ORDER_MARK = 0xef;
/** Maximum number of decisions per host. If there are more, its cache is cleared. */
const MAX_ROUTES = 1000;

/**
 * Cache of hosts' routing decisions: for some seconds, requests of the same caller for the same model are answered the same way without the
 * host, which learns of them from their receipts (docs/decisions/0023). A bad outcome, or a change of the host's decision, clears the
 * host's cache.
 */
export class RouteCache {
  /** By host, then by caller and model. Withdrawing replaces the inner map. */
  readonly #routes = new WeakMap<Mux, Map<string, CachedRoute>>();
  readonly #via: string;

  /** `via`: id of this gateway. */
  constructor(via: string) {
    this.#via = via;
  }

  /** Records a host's decision. The result activates it, unless decisions were withdrawn in the meantime. */
  prepareRoute(
    mux: Mux,
    { standing, call, wire, idleMs, trailerMs, thinksFirst }: ForwardRequest,
    headers: Record<string, string>,
  ): () => void {
    const url = headers[':url'];
    if (!standing || url === undefined) return () => {};
    const routes = this.#routes.get(mux) ?? new Map<string, CachedRoute>();
    this.#routes.set(mux, routes);
    const upstream = { url, ...toUpstreamHead(headers, this.#via) };
    return () => {
      if (this.#routes.get(mux) !== routes) return;
      if (routes.size >= MAX_ROUTES) routes.clear();
      const { provider, model, principal } = call;
      const { asked: request, variant, ms, addUsage } = standing;
      const limits = { idleMs, trailerMs, thinksFirst };
      const route = { upstream, model: standing.model, addUsage, call: { provider, model, principal }, wire, limits };
      routes.set(toRouteKey(principal, variant, request), { ...route, expiresAt: performance.now() + ms });
    };
  }

  /** Whether a host has cached decisions. Otherwise requests need not be read here. */
  any(mux: Mux): boolean {
    return (this.#routes.get(mux)?.size ?? 0) > 0;
  }

  /** Returns how to answer a request; undefined if its host has to decide. `body`: the whole body; `variant`: see `toVariant`. */
  findRoute(mux: Mux, principal: string, body: Buffer, variant = ''): RoutedRequest | undefined {
    const routes = this.#routes.get(mux);
    if (!routes || !isUtf8(body) || body[0] === BYTE_ORDER_MARK) return undefined;
    const text = body.toString();
    const request = readEnvelope(text);
    if (!request) return undefined;
    const key = toRouteKey(principal, variant, request.model);
    const decision = routes.get(key);
    if (!decision) return undefined;
    if (decision.expiresAt < performance.now()) return void routes.delete(key);
    const stripUsage = request.stream === true && decision.addUsage && request.stream_options?.include_usage !== true;
    const options = stripUsage ? { stream_options: { ...request.stream_options, include_usage: true } } : {};
    const edits = computeBodyEdits(text, request, { ...request, model: decision.model, ...options });
    const sent = edits && applyByteEdits(body, edits);
    if (!sent) return undefined;
    const { wire } = decision;
    const events = request.stream ? { ...decision.limits, wire, choices: request.n ?? 1, stripUsage } : undefined;
    return { upstream: { ...decision.upstream, body: sent }, call: decision.call, wire, messages: request.messages, events };
  }

  /** Clears a host's decisions, including pending ones. */
  invalidate(mux: Mux): void {
    this.#routes.delete(mux);
  }
}

const toRouteKey = (principal: string, variant: string, model: string): string => JSON.stringify([principal, variant, model]);

function readEnvelope(text: string): ReturnType<typeof envelope.parse> | undefined {
  try {
    return envelope.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  }
}
