import { RpcError } from '#shared/rpc/rpc-error.ts';

/** Timeout for an action in a page, in milliseconds. */
export const ACTION_MS = 10_000;
const MAX_LINE_CHARS = 500;

/** Adds a timeout to calls for which Playwright has none, since a hung page never answers. */
export async function withTimeout<T>(work: Promise<T>, { ms = ACTION_MS, signal }: { ms?: number; signal?: AbortSignal } = {}): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const timedOut = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new RpcError('INTERNAL_ERROR', `The page didn’t respond within ${ms / 1000} s`)), ms);
  });
  const aborted = new Promise<never>((_, fail) => {
    onAbort = () => fail(signal?.reason as Error);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  return Promise.race([work, timedOut, aborted]).finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  });
}

const GONE_MESSAGE = 'The browser or tab was closed during the call. It restarts on the next call.';
const CRASHED_MESSAGE = 'The page crashed and its tab was closed. Open it again.';

/** Converts Playwright's error to one line for the caller. */
export function toRpcError(error: unknown, action: string): RpcError {
  if (error instanceof RpcError) return error;
  const message = error instanceof Error ? error.message : '';
  const knownMessage = /has been closed/.test(message)
    ? GONE_MESSAGE
    : /Target crashed|Page crashed/.test(message)
      ? CRASHED_MESSAGE
      : undefined;
  if (knownMessage !== undefined) return new RpcError('INTERNAL_ERROR', knownMessage, {}, { cause: error });
  return new RpcError('INTERNAL_ERROR', `${action}: ${firstLine(error)}`, {}, { cause: error });
}

/** First line of an error's message, without colours and truncated. */
export const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .slice(0, 4 * MAX_LINE_CHARS)
    .split('\n', 1)[0]
    ?.replace(/^[a-zA-Z.]+: /, '')
    // Playwright colours its messages.
    // eslint-disable-next-line no-control-regex
    .replace(/\u001b\[[0-9;]*m/g, '')
    .slice(0, MAX_LINE_CHARS) ?? '';
