import type { browserPort } from '#shared/ports/browser-port.ts';
import type { ContractParams } from '#shared/rpc/contract.ts';
import type { Config } from '../../config/gateway-config.ts';

export type BrowserConfig = Pick<Config, 'settings' | 'getSecret'>;

/**
 * The browser to drive and the places that it may reach. Sent to the bridge before each call, since the bridge makes no decision of its
 * own.
 */
export const getBrowserAccess = (config: BrowserConfig): ContractParams<(typeof browserPort)['calls']['browser.allow']> => ({
  places: config.settings.browser.allow,
  cdpEndpoint: config.getSecret('browser.cdpEndpoint') ?? null,
});
