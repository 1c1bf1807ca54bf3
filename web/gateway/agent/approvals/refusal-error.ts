import { RpcError } from '#shared/rpc/rpc-error.ts';

/** The error for the model about a call that was not run. */
export function createRefusalError(tool: string, { status, reason }: { status: string; reason?: string | undefined }): RpcError {
  const detail = reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`;
  if (status === 'expired') return new RpcError('AUTH_REQUIRED', `${tool} did not run: it needs approval, and nobody responded in time.`);
  if (status === 'cancelled') return new RpcError('ABORTED', `${tool} did not run: the request was cancelled${detail}.`);
  return new RpcError('AUTH_REQUIRED', `${tool} did not run: a person denied it${detail}. Do not retry it unless they ask.`);
}
