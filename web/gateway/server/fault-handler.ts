import { RpcError } from '#shared/rpc/rpc-error.ts';
import { OwnershipLostError, StorageFullError, VaultReadOnlyError } from '../storage/vault-errors.ts';

/** Logs an internal error under an id. */
export type FaultLog = (id: string, error: unknown) => void;

interface FaultOptions {
  /** Called for each operation that is refused because storage is full. */
  onStorageFull?: (error: StorageFullError) => void;
}

/**
 * Converts any thrown value to the error for the caller: an `RpcError` unchanged, anything else `INTERNAL_ERROR` with an id that is found
 * in the log.
 */
export function createFaultHandler(log: FaultLog, { onStorageFull = () => {} }: FaultOptions = {}): (error: unknown) => RpcError {
  return (error) => {
    if (error instanceof RpcError) return error;
    if (error instanceof StorageFullError) {
      onStorageFull(error);
      return new RpcError('INTERNAL_ERROR', 'Storage is full, so nothing was saved. Free disk space or delete chats, then try again.', {
        retryable: true,
        details: { reason: 'storage-full' },
      });
    }
    if (error instanceof OwnershipLostError) {
      return new RpcError('INTERNAL_ERROR', 'Another gateway has taken over this vault. Reconnect to continue.', {
        retryable: true,
        details: { reason: 'ownership-lost' },
      });
    }
    if (error instanceof VaultReadOnlyError) {
      return new RpcError(
        'INTERNAL_ERROR',
        'This browser runs an older version of Perch than its data, so nothing was saved. Reload to update.',
        {
          details: { reason: 'read-only' },
        },
      );
    }
    if (error instanceof DOMException && error.name === 'AbortError') return new RpcError('ABORTED', 'The operation was aborted.');
    const id = crypto.randomUUID().slice(0, 8);
    log(id, error);
    return new RpcError(
      'INTERNAL_ERROR',
      `Something went wrong in the gateway (${id}). Check the logs for details.`,
      { details: { id } },
      { cause: error },
    );
  };
}
