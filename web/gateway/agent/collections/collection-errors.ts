import { RpcError } from '#shared/rpc/rpc-error.ts';

/** Whether an error says that a bridge, or a part of it, is missing: work can go on when it is attached. */
export const isBridgeMissing = (error: unknown): boolean => error instanceof RpcError && error.extra.details?.['reason'] === 'needs-bridge';

/** An error as one sentence for people. */
export function toSentence(error: unknown): string {
  const message = (error instanceof RpcError ? error.message : 'It could not be read because of an internal error.').trim();
  return /[.!?。]$/.test(message) ? message : `${message}.`;
}
