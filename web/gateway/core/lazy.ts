import { RpcError } from '#shared/rpc/errors.ts';

/** A part that is loaded when it is first wanted, so that no page waits for it at its start. A load that failed is tried again. */
export function lazy<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** What a caller is told whose part could not be loaded. */
export const notLoaded = (cause: unknown): RpcError =>
  new RpcError(
    'INTERNAL_ERROR',
    'Part of the gateway couldn’t be loaded. Try again, or reload Perch.',
    { retryable: true, details: { reason: 'not-loaded' } },
    { cause },
  );
