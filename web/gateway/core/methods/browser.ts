import { browserPort } from '#shared/ports/browser.ts';
import { browser } from '#shared/rpc/methods/browser.ts';
import type { browserView } from '#shared/rpc/methods/browser-view.ts';
import { requirePerson } from '../approvals/person.ts';
import type { Bridge } from '../bridge.ts';
import { type BrowserPlacesDeps, openPlace } from '../browser-places.ts';
import { type BrowserConfig, browserReach } from '../browser-reach.ts';
import type { Caller, Handlers } from '../dispatch.ts';
import { lazy } from '../lazy.ts';

export interface BrowserMethodsDeps extends BrowserPlacesDeps {
  bridge: Bridge;
  config: BrowserConfig & BrowserPlacesDeps['config'];
}

/** Forwards every call to the bridge, after setting which sites the browser may reach. Local addresses are opened only after approval. */
export function browserMethods({ bridge, config, desk }: BrowserMethodsDeps): Handlers<typeof browser & typeof browserView> {
  const allowed = (signal: AbortSignal) => bridge.call(browserPort, 'browser.allow', browserReach(config), { signal });
  const names = Object.keys(browser) as (keyof typeof browser)[];
  const passedOn = names.map((name) => [
    name,
    async (params: never, { signal }: Caller) => {
      await allowed(signal);
      return bridge.call(browserPort, name, params, { signal });
    },
  ]);
  const open =
    (name: 'browser.open' | 'browser.navigate') =>
    (params: { url: string; profile: string }, caller: Caller): Promise<never> =>
      openPlace(params.url, caller, { config, desk }, async () => {
        await allowed(caller.signal);
        return (await bridge.call(browserPort, name, params, { signal: caller.signal })) as never;
      });
  const views = lazy(async () => new (await import('../browser-views.ts')).BrowserViews({ bridge, allowed }));
  return {
    ...(Object.fromEntries(passedOn) as Handlers<typeof browser>),
    'browser.open': open('browser.open'),
    'browser.navigate': open('browser.navigate'),
    'browser.watch': async (params, caller) => (await views()).watch(params, caller),
    'browser.seen': async (params, caller) => (await views()).seen(params, caller),
    'browser.unwatch': async (params, caller) => (await views()).unwatch(params, caller),
    'browser.input': async (params, caller) => {
      requirePerson(caller, 'control the browser');
      await allowed(caller.signal);
      return bridge.call(browserPort, 'browser.input', params, { signal: caller.signal });
    },
  };
}
