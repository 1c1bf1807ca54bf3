import type { RpcError } from '#shared/rpc/rpc-error.ts';
import { ProviderError } from '../../providers/provider.ts';

/** Whether the request was refused because of its content or a limit; other failures are unrelated to the request. */
export const isRefusal = ({ code, cause }: RpcError): boolean =>
  code === 'RATE_LIMITED' || (cause instanceof ProviderError && cause.isRequestFault);

/** Whether the connection to the bridge was lost during the answer, as if the browser were closed. */
export const isDisconnected = ({ cause }: RpcError): boolean => cause instanceof ProviderError && cause.cutOff;
