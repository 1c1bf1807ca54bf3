import { mailFault, mailPort } from '#shared/ports/mail-port.ts';
import type { ContractParams, ContractResult } from '#shared/rpc/contract.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Bridge } from '../../../ports/bridge-interface.ts';
import { PlatformError } from '../platform-request.ts';

/** Pause after the server has rejected the password: providers lock accounts with many failed attempts. */
const SIGN_IN_RETRY_MS = 5 * 60_000;

type Calls = (typeof mailPort)['calls'];

/** Calls the bridge's mail capability. Throws `PlatformError`. */
export async function callMail<N extends keyof Calls & string>(
  bridge: Bridge,
  name: N,
  params: ContractParams<Calls[N]>,
  signal: AbortSignal,
): Promise<ContractResult<Calls[N]>> {
  try {
    return await bridge.call(mailPort, name, params, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof RpcError ? toPlatformError(error) : error;
  }
}

function toPlatformError(error: RpcError): PlatformError {
  const { code, message, extra } = error;
  const fault = mailFault.safeParse(extra.details).data;
  if (fault) {
    const { reason, isUnsent, refused } = fault;
    return new PlatformError(message, {
      ...{ isUnsent, refused, cause: error },
      ...(reason === 'sign-in' ? { retryAfterMs: SIGN_IN_RETRY_MS } : {}),
    });
  }
  const isRefused = code === 'INVALID_PARAMS' || code === 'NOT_FOUND';
  return new PlatformError(message, {
    ...{ isUnsent: isRefused || extra.details?.['reason'] === 'needs-bridge', refused: isRefused, cause: error },
  });
}
