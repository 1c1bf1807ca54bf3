import { webPort } from '#shared/ports/web-port.ts';
import { webContracts } from '#shared/rpc/methods/web-contracts.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { Lazy } from '../../system/modules.ts';
import { defineMethods } from '../../system/methods.ts';
import type { WebSearch } from '../web-search/web-search.ts';
import { requireWebAddress } from './web-address.ts';

interface WebMethodsDeps {
  bridge: Pick<Bridge, 'call'>;
  config: Pick<Config, 'settings'>;
  webSearch: Lazy<WebSearch>;
}

export const webMethods = defineMethods(webContracts)(({ bridge, config, webSearch }: WebMethodsDeps) => ({
  'web.picture': async ({ url }, { signal }) => {
    requireWebAddress(url);
    const allow = [...(config.settings.tools.webFetch?.allow ?? [])];
    const answer = await bridge.call(webPort, 'web.fetch', { url, allow, wants: 'picture' }, { signal });
    const [mimeType = ''] = answer.contentType.split(';');
    return { url: answer.url, mimeType: mimeType.trim().toLowerCase(), content: answer.body };
  },
  'web.search': async (query, { principal, signal }) => (await webSearch.load()).search(query, signal, { principal, sessionKey: null }),
}));
