import { RpcError } from '../rpc/rpc-error.ts';
import type { MethodName, MethodParams, MethodResult } from '../rpc/methods/index.ts';

/** Calls a method of the gateway. */
export type GatewayCall = <M extends MethodName>(method: M, params: MethodParams<M>) => Promise<MethodResult<M>>;

const DEFAULT_WAIT_MS = 1000;

/** A call that is retried after the requested delay when it is rate limited. Rejects once `signal` aborts. */
export const createRetryingCall =
  (call: GatewayCall, signal?: AbortSignal): GatewayCall =>
  async (method, params) => {
    for (;;) {
      signal?.throwIfAborted();
      try {
        return await call(method, params);
      } catch (error) {
        if (!(error instanceof RpcError) || error.code !== 'RATE_LIMITED') throw error;
        const { retryAfterMs = DEFAULT_WAIT_MS } = error.extra;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, retryAfterMs);
          signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
        });
      }
    }
  };
