import { browserPort } from '#shared/ports/browser.ts';
import { browser } from '#shared/rpc/methods/browser.ts';
import type { Bridge } from '../bridge.ts';
import type { Caller, Handlers } from '../dispatch.ts';
import type { Settings } from '../settings.ts';

export interface BrowserMethodsDeps {
  bridge: Bridge;
  settings(): Pick<Settings, 'browser'>;
}

/** Every call goes to the bridge as it is, behind what the browser may reach. */
export function browserMethods({ bridge, settings }: BrowserMethodsDeps): Handlers<typeof browser> {
  const names = Object.keys(browser) as (keyof typeof browser)[];
  const passedOn = names.map((name) => [
    name,
    async (params: never, { signal }: Caller) => {
      await bridge.call(browserPort, 'browser.allow', { places: settings().browser.allow }, { signal });
      return bridge.call(browserPort, name, params, { signal });
    },
  ]);
  return Object.fromEntries(passedOn) as Handlers<typeof browser>;
}
