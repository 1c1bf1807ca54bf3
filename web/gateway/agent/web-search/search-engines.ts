import { SEARCH_SERVICE_NAMES, type SearchProviderId } from '#shared/search-providers.ts';
import { z } from '#shared/rpc/zod.ts';
import { parseFound, type SearchRequest, type SearchService } from './search-service.ts';

const text = z.string().nullish().catch(null);
const pages = <T extends z.ZodRawShape>(shape: T) => z.array(z.object({ title: text, url: text, ...shape }).catch({} as never));

/** Terms with the operator that limits a search to a host. */
const withSite = ({ query, site }: SearchRequest): string => (site === undefined ? query : `${query} site:${site}`);

const DAYS = { day: 1, week: 7, month: 31, year: 366 } as const;
const DAY_MS = 24 * 60 * 60_000;

const braveResponse = z.object({
  web: z
    .object({
      results: pages({ description: text, page_age: text, extra_snippets: z.array(z.string()).nullish().catch(null) }),
    })
    .nullish(),
});

/** https://api-dashboard.search.brave.com/app/documentation/web-search/get-started */
const brave: SearchService = {
  name: SEARCH_SERVICE_NAMES.brave,
  needsKey: true,
  headers: (apiKey) => ({ 'x-subscription-token': apiKey ?? '' }),
  // An invalid token has this status.
  explain: (status) => (status === 422 ? 'Brave Search rejected the API key or the query (HTTP 422)' : undefined),
  getRetryAfter(headers) {
    // One value for each limit, such as `1, 1419704`: the limits of a second and of a month.
    const read = (name: string): number[] => (headers.get(name) ?? '').split(',').map((value) => Number.parseFloat(value));
    const remaining = read('x-ratelimit-remaining');
    const waits = read('x-ratelimit-reset').filter((seconds, index) => seconds >= 0 && !((remaining[index] ?? 0) > 0));
    return waits.length > 0 ? Math.max(...waits) * 1000 : undefined;
  },
  async search(request, http, watchdog) {
    const params = new URLSearchParams({
      ...{ q: withSite(request), count: String(request.limit), text_decorations: 'false' },
      ...(request.freshness ? { freshness: `p${request.freshness.charAt(0)}` } : {}),
    });
    const { web } = parseFound(braveResponse, await http.json(`${http.baseUrl}/web/search?${params}`, watchdog), http.name);
    const results = (web?.results ?? []).map(({ title, url, description, page_age: age, extra_snippets: more }) => ({
      ...{ title: title ?? '', url: url ?? '', snippet: [description, ...(more ?? [])].filter(Boolean).join(' … ') },
      ...(age ? { published: age } : {}),
    }));
    return { results };
  },
};

const tavilyResponse = z.object({ results: pages({ content: text, published_date: text }) });

/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
const tavily: SearchService = {
  name: SEARCH_SERVICE_NAMES.tavily,
  needsKey: false,
  headers: (apiKey): Record<string, string> =>
    apiKey === undefined
      ? // The service answers a limited number of requests without a key.
        { 'x-tavily-access-mode': 'keyless', 'x-client-source': 'perch' }
      : { authorization: `Bearer ${apiKey}`, 'x-client-source': 'perch' },
  async search({ query, limit, freshness, site }, http, watchdog) {
    const body = {
      ...{ query, max_results: limit, search_depth: 'basic' },
      ...(freshness ? { time_range: freshness } : {}),
      ...(site === undefined ? {} : { include_domains: [site] }),
    };
    const { results } = parseFound(tavilyResponse, await http.json(`${http.baseUrl}/search`, watchdog, body), http.name);
    return {
      results: results.map(({ title, url, content, published_date: date }) => ({
        ...{ title: title ?? '', url: url ?? '', snippet: content ?? '' },
        ...(date ? { published: date } : {}),
      })),
    };
  },
};

const exaResponse = z.object({
  results: pages({ publishedDate: text, highlights: z.array(z.string()).nullish().catch(null), text }),
});

/** https://docs.exa.ai/reference/search */
const createExa = (now: () => number): SearchService => ({
  name: SEARCH_SERVICE_NAMES.exa,
  needsKey: true,
  headers: (apiKey) => ({ 'x-api-key': apiKey ?? '' }),
  async search({ query, limit, freshness, site }, http, watchdog) {
    const body = {
      ...{ query, numResults: limit, type: 'auto', contents: { highlights: true } },
      ...(freshness ? { startPublishedDate: new Date(now() - DAYS[freshness] * DAY_MS).toISOString() } : {}),
      ...(site === undefined ? {} : { includeDomains: [site] }),
    };
    const { results } = parseFound(exaResponse, await http.json(`${http.baseUrl}/search`, watchdog, body), http.name);
    return {
      results: results.map(({ title, url, highlights, text: whole, publishedDate: date }) => ({
        ...{ title: title ?? '', url: url ?? '', snippet: highlights && highlights.length > 0 ? highlights.join(' … ') : (whole ?? '') },
        ...(date ? { published: date } : {}),
      })),
    };
  },
});

const searxngResponse = z.object({
  results: pages({ content: text, publishedDate: text }),
  unresponsive_engines: z
    .array(z.tuple([z.string()]).rest(z.unknown()))
    .nullish()
    .catch(null),
});

/** https://docs.searxng.org/dev/search_api.html */
const searxng: SearchService = {
  name: SEARCH_SERVICE_NAMES.searxng,
  needsKey: false,
  headers: () => ({}),
  explain: (status) =>
    status === 403
      ? 'SearXNG refused the request (HTTP 403). Add `json` to `search.formats` in its settings.yml'
      : status === 429
        ? 'SearXNG is limiting requests (HTTP 429). Allow this computer in its limiter'
        : undefined,
  async search(request, http, watchdog) {
    const params = new URLSearchParams({
      ...{ q: withSite(request), format: 'json' },
      ...(request.freshness ? { time_range: request.freshness } : {}),
    });
    const answer = await http.json(`${http.baseUrl}/search?${params}`, watchdog);
    const { results, unresponsive_engines: silent } = parseFound(searxngResponse, answer, http.name);
    const engines = (silent ?? []).map(([name]) => name);
    return {
      results: results.map(({ title, url, content, publishedDate: date }) => ({
        ...{ title: title ?? '', url: url ?? '', snippet: content ?? '' },
        ...(date ? { published: date } : {}),
      })),
      ...(engines.length > 0 ? { note: `These search engines did not respond: ${engines.slice(0, 10).join(', ')}.` } : {}),
    };
  },
};

/** Search services of their own, by id. `now`: milliseconds since 1970. */
export const createSearchEngines = (now: () => number): Record<Exclude<SearchProviderId, 'model'>, SearchService> => ({
  ...{ brave, tavily, searxng },
  exa: createExa(now),
});
