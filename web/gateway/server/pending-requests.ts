import { truncateText } from '#shared/truncate-text.ts';
import { type LegacyResult, findLegacyResult } from '#shared/rpc/protocol-2-results.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { MIN_PROTOCOL_VERSION, PROTOCOL_VERSION, type RequestFrame, type ResponseFrame } from '#shared/rpc/frames.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { Dispatcher } from './dispatch.ts';
import type { Caller } from '../system/caller.ts';
import { type IdempotencyCache, toKeyedCall } from '../system/idempotency.ts';

export interface PendingRequestsDeps {
  dispatcher: Dispatcher;
  idempotency: IdempotencyCache;
  /** Converts an internal error to the error for the caller, and logs it. */
  fault(error: unknown): RpcError;
}

interface PendingRequestsOptions extends PendingRequestsDeps {
  caller: Caller;
  /** The negotiated protocol version; params and results of an earlier one have its shapes. */
  protocol: number;
  /** Undefined for a client without rate limits. */
  limits: ConnectionLimits | undefined;
  respond(frame: ResponseFrame): void;
}

/** A client's pending calls: each id once, within the limits. A repeat of an idempotent call joins the first one. */
export class PendingRequests {
  readonly #options: PendingRequestsOptions;
  readonly #inFlight = new Set<string>();

  constructor(options: PendingRequestsOptions) {
    this.#options = options;
  }

  /** Whether no call is pending. */
  get isIdle(): boolean {
    return this.#inFlight.size === 0;
  }

  /** Answers a request with exactly one response. Never rejects. */
  async handle({ id, method, params }: RequestFrame): Promise<void> {
    const { respond, fault } = this.#options;
    if (this.#inFlight.has(id)) {
      const message = `A request with id ${JSON.stringify(truncateText(id))} is already in progress. Use a unique id for each request.`;
      return this.reject(id, new RpcError('INVALID_PARAMS', message), method);
    }
    this.#inFlight.add(id);
    try {
      const payload = await this.#call(method, params);
      respond({ type: 'res', id, ok: true, payload });
    } catch (error) {
      respond({ type: 'res', id, ok: false, error: fault(error).toShape() });
    } finally {
      this.#inFlight.delete(id);
    }
  }

  /** Answers an invalid request with the error. It counts towards the limits; beyond them the response is `RATE_LIMITED` instead. */
  reject(id: string, error: RpcError, method = ''): void {
    const { limits, respond, fault } = this.#options;
    let reported = error;
    try {
      limits?.consume(method, false);
    } catch (limited) {
      reported = fault(limited);
    }
    respond({ type: 'res', id, ok: false, error: reported.toShape() });
  }

  #call(method: string, params: Record<string, unknown>): Promise<unknown> {
    const { dispatcher, idempotency, caller, limits, protocol } = this.#options;
    const policy = dispatcher.getPolicy(method);
    limits?.consume(method, policy?.controlPlane ?? false);
    if (method === 'connect') throw new RpcError('INVALID_PARAMS', 'This connection is already established.');
    const earlier: LegacyResult | undefined = protocol === PROTOCOL_VERSION ? undefined : findLegacyResult(method);
    if (earlier?.method === null)
      throw new RpcError('NOT_IMPLEMENTED', `${method} is not available in protocol version ${MIN_PROTOCOL_VERSION}.`);
    const keyed = toKeyedCall(params, policy);
    const run = (): Promise<unknown> => dispatcher.call(earlier?.method ?? method, keyed?.params ?? params, caller);
    const answer = keyed ? idempotency.runOnce(JSON.stringify([caller.principal, method, keyed.key]), run) : run();
    return earlier ? answer.then((payload) => earlier.shape(payload)) : answer;
  }
}
