import type { SearchResult } from '#shared/rpc/methods/web-contracts.ts';
import { MAX_SEARCH_RESULTS } from '#shared/search-providers.ts';

/** Maximum number of searches for one answer. */
export const MAX_SEARCHES = 10;

/** Domains to which a request limits its web searches. */
export interface SearchDomains {
  /** Only pages of these hosts and their subdomains. */
  allowed: readonly string[];
  /** No pages of these hosts and their subdomains. */
  blocked: readonly string[];
}

const isOfDomain = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);

/** The host of a domain as requests write it, perhaps with a scheme, a path or `*.` in front. */
const toHost = (domain: string): string =>
  URL.parse(`https://${domain.replace(/^[a-z]+:\/\//i, '').replace(/^\*\./, '')}`)?.hostname ?? domain;

/** The results that the limits allow. */
export function filterResults(results: readonly SearchResult[], { allowed, blocked }: SearchDomains): SearchResult[] {
  const [allowedHosts, blockedHosts] = [allowed.map(toHost), blocked.map(toHost)];
  return results.filter(({ url }) => {
    const host = URL.parse(url)?.hostname ?? '';
    return (
      (allowedHosts.length === 0 || allowedHosts.some((domain) => isOfDomain(host, domain))) &&
      !blockedHosts.some((domain) => isOfDomain(host, domain))
    );
  });
}

/** Parameters of a query that leave enough allowed results: the only allowed host, or more results. */
export function toQueryLimits({ allowed, blocked }: SearchDomains): { site?: string; limit?: number } {
  const [only, ...others] = allowed.map(toHost);
  if (only !== undefined && others.length === 0) return { site: only };
  return only === undefined && blocked.length === 0 ? {} : { limit: MAX_SEARCH_RESULTS };
}
