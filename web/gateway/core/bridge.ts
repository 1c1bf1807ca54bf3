import type { EventSchemas } from '#shared/link/calls.ts';
import type { Port } from '#shared/ports/port.ts';
import type { Contracts, ParamsOf, ResultOf } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { z } from '#shared/rpc/zod.ts';

export interface BridgeCallOptions<E extends EventSchemas> {
  /** Aborts the call, and its work at the bridge. */
  signal?: AbortSignal;
  /** Listeners for events that the bridge sends during the call. */
  on?: { [N in keyof E & string]?: (payload: z.output<E[N]>) => void };
}

/** The bridge and the capabilities that it provides to the core. */
export interface Bridge {
  /** Whether a bridge is attached that provides this port. */
  lends(port: Pick<Port, 'kind'>): boolean;
  /**
   * Makes one call. Rejects with the bridge's error, with the signal's reason, or with `INTERNAL_ERROR` if no attached bridge provides the
   * port.
   */
  call<C extends Contracts, E extends EventSchemas, N extends keyof C & string>(
    port: Port<C, E>,
    name: N,
    params: ParamsOf<C[N]>,
    options?: BridgeCallOptions<E>,
  ): Promise<ResultOf<C[N]>>;
  /** Calls back when a bridge attaches or detaches; returns a function that stops watching. */
  watch(listener: () => void): () => void;
}

/** The error for a port that is missing. */
export const needsBridge = ({ what }: Pick<Port, 'what'>): RpcError =>
  new RpcError('INTERNAL_ERROR', `${what} needs the bridge. Start Perch with \`perch gateway run\` and open the link it prints.`, {
    details: { reason: 'needs-bridge' },
  });

/** Throws `needsBridge` if the bridge does not provide the port. */
export function requireLent(bridge: Pick<Bridge, 'lends'>, port: Pick<Port, 'kind' | 'what'>): void {
  if (!bridge.lends(port)) throw needsBridge(port);
}

/** A bridge that is never attached. */
export const noBridge: Bridge = {
  lends: () => false,
  call: (port) => Promise.reject(needsBridge(port)),
  watch: () => () => {},
};
