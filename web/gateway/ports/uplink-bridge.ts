import { createPortClient, CallsClosed, type EventSchemas } from '#shared/link/port-calls.ts';
import type { Mux } from '#shared/link/mux.ts';
import { textLink } from '#shared/link/text-link.ts';
import type { Port } from '#shared/ports/port.ts';
import type { Contracts } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { type Bridge, createNeedsBridgeError } from './bridge-interface.ts';

/** Maximum size of one response of a port. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** The bridge over the uplink: each call has its own stream, and ends with it. */
export function createUplinkBridge(getMux: (port: string) => Mux | null, watch: Bridge['watch']): Bridge {
  return {
    provides: ({ kind }) => getMux(kind) !== null,
    watch,
    async call<C extends Contracts, E extends EventSchemas, N extends keyof C & string>(
      port: Port<C, E>,
      name: N,
      params: Parameters<Bridge['call']>[2],
      { signal, on = {} }: Parameters<Bridge['call']>[3] = {},
    ) {
      const mux = getMux(port.kind);
      if (!mux) throw createNeedsBridgeError(port);
      signal?.throwIfAborted();
      const calls = createPortClient(
        textLink(mux.open({ kind: port.kind }), () => MAX_MESSAGE_BYTES),
        port.calls,
        port.events,
      );
      for (const [event, listener] of Object.entries(on)) if (listener) calls.on(event, listener);
      const cancel = (): void => calls.close();
      signal?.addEventListener('abort', cancel);
      try {
        return await calls.call(name, params as never);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof CallsClosed)) throw error;
        throw new RpcError(
          'INTERNAL_ERROR',
          `${port.featureName} failed: the connection to the bridge was lost.`,
          { retryable: true },
          { cause: error },
        );
      } finally {
        signal?.removeEventListener('abort', cancel);
        calls.close();
      }
    },
  };
}
