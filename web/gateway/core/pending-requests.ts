import { cutShort } from '#shared/cut-short.ts';
import { type EarlierShape, earlierShape } from '#shared/rpc/compat.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { MIN_PROTOCOL, PROTOCOL, type RequestFrame, type ResponseFrame } from '#shared/rpc/frames.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { Caller, Dispatcher } from './dispatch.ts';
import { type Idempotency, keyedCall } from './idempotency.ts';

export interface PendingRequestsDeps {
  dispatcher: Dispatcher;
  idempotency: Idempotency;
  /** Converts an internal error to the error for the caller, and logs it. */
  fault(error: unknown): RpcError;
}

export interface PendingRequestsOptions extends PendingRequestsDeps {
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
  get idle(): boolean {
    return this.#inFlight.size === 0;
  }

  /** Answers a request with exactly one response. Never rejects. */
  async answer({ id, method, params }: RequestFrame): Promise<void> {
    const { respond, fault } = this.#options;
    if (this.#inFlight.has(id)) {
      const message = `A request with id ${JSON.stringify(cutShort(id))} is already in progress. Use a unique id for each request.`;
      return this.refuse(id, new RpcError('INVALID_PARAMS', message), method);
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
  refuse(id: string, error: RpcError, method = ''): void {
    const { limits, respond, fault } = this.#options;
    let told = error;
    try {
      limits?.take(method, false);
    } catch (limited) {
      told = fault(limited);
    }
    respond({ type: 'res', id, ok: false, error: told.toShape() });
  }

  #call(method: string, params: Record<string, unknown>): Promise<unknown> {
    const { dispatcher, idempotency, caller, limits, protocol } = this.#options;
    const policy = dispatcher.policyOf(method);
    limits?.take(method, policy?.controlPlane ?? false);
    if (method === 'connect') throw new RpcError('INVALID_PARAMS', 'This connection is already established.');
    const earlier: EarlierShape | undefined = protocol === PROTOCOL ? undefined : earlierShape(method);
    if (earlier?.method === null) throw new RpcError('NOT_IMPLEMENTED', `${method} is not available in protocol version ${MIN_PROTOCOL}.`);
    const keyed = keyedCall(params, policy);
    const run = (): Promise<unknown> => dispatcher.call(earlier?.method ?? method, keyed?.params ?? params, caller);
    const answer = keyed ? idempotency.once(JSON.stringify([caller.principal, method, keyed.key]), run) : run();
    return earlier ? answer.then((payload) => earlier.shape(payload)) : answer;
  }
}
