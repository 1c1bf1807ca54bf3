import { RpcError } from '../rpc/rpc-error.ts';

/** Wraps a loader so that it runs on first use, and not during start-up. A failed load is retried on the next use. */
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

/** The error for a caller whose part could not be loaded. */
export const createNotLoadedError = (cause: unknown): RpcError =>
  new RpcError(
    'INTERNAL_ERROR',
    'Part of the gateway couldn’t be loaded. Try again, or reload Perch.',
    { retryable: true, details: { reason: 'not-loaded' } },
    { cause },
  );
