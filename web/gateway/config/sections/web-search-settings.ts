import { isHeaderValue } from '#shared/http/header-value.ts';
import { MAX_SEARCH_RESULTS, SEARCH_PROVIDERS, type SearchProviderId } from '#shared/search-providers.ts';
import { z } from '#shared/rpc/zod.ts';

/** Default number of results of a search. */
export const DEFAULT_SEARCH_RESULTS = 6;

/** Addresses of the search services; SearXNG has none of its own, and a model has that of its provider. */
const SEARCH_URLS: Readonly<Record<Exclude<SearchProviderId, 'searxng' | 'model'>, string>> = {
  brave: 'https://api.search.brave.com/res/v1',
  tavily: 'https://api.tavily.com',
  exa: 'https://api.exa.ai',
};

export const webSearchSettings = z
  .looseObject({
    /** Service that `web_search` sends queries to; `model`: the search of a model's provider. */
    provider: z.enum(SEARCH_PROVIDERS),
    /** Secret: stored separately, reads as `***`. */
    apiKey: z.string().max(4096).refine(isHeaderValue, 'contains an invalid character, often a hidden one from copying').optional(),
    /** Address of a SearXNG instance, or of another server that speaks the service's API. */
    url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .max(1000)
      .refine((text) => {
        const url = URL.parse(text);
        return url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
      }, 'must not include a user name, password, query or fragment')
      .optional(),
    /** `model`: key of the model that searches, such as `openai/gpt-5-mini`. */
    model: z.string().min(1).max(300).optional(),
    maxResults: z.number().int().min(1).max(MAX_SEARCH_RESULTS).default(DEFAULT_SEARCH_RESULTS),
  })
  .refine(({ provider, url }) => provider !== 'searxng' || url !== undefined, { path: ['url'], error: 'is required for SearXNG' })
  .refine(({ provider, model }) => provider !== 'model' || model !== undefined, {
    path: ['model'],
    error: 'is required to search with a model',
  });
export type WebSearchSettings = z.infer<typeof webSearchSettings>;

/** Address of the search service; undefined if a model searches. */
export function getSearchUrl({ provider, url }: WebSearchSettings): string | undefined {
  if (provider === 'model') return undefined;
  return (url ?? (provider === 'searxng' ? undefined : SEARCH_URLS[provider]))?.replace(/\/+$/, '');
}

/** Origins that searches are sent to. */
export function getSearchOrigins(settings: WebSearchSettings | undefined): string[] {
  const url = settings && getSearchUrl(settings);
  return url === undefined ? [] : [new URL(url).origin];
}

export const isSearchSecret = (path: readonly string[]): boolean => path.join('.') === 'tools.webSearch.apiKey';

/** Dotted path of the key if the service or its address has changed: it is not sent there until it is entered again. */
export function findMovedSearchKey(before: WebSearchSettings | undefined, after: WebSearchSettings | undefined): string[] {
  if (!before || !after || getSearchOrigins(before)[0] === getSearchOrigins(after)[0]) return [];
  return ['tools.webSearch.apiKey'];
}
