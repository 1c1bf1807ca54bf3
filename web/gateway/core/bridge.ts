import type { EventSchemas } from '#shared/link/calls.ts';
import type { Port } from '#shared/ports/port.ts';
import type { Contracts, ParamsOf, ResultOf } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { z } from '#shared/rpc/zod.ts';

export interface BridgeCallOptions<E extends EventSchemas> {
  /** Ends the call, and what it does at the bridge. */
  signal?: AbortSignal;
  /** Told what the bridge says while the call is under way. */
  on?: { [N in keyof E & string]?: (payload: z.output<E[N]>) => void };
}

/** The bridge, as far as it lends something to the core (design.md, "Ports"). */
export interface Bridge {
  /** A bridge is attached that lends this port. */
  lends(port: Pick<Port, 'kind'>): boolean;
  /** One call. Rejects with what the bridge says, with the signal's reason, and with `INTERNAL_ERROR` where no bridge is there (any more) that lends the port. */
  call<C extends Contracts, E extends EventSchemas, N extends keyof C & string>(
    port: Port<C, E>,
    name: N,
    params: ParamsOf<C[N]>,
    options?: BridgeCallOptions<E>,
  ): Promise<ResultOf<C[N]>>;
  /** Calls back when a bridge has been attached, and when it is gone; the result stops it. */
  watch(listener: () => void): () => void;
}

/** What is said where a port is missing. */
export const needsBridge = ({ what }: Pick<Port, 'what'>): RpcError =>
  new RpcError('INTERNAL_ERROR', `${what} needs the bridge. Start Perch with \`perch gateway run\` and open the link it prints.`, {
    details: { reason: 'needs-bridge' },
  });

/** Throws that sentence where no bridge lends the port. */
export function requireLent(bridge: Pick<Bridge, 'lends'>, port: Pick<Port, 'kind' | 'what'>): void {
  if (!bridge.lends(port)) throw needsBridge(port);
}

/** Where there never is a bridge. */
export const noBridge: Bridge = {
  lends: () => false,
  call: (port) => Promise.reject(needsBridge(port)),
  watch: () => () => {},
};
