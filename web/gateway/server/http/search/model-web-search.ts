import { allowsScope } from '#shared/rpc/scopes.ts';
import { toWebSource } from '../../../agent/trust/content-sources.ts';
import type { ContentLabels } from '../../../agent/trust/content-labels.ts';
import { TaintedReplies } from '../../../agent/trust/tainted-replies.ts';
import type { WebSearch } from '../../../agent/web-search/web-search.ts';
import type { Config } from '../../../config/gateway-config.ts';
import type { Lazy } from '../../../system/modules.ts';
import type { CallerRights } from '../../access/caller-rights.ts';
import type { HttpDeps } from '../http-deps.ts';

interface ModelWebSearchDeps {
  config: Pick<Config, 'settings'>;
  rights: Pick<CallerRights, 'scopes' | 'recordScopeUse'>;
  webSearch: Lazy<Pick<WebSearch, 'search'>>;
  labels: ContentLabels;
}

/** Web search for the models of API clients: a key needs the scope `web`, as for `web.search`. */
export function createModelWebSearch({ config, rights, webSearch, labels }: ModelWebSearchDeps): NonNullable<HttpDeps['webSearch']> {
  const replies = new TaintedReplies(labels);
  return {
    async isAvailable(principal) {
      if (config.settings.tools.webSearch === undefined) return false;
      const scopes = await rights.scopes(principal);
      return scopes === undefined || allowsScope(scopes, 'web');
    },
    async search(query, principal, signal) {
      rights.recordScopeUse(principal, 'web');
      return (await webSearch.load()).search(query, signal, { principal, sessionKey: null });
    },
    label: (texts, urls) => replies.add(texts, urls.map(toWebSource)),
  };
}
