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
    'wiki.pages': async (params, caller) => (await load()).pages(params, caller),
    'wiki.page': async (params, caller) => (await load()).page(params, caller),
    'wiki.savePage': async (params, caller) => (await load()).savePage(params, caller),
    'wiki.removePage': async (params, caller) => (await load()).removePage(params, caller),
    'wiki.search': async (params, caller) => (await load()).search(params, caller),
    'wiki.claims': async (params, caller) => (await load()).claims(params, caller),
    'wiki.claim': async (params, caller) => (await load()).claim(params, caller),
    'wiki.addClaim': async (params, caller) => (await load()).addClaim(params, caller),
    'wiki.updateClaim': async (params, caller) => (await load()).updateClaim(params, caller),
    'wiki.supersedeClaim': async (params, caller) => (await load()).supersedeClaim(params, caller),
    'wiki.refuteClaim': async (params, caller) => (await load()).refuteClaim(params, caller),
    'wiki.keepClaims': async (params, caller) => (await load()).keepClaims(params, caller),
    'wiki.deleteClaim': async (params, caller) => (await load()).deleteClaim(params, caller),
    'wiki.restoreClaim': async (params, caller) => (await load()).restoreClaim(params, caller),
    'wiki.contradictions': async (params, caller) => (await load()).contradictions(params, caller),
    'wiki.health': async (params, caller) => (await load()).health(params, caller),
    'wiki.stats': async (params, caller) => (await load()).stats(params, caller),
    'wiki.graph': async (params, caller) => (await load()).graph(params, caller),
    'wiki.export': async (params, caller) => (await load()).export(params, caller),
    'wiki.import': async (params, caller) => (await load()).import(params, caller),
  };
});
