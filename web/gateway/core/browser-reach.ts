import type { browserPort } from '#shared/ports/browser.ts';
import type { ParamsOf } from '#shared/rpc/contract.ts';
import type { Config } from './config.ts';

export type BrowserConfig = Pick<Config, 'settings' | 'secret'>;

/**
 * The browser to drive and the places that it may reach. Sent to the bridge before each call, since the bridge makes no decision of its
 * own.
 */
export const browserReach = (config: BrowserConfig): ParamsOf<(typeof browserPort)['calls']['browser.allow']> => ({
  places: config.settings.browser.allow,
  cdpEndpoint: config.secret('browser.cdpEndpoint') ?? null,
});
