import { RpcError } from '#shared/rpc/errors.ts';

/** Timeout for an action in a page, in milliseconds. */
export const ACT_MS = 10_000;
const MAX_LINE = 500;

/** Adds a timeout to calls for which Playwright has none, since a hung page never answers. */
export async function inTime<T>(work: Promise<T>, { ms = ACT_MS, signal }: { ms?: number; signal?: AbortSignal } = {}): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => {};
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new RpcError('INTERNAL_ERROR', `The page didn’t respond within ${ms / 1000} s`)), ms);
  });
  const aborted = new Promise<never>((_, fail) => {
    stop = () => fail(signal?.reason as Error);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, late, aborted]).finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  });
}

const GONE = 'The browser or tab was closed during the call. It restarts on the next call.';
const CRASHED = 'The page crashed and its tab was closed. Open it again.';

/** Converts Playwright's error to one line for the caller. */
export function told(error: unknown, what: string): RpcError {
  if (error instanceof RpcError) return error;
  const message = error instanceof Error ? error.message : '';
  const over = /has been closed/.test(message) ? GONE : /Target crashed|Page crashed/.test(message) ? CRASHED : undefined;
  if (over !== undefined) return new RpcError('INTERNAL_ERROR', over, {}, { cause: error });
  return new RpcError('INTERNAL_ERROR', `${what}: ${firstLine(error)}`, {}, { cause: error });
}

/** First line of an error's message, without colours and truncated. */
export const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .slice(0, 4 * MAX_LINE)
    .split('\n', 1)[0]
    ?.replace(/^[a-zA-Z.]+: /, '')
    // Playwright colours its messages.
    // eslint-disable-next-line no-control-regex
    .replace(/\u001b\[[0-9;]*m/g, '')
    .slice(0, MAX_LINE) ?? '';
