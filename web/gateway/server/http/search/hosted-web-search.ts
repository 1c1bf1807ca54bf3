import { searchQuery, type SearchResult } from '#shared/rpc/methods/web-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { toModelSchema } from '../../../agent/tools/model-schema.ts';
import { toWebSource } from '../../../agent/trust/content-sources.ts';
import { findQuotedUrls, removeComposedUrls, VerbatimUrls } from '../../../agent/trust/verbatim-urls.ts';
import { toModelResult, WEB_SEARCH_TOOL } from '../../../agent/web-search/search-result.ts';
import type { ModelMessage, ToolSpec } from '../../../providers/provider.ts';
import { type HostedSearch, parseSearchArgs, type SearchCall, toMessageText } from './hosted-search.ts';
import type { ModelSearches } from './model-searches.ts';
import { filterResults, type SearchDomains, toQueryLimits } from './search-options.ts';

/** A search of the web for a model, which the answer shows to the client. */
export type WebSearchEvent =
  | ({ type: 'web_search_started' } & SearchCall)
  /** `failure`: why there are no results. */
  | ({ type: 'web_search_ended'; results: readonly SearchResult[]; failure?: string } & SearchCall);

interface HostedWebSearchOptions {
  domains: SearchDomains;
  /** The conversation, whose addresses a query may contain. */
  messages: readonly ModelMessage[];
  principal: string;
  signal: AbortSignal;
  web: ModelSearches['web'];
}

export const WEB_SEARCH_SPEC: ToolSpec = {
  name: WEB_SEARCH_TOOL,
  description: 'Searches the web. Cite results that you use by their number (`ref`) in brackets, such as [2].',
  schema: toModelSchema(z.toJSONSchema(searchQuery, { io: 'input' })),
};

/** Searches the web for the model of an answer, by the service that the owner has chosen. */
export function createHostedWebSearch({ domains, messages, principal, signal, web }: HostedWebSearchOptions): HostedSearch<WebSearchEvent> {
  const known = new VerbatimUrls();
  for (const { role, content } of messages) if (role !== 'assistant') known.add(toMessageText(content));
  return {
    spec: WEB_SEARCH_SPEC,
    toStarted: (call) => ({ type: 'web_search_started', ...call }),
    toFailed: (call, failure) => ({ type: 'web_search_ended', ...call, results: [], failure }),
    async search(call, args) {
      const query = parseSearchArgs(searchQuery, args);
      const quoted = findQuotedUrls(query.query, { hasUrl: (url) => known.has(url) });
      // A model that searches may open an address in its query, and nobody can be asked here.
      if (removeComposedUrls(query.query, quoted) !== query.query)
        throw new RpcError('INVALID_PARAMS', 'The query has an address that is in no message and no result. Search without it.');
      const { results: all, note } = await web.search({ ...query, ...toQueryLimits(domains) }, principal, signal);
      const results = filterResults(all, domains);
      for (const { url } of results) known.add(url);
      return {
        event: { type: 'web_search_ended', ...call, results },
        toResult: (cite) => toModelResult({ results, note }, cite),
        outside: results.map(({ url }) => toWebSource(url)),
      };
    },
  };
}
