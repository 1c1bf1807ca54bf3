import type { Clock } from '#shared/async/clock.ts';
import type { ContractParams, ContractResult } from '#shared/rpc/contract.ts';
import { webPort } from '#shared/ports/web-port.ts';

type FetchCall = (typeof webPort)['calls']['web.fetch'];
export type FetchedPage = ContractResult<FetchCall>;
type KnownPage = NonNullable<ContractParams<FetchCall>['known']>;

/** Characters of the bodies in base64, and number of the pages. */
const MAX_CHARS = 24 * 1024 * 1024;
const MAX_PAGES = 200;
/** Time without a request for a page whose server names none, and the maximum of any. */
const DEFAULT_MS = 5 * 60_000;
const MAX_MS = 60 * 60_000;

interface CachedPage {
  page: FetchedPage;
  /** Milliseconds of the monotonic clock. */
  freshUntil: number;
}

/**
 * Pages that tools have fetched, in memory only. Follows `Cache-Control` (RFC 9111): `no-store` is not kept, `no-cache` is validated, and
 * `max-age` counts up to an hour.
 */
export class PageCache {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The least recently used first. */
  readonly #pages = new Map<string, CachedPage>();
  #chars = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /**
   * A page: from the cache, or by `load`, which gets the validators of a copy that is no longer fresh. `isReload`: asks the server in any
   * case.
   */
  async get(key: string, load: (known?: KnownPage) => Promise<FetchedPage>, isReload = false): Promise<FetchedPage> {
    const cached = this.#pages.get(key);
    if (cached && !isReload && this.#clock.monotonic() < cached.freshUntil) {
      this.#put(key, cached);
      return cached.page;
    }
    const known = cached && getValidators(cached.page);
    const answer = await load(known);
    const page = answer.status === 304 && cached ? { ...cached.page, ...getCaching(answer) } : answer;
    const freshMs = getFreshMs(page);
    if (freshMs === undefined) this.#remove(key);
    else this.#put(key, { page, freshUntil: this.#clock.monotonic() + freshMs });
    return page;
  }

  #put(key: string, cached: CachedPage): void {
    this.#remove(key);
    this.#pages.set(key, cached);
    this.#chars += cached.page.body.length;
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES && this.#chars <= MAX_CHARS) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const cached = this.#pages.get(key);
    if (!cached) return;
    this.#pages.delete(key);
    this.#chars -= cached.page.body.length;
  }
}

function getValidators({ etag, lastModified }: FetchedPage): KnownPage | undefined {
  const known = { ...(etag === undefined ? {} : { etag }), ...(lastModified === undefined ? {} : { lastModified }) };
  return Object.keys(known).length > 0 ? known : undefined;
}

const getCaching = ({ cacheControl, etag, lastModified }: FetchedPage): Partial<FetchedPage> => ({
  ...(cacheControl === undefined ? {} : { cacheControl }),
  ...(etag === undefined ? {} : { etag }),
  ...(lastModified === undefined ? {} : { lastModified }),
});

/** Milliseconds for which a page is fresh; undefined if it must not be kept. */
function getFreshMs({ cacheControl = '' }: FetchedPage): number | undefined {
  const directives = cacheControl.toLowerCase();
  if (/\bno-store\b/.test(directives)) return undefined;
  if (/\bno-cache\b/.test(directives)) return 0;
  const [, seconds] = /\bmax-age\s*=\s*"?(\d{1,10})/.exec(directives) ?? [];
  return seconds === undefined ? DEFAULT_MS : Math.min(Number(seconds) * 1000, MAX_MS);
}
