/** Search services; `model`: the search of a model's provider. */
export const SEARCH_PROVIDERS = ['brave', 'tavily', 'exa', 'searxng', 'model'] as const;
export type SearchProviderId = (typeof SEARCH_PROVIDERS)[number];

/** Names of the services, which no language translates. */
export const SEARCH_SERVICE_NAMES = { brave: 'Brave Search', tavily: 'Tavily', exa: 'Exa', searxng: 'SearXNG' } as const;

/** Maximum number of results of a search. */
export const MAX_SEARCH_RESULTS = 20;
