import { serveCalls, type EventSchemas } from '#shared/link/port-calls.ts';
import type { Stream } from '#shared/link/stream.ts';
import { textLink } from '#shared/link/text-link.ts';
import type { Port } from '#shared/ports/port.ts';
import type { Contracts, ParsedParams, ContractResult } from '#shared/rpc/contract.ts';
import type { z } from '#shared/rpc/zod.ts';

/** Maximum characters per call. */
const MAX_MESSAGE = 32 * 1024 * 1024;

/** Context of a port call for its handler. */
export interface PortCall<E extends EventSchemas> {
  /** Aborted when the caller is gone or cancels the call. */
  signal: AbortSignal;
  send<N extends keyof E & string>(event: N, payload: z.input<E[N]>): void;
}

/** Handlers of a port. A handler returns, or throws an `RpcError` that is sent to the caller. */
export type PortHandlers<C extends Contracts, E extends EventSchemas> = {
  [N in keyof C]: (params: ParsedParams<C[N]>, call: PortCall<E>) => Promise<ContractResult<C[N]>>;
};

/** Answers calls on a stream. The end of the stream aborts calls in progress. */
export function servePort<C extends Contracts, E extends EventSchemas>(
  stream: Stream,
  port: Port<C, E>,
  handlers: PortHandlers<C, E>,
  log: (line: string) => void,
): void {
  const aborter = new AbortController();
  const call: PortCall<E> = { signal: aborter.signal, send: (event, payload) => answerer.send(event, payload) };
  // Calls that arrive before the handlers exist wait for them.
  const ready = Promise.resolve();
  const bound = Object.fromEntries(
    Object.entries(handlers).map(([name, handle]) => [
      name,
      (params: never) => ready.then(() => (handle as PortHandlers<C, E>[keyof C])(params, call)),
    ]),
  );
  const answerer = serveCalls<C, E>(
    textLink(stream, () => MAX_MESSAGE),
    port.calls,
    bound as never,
    {
      fault: (error) => {
        if (!aborter.signal.aborted) log(`${port.kind}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      },
      onclose: () => aborter.abort(new Error('the caller disconnected')),
    },
  );
}
