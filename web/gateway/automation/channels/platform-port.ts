import { platformFault } from '#shared/ports/platform-fault.ts';
import type { EventSchemas } from '#shared/link/port-calls.ts';
import type { Port } from '#shared/ports/port.ts';
import type { ContractParams, ContractResult, Contracts } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { PlatformError } from './platform-request.ts';

/** Calls a capability of the bridge that talks to a platform. Throws `PlatformError`. */
export async function callPlatformPort<C extends Contracts, E extends EventSchemas, N extends keyof C & string>(
  bridge: Bridge,
  port: Port<C, E>,
  name: N,
  params: ContractParams<C[N]>,
  signal: AbortSignal,
): Promise<ContractResult<C[N]>> {
  try {
    return await bridge.call(port, name, params, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof RpcError ? toPlatformError(error) : error;
  }
}

function toPlatformError(error: RpcError): PlatformError {
  const { code, message, extra } = error;
  const fault = platformFault.safeParse(extra.details).data;
  if (fault) {
    const { isUnsent, refused, retryAfterMs } = fault;
    return new PlatformError(message, { isUnsent, refused, cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
  }
  const isRefused = code === 'INVALID_PARAMS' || code === 'NOT_FOUND';
  return new PlatformError(message, {
    ...{ isUnsent: isRefused || extra.details?.['reason'] === 'needs-bridge', refused: isRefused, cause: error },
  });
}
