import type { RpcError } from '#shared/rpc/errors.ts';
import { ProviderError } from '../providers/provider.ts';

/** Whether what was asked is refused, for what it is or by a limit; whatever else fails has nothing to do with it. */
export const isRefusal = ({ code, cause }: RpcError): boolean =>
  code === 'RATE_LIMITED' || (cause instanceof ProviderError && cause.ofRequest);

/** Whether the connection to the bridge was lost while the answer came, as if its browser were closed. */
export const isCutOff = ({ cause }: RpcError): boolean => cause instanceof ProviderError && cause.cutOff;
