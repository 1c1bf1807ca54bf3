import { webPort } from '#shared/ports/web-port.ts';
import { webContracts } from '#shared/rpc/methods/web-contracts.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Config } from '../../config/gateway-config.ts';
import { defineMethods } from '../../system/methods.ts';
import { requireWebAddress } from './web-address.ts';

interface WebMethodsDeps {
  bridge: Pick<Bridge, 'call'>;
  config: Pick<Config, 'settings'>;
}

export const webMethods = defineMethods(webContracts)(({ bridge, config }: WebMethodsDeps) => ({
  'web.picture': async ({ url }, { signal }) => {
    requireWebAddress(url);
    const allow = [...(config.settings.tools.webFetch?.allow ?? [])];
    const answer = await bridge.call(webPort, 'web.fetch', { url, allow, wants: 'picture' }, { signal });
    const [mimeType = ''] = answer.contentType.split(';');
    return { url: answer.url, mimeType: mimeType.trim().toLowerCase(), content: answer.body };
  },
}));
