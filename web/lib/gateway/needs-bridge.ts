import { RpcError } from '#shared/rpc/rpc-error.ts';

/** Whether the call failed because no bridge lends what it takes (web/gateway/core/bridge-interface.ts). */
export const isBridgeMissing = (error: unknown): boolean => error instanceof RpcError && error.extra.details?.['reason'] === 'needs-bridge';
