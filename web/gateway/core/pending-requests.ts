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
  /** Turns a fault of ours into what the caller may see, and logs it. */
  fault(error: unknown): RpcError;
}

export interface PendingRequestsOptions extends PendingRequestsDeps {
  caller: Caller;
  /** The protocol that was agreed on: params and results of an earlier one have its shapes. */
  protocol: number;
  /** None for who may call as often as they like. */
  limits: ConnectionLimits | undefined;
  respond(frame: ResponseFrame): void;
}

/** The calls of one client that are under way: each id once, within the limits, and a repeat of an idempotent call is the call itself. */
export class PendingRequests {
  readonly #options: PendingRequestsOptions;
  readonly #inFlight = new Set<string>();

  constructor(options: PendingRequestsOptions) {
    this.#options = options;
  }

  /** No call is under way. */
  get idle(): boolean {
    return this.#inFlight.size === 0;
  }

  /** Answers a request by exactly one response. Never rejects. */
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

  /** Answers what cannot be called by the error. It counts as a request too, and beyond the limits is told that instead. */
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
