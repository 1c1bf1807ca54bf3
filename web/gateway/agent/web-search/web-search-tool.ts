import { searchQuery } from '#shared/rpc/methods/web-contracts.ts';
import type { Lazy } from '../../system/modules.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { Tool } from '../tools/tool-registry.ts';
import { toWebSource } from '../trust/content-sources.ts';
import { removeComposedUrls } from '../trust/verbatim-urls.ts';
import { toModelResult, WEB_SEARCH_TOOL } from './search-result.ts';
import type { WebSearch } from './web-search.ts';

interface WebSearchToolDeps {
  webSearch: Lazy<Pick<WebSearch, 'search'>>;
  /** Whether the owner has set up a search service. */
  canSearch(): boolean;
}

/** The tool `web_search`, offered if the owner has set up a search service. */
export const createWebSearchTool = ({ webSearch, canSearch }: WebSearchToolDeps): Tool =>
  defineTool({
    name: WEB_SEARCH_TOOL,
    title: 'Search the web',
    summary: 'Searches the web with the service chosen in Settings.',
    description: 'Searches the web. Read the pages that matter with web_fetch, and cite what you use by its number, such as [2].',
    source: 'core',
    scope: 'web',
    isOffered: canSearch,
    params: searchQuery,
    // Queries go only to the service that the owner chose. A model that searches may open an address in its query, though.
    impact: ({ query }, { taint }) => (removeComposedUrls(query, taint?.findQuotedUrls(query) ?? []) === query ? 'reads' : 'changes'),
    async run(query, { signal, taint, cite, principal, sessionKey, agentId }) {
      const found = await (await webSearch.load()).search(query, signal, { principal, sessionKey, agentId });
      if (found.results.length > 0) taint?.add(found.results.map(({ url }) => toWebSource(url)));
      taint?.addFound(found.results.map(({ url }) => url));
      return toModelResult(found, cite);
    },
  });
