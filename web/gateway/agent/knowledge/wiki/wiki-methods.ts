import { wikiContracts } from '#shared/rpc/methods/wiki-contracts.ts';
import { defineMethods } from '../../../system/methods.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { ContentLabels } from '../../trust/content-labels.ts';
import type { Trash } from '../../trash/trash.ts';
import type { Wikis } from './wikis.ts';
import type { Lazy } from '../../../system/modules.ts';

interface WikiMethodsDeps {
  wikis: Lazy<Wikis>;
  labels: ContentLabels;
  trash: Lazy<Trash>;
}

/** The methods' own code is loaded with the wikis. */
export const wikiMethods = defineMethods(wikiContracts)(({ wikis, labels, trash }: WikiMethodsDeps) => {
  const load = lazy(async () => (await import('./wiki-handlers.ts')).createWikiHandlers(await wikis.load(), labels, trash));
  return {
    'wiki.pages': async (params) => (await load()).pages(params),
    'wiki.page': async (params) => (await load()).page(params),
    'wiki.savePage': async (params) => (await load()).savePage(params),
    'wiki.removePage': async (params) => (await load()).removePage(params),
    'wiki.search': async (params) => (await load()).search(params),
    'wiki.claims': async (params) => (await load()).claims(params),
    'wiki.claim': async (params) => (await load()).claim(params),
    'wiki.addClaim': async (params) => (await load()).addClaim(params),
    'wiki.updateClaim': async (params) => (await load()).updateClaim(params),
    'wiki.supersedeClaim': async (params) => (await load()).supersedeClaim(params),
    'wiki.refuteClaim': async (params) => (await load()).refuteClaim(params),
    'wiki.keepClaims': async (params) => (await load()).keepClaims(params),
    'wiki.deleteClaim': async (params) => (await load()).deleteClaim(params),
    'wiki.restoreClaim': async (params) => (await load()).restoreClaim(params),
    'wiki.contradictions': async (params, { signal }) => (await load()).contradictions(params, signal),
    'wiki.health': async (params, { signal }) => (await load()).health(params, signal),
    'wiki.stats': async (params) => (await load()).stats(params),
    'wiki.graph': async (params, { signal }) => (await load()).graph(params, signal),
    'wiki.export': async (params) => (await load()).export(params),
    'wiki.import': async (params) => (await load()).import(params),
  };
});
