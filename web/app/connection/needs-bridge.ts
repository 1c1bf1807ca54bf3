import { RpcError } from '#shared/rpc/rpc-error.ts';

/** Whether a call failed because no bridge provides the required capability (web/gateway/ports/bridge-interface.ts). */
export const isBridgeMissing = (error: unknown): boolean => error instanceof RpcError && error.extra.details?.['reason'] === 'needs-bridge';
