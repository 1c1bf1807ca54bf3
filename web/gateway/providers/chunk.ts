import { ExchangeReset } from '#shared/link/stream-http.ts';
import { SseOverload } from '#shared/http/sse-errors.ts';
import { parseJson } from '#shared/parse-json.ts';
import { CLOSE_CODES } from '#shared/rpc/frames.ts';
import type { z } from '#shared/rpc/zod.ts';
import { shorten, type UpstreamFault } from './upstream-errors.ts';
import { ProviderError } from './provider.ts';
import { parseContextOverflow } from './context-overflow.ts';

/** Format of the pieces of an answer. */
interface ChunkFormat<T> {
  schema: z.ZodType<T>;
  /** Name of a piece in error messages; default: `a chunk`. */
  called?: string;
  /** Finds an error that is reported in a special format; called before the schema is applied. */
  fault?(value: unknown): UpstreamFault | undefined;
}

/** Parses one piece of a provider's answer. Throws `ProviderError` if the piece is invalid or reports an error. */
export function readChunk<T>(provider: string, data: string, { schema, called = 'a chunk', fault }: ChunkFormat<T>): T {
  let value: unknown;
  try {
    value = parseJson(data);
  } catch (cause) {
    throw new ProviderError(`${provider} sent invalid JSON: ${shorten(data, 80)}`, { cause });
  }
  const reported = fault?.(value);
  if (reported)
    throw new ProviderError(`${provider} reported an error: ${shorten(reported.message)}`, {
      ...(reported.isRequestFault ? { status: 400 } : {}),
      ...{ param: reported.param, code: reported.codeName, contextOverflow: parseContextOverflow(reported) },
    });
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ProviderError(`${provider} sent ${called} that couldn’t be read: ${shorten(data, 80)}`, { cause: parsed.error });
}

export const createIdleError = (provider: string, ms: number): ProviderError =>
  new ProviderError(`${provider} sent nothing for ${Math.round(ms / 1000)} s.`, { retryable: true, silent: true });

export const createTooLargeError = (provider: string, cause?: unknown): ProviderError =>
  new ProviderError(`${provider} sent an event that is too large.`, { cause });

/** Unfinished events of all streams together are too large; `cause` may be an error of the bridge's scanner. */
export const createOverloadError = (cause = new SseOverload('Unfinished server-sent events are too large together')): ProviderError =>
  new ProviderError('Perch is reading too many large responses at once. Try again.', { status: 503, retryable: true, cause });

/** Reset codes that the bridge's own requests end with; any other code means that the connection to the bridge was lost. */
const EGRESS_CODES: readonly number[] = [CLOSE_CODES.internal, CLOSE_CODES.policy, CLOSE_CODES.tooBig, CLOSE_CODES.protocolError];

/** The answer is incomplete: the server closed the connection, or the bridge was lost. */
export function createInterruptedError(provider: string, cause?: unknown): ProviderError {
  const cutOff = cause instanceof ExchangeReset && !EGRESS_CODES.includes(cause.code);
  const message = cutOff
    ? `The connection to the bridge was lost while ${provider} was replying.`
    : `${provider} closed the connection before its reply was complete.`;
  return new ProviderError(message, { retryable: true, cutOff, cause });
}
