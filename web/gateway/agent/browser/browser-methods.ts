import { browserPort } from '#shared/ports/browser-port.ts';
import { browserContracts } from '#shared/rpc/methods/browser-contracts.ts';
import { browserViewContracts } from '#shared/rpc/methods/browser-view-contracts.ts';
import { requirePerson } from '../../system/person.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { type BrowserApprovalDeps, openWithApproval } from './browser-approval.ts';
import { type BrowserConfig, getBrowserAccess } from './browser-access.ts';
import { defineMethods, type Handlers } from '../../system/methods.ts';
import type { Caller } from '../../system/caller.ts';
import { lazy } from '#shared/async/lazy.ts';

export interface BrowserMethodsDeps extends BrowserApprovalDeps {
  bridge: Bridge;
  config: BrowserConfig & BrowserApprovalDeps['config'];
}

/** Forwards every call to the bridge, after setting which sites the browser may reach. Local addresses are opened only after approval. */
export const browserMethods = defineMethods({ ...browserContracts, ...browserViewContracts })(({
  bridge,
  config,
  approvalService,
}: BrowserMethodsDeps) => {
  const allow = (signal: AbortSignal) => bridge.call(browserPort, 'browser.allow', getBrowserAccess(config), { signal });
  const names = Object.keys(browserContracts) as (keyof typeof browserContracts)[];
  const forwarded = names.map((name) => [
    name,
    async (params: never, { signal }: Caller) => {
      await allow(signal);
      return bridge.call(browserPort, name, params, { signal });
    },
  ]);
  const open =
    (name: 'browser.open' | 'browser.navigate') =>
    (params: { url: string; profile: string }, caller: Caller): Promise<never> =>
      openWithApproval(params.url, caller, { config, approvalService }, async () => {
        await allow(caller.signal);
        return (await bridge.call(browserPort, name, params, { signal: caller.signal })) as never;
      });
  const views = lazy(async () => new (await import('./browser-views.ts')).BrowserViews({ bridge, allow }));
  return {
    ...(Object.fromEntries(forwarded) as Handlers<typeof browserContracts>),
    'browser.open': open('browser.open'),
    'browser.navigate': open('browser.navigate'),
    'browser.watch': async (params, caller) => (await views()).watch(params, caller),
    'browser.seen': async (params, caller) => (await views()).acknowledge(params, caller),
    'browser.unwatch': async (params, caller) => (await views()).unwatch(params, caller),
    'browser.input': async (params, caller) => {
      requirePerson(caller, 'control the browser');
      await allow(caller.signal);
      return bridge.call(browserPort, 'browser.input', params, { signal: caller.signal });
    },
  };
});
