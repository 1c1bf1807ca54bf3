import { RpcError } from '#shared/rpc/errors.ts';

/** Whether the call failed because no bridge lends what it takes (web/gateway/core/bridge.ts). */
export const needsBridge = (error: unknown): boolean => error instanceof RpcError && error.extra.details?.['reason'] === 'needs-bridge';
