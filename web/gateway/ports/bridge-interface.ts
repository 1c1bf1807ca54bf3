import type { EventSchemas } from '#shared/link/port-calls.ts';
import type { Port } from '#shared/ports/port.ts';
import type { Contracts, ContractParams, ContractResult } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { z } from '#shared/rpc/zod.ts';

interface BridgeCallOptions<E extends EventSchemas> {
  /** Aborts the call, and its work at the bridge. */
  signal?: AbortSignal;
  /** Listeners for events that the bridge sends during the call. */
  on?: { [N in keyof E & string]?: (payload: z.output<E[N]>) => void };
}

/** The bridge and the capabilities that it provides to the core. */
export interface Bridge {
  /** Whether a bridge is attached that provides this port. */
  provides(port: Pick<Port, 'kind'>): boolean;
  /**
   * Makes one call. Rejects with the bridge's error, with the signal's reason, or with `INTERNAL_ERROR` if no attached bridge provides the
   * port.
   */
  call<C extends Contracts, E extends EventSchemas, N extends keyof C & string>(
    port: Port<C, E>,
    name: N,
    params: ContractParams<C[N]>,
    options?: BridgeCallOptions<E>,
  ): Promise<ContractResult<C[N]>>;
  /** Calls back when a bridge attaches or detaches; returns a function that stops watching. */
  watch(listener: () => void): () => void;
}

/** The error for a port that is missing. */
export const createNeedsBridgeError = ({ featureName }: Pick<Port, 'featureName'>): RpcError =>
  new RpcError('INTERNAL_ERROR', `${featureName} needs the bridge. Start Perch with \`perch gateway run\` and open the link it prints.`, {
    details: { reason: 'needs-bridge' },
  });

/** Throws `createNeedsBridgeError` if the bridge does not provide the port. */
export function requireCapability(bridge: Pick<Bridge, 'provides'>, port: Pick<Port, 'kind' | 'featureName'>): void {
  if (!bridge.provides(port)) throw createNeedsBridgeError(port);
}

/** A bridge that is never attached. */
export const detachedBridge: Bridge = {
  provides: () => false,
  call: (port) => Promise.reject(createNeedsBridgeError(port)),
  watch: () => () => {},
};
