import { z } from '#shared/rpc/zod.ts';
import { toStatusError, clampWait } from './upstream-errors.ts';
import { ProviderError } from './provider.ts';

const detailsSchema = z.object({
  error: z.object({
    details: z.array(z.looseObject({ reason: z.string().nullish(), retryDelay: z.string().nullish() })).nullish(),
  }),
});

/** Error of an unsuccessful response. Unlike elsewhere, an invalid key has status 400, and the retry delay is in the body. */
export function toGoogleError(name: string, response: Response, body: string, now: number): ProviderError {
  const error = toStatusError(name, response, body, now);
  const all = readDetails(body);
  if (all.some(({ reason }) => reason === 'API_KEY_INVALID')) {
    return new ProviderError(error.message.replace('rejected the request (HTTP 400)', 'rejected the API key (HTTP 400)'), {
      status: 401,
    });
  }
  const delay = all.flatMap(({ retryDelay }) => /^([\d.]+)s$/.exec(retryDelay ?? '')?.[1] ?? [])[0];
  if (delay === undefined || error.retryAfterMs !== undefined) return error;
  const { status, retryable } = error;
  return new ProviderError(error.message, { status, retryable, retryAfterMs: clampWait(Number(delay) * 1000) });
}

function readDetails(body: string): { reason?: string | null | undefined; retryDelay?: string | null | undefined }[] {
  try {
    const value: unknown = JSON.parse(body);
    const parsed = detailsSchema.safeParse(Array.isArray(value) ? value[0] : value);
    return parsed.success ? (parsed.data.error.details ?? []) : [];
  } catch {
    return [];
  }
}
