import type { browserPort } from '#shared/ports/browser.ts';
import type { ParamsOf } from '#shared/rpc/contract.ts';
import type { Config } from './config.ts';

export type BrowserConfig = Pick<Config, 'settings' | 'secret'>;

/** Which browser is driven, and what it may reach, as the bridge is told before each call: it decides nothing by itself. */
export const browserReach = (config: BrowserConfig): ParamsOf<(typeof browserPort)['calls']['browser.allow']> => ({
  places: config.settings.browser.allow,
  cdpEndpoint: config.secret('browser.cdpEndpoint') ?? null,
});
