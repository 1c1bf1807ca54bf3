import type { SearchResult, searchQuery } from '#shared/rpc/methods/web-contracts.ts';
import type { Usage } from '#shared/rpc/record-schemas.ts';
import type { z } from '#shared/rpc/zod.ts';
import { ProviderError } from '../../providers/provider.ts';
import { getRetryAfter, isTransientStatus, parseFault, type toStatusError } from '../../providers/upstream-errors.ts';
import type { UpstreamHttp } from '../../providers/upstream-http.ts';
import type { Watchdog } from '#shared/async/watchdog.ts';

export type SearchQuery = z.output<typeof searchQuery>;

/** A query with its number of results settled. */
export type SearchRequest = SearchQuery & { limit: number };

/** Results as a service returns them, before they are cleaned. */
export interface FoundPages {
  results: Partial<SearchResult>[];
  /** Remark for the model and the person. */
  note?: string | undefined;
  /** Tokens that a model used. */
  usage?: Usage;
}

/** One search service: its requests and responses. */
export interface SearchService {
  /** Name for people. */
  name: string;
  /** Whether it needs an API key. */
  needsKey: boolean;
  headers(apiKey: string | undefined): Record<string, string>;
  /** Replaces the explanation of a status. */
  explain?(status: number): string | undefined;
  /** Milliseconds to wait, from headers other than `Retry-After`. */
  getRetryAfter?(headers: Headers): number | undefined;
  /** Throws `ProviderError`. */
  search(request: SearchRequest, http: UpstreamHttp, watchdog: Watchdog): Promise<FoundPages>;
}

/** The error for a response that is not in the service's form. */
export const createUnreadableError = (name: string): ProviderError =>
  new ProviderError(`${name} sent a response that Perch can’t read.`, { retryable: true });

/** The part of a response that a schema describes. Throws `ProviderError` if it has another form. */
export function parseFound<T extends z.ZodType>(schema: T, value: unknown, name: string): z.output<T> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw createUnreadableError(name);
  return parsed.data;
}

/** Statuses of services for an exhausted quota or missing credit. */
const QUOTA_STATUSES = new Set([402, 432, 433]);

function explainStatus(name: string, status: number): string {
  if (status === 401 || status === 403) return `${name} rejected the API key (HTTP ${status})`;
  if (QUOTA_STATUSES.has(status)) return `The quota of ${name} is used up (HTTP ${status})`;
  if (status === 429) return `${name} is limiting requests (HTTP 429)`;
  if (status === 404) return `${name} was not found at this address (HTTP 404)`;
  if (status >= 500) return `${name} failed (HTTP ${status})`;
  return `${name} rejected the request (HTTP ${status})`;
}

/** Converts a service's unsuccessful responses to errors. */
export const createFailure =
  (service: Pick<SearchService, 'explain' | 'getRetryAfter'>): typeof toStatusError =>
  (name, { status, headers }, body, now) => {
    const fault = parseFault(body);
    const retryAfterMs = getRetryAfter(headers, now) ?? service.getRetryAfter?.(headers);
    const reason = service.explain?.(status) ?? explainStatus(name, status);
    const detail = fault.message.startsWith('the response was a web page') ? '' : `: ${fault.message}`;
    return new ProviderError(`${reason}${detail}`, {
      status,
      retryable: isTransientStatus(status),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  };
