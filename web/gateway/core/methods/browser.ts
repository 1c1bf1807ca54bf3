import { browserPort } from '#shared/ports/browser.ts';
import { browser } from '#shared/rpc/methods/browser.ts';
import type { Bridge } from '../bridge.ts';
import type { Caller, Handlers } from '../dispatch.ts';

export interface BrowserMethodsDeps {
  bridge: Bridge;
  /** Private places that the person lets the browser go to. */
  allow(): string[];
}

/** Every call goes to the bridge as it is, behind what the browser may reach. */
export function browserMethods({ bridge, allow }: BrowserMethodsDeps): Handlers<typeof browser> {
  const names = Object.keys(browser) as (keyof typeof browser)[];
  const passedOn = names.map((name) => [
    name,
    async (params: never, { signal }: Caller) => {
      await bridge.call(browserPort, 'browser.allow', { places: allow() }, { signal });
      return bridge.call(browserPort, name, params, { signal });
    },
  ]);
  return Object.fromEntries(passedOn) as Handlers<typeof browser>;
}
