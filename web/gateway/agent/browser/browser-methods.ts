import { browserPort } from '#shared/ports/browser-port.ts';
import { browserContracts } from '#shared/rpc/methods/browser-contracts.ts';
import { browserViewContracts } from '#shared/rpc/methods/browser-view-contracts.ts';
import { requirePerson, isPerson } from '../../system/person.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import { type BrowserConfig, getBrowserAccess } from './browser-access.ts';
import { defineMethods, type Handlers } from '../../system/methods.ts';
import type { Caller } from '../../system/caller.ts';
import { lazy } from '#shared/async/lazy.ts';
import { BROWSER_OPEN_TOOL } from '#shared/approval-tool.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import type { ApprovalService } from '../approvals/approval-service.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { Lazy } from '../../system/modules.ts';

interface BrowserApprovalDeps {
  config: Pick<Config, 'edit' | 'settings'>;
  approvalService: Lazy<Pick<ApprovalService, 'approvals'>>;
}

const privatePlaceRefusal = z.object({ reason: z.literal('private-place') });

const isPrivatePlaceRefusal = (error: unknown): boolean =>
  error instanceof RpcError && privatePlaceRefusal.safeParse(error.extra.details).success;

interface BrowserMethodsDeps extends BrowserApprovalDeps {
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

/**
 * Opens an address with `open`. If the browser may not visit a place on this computer yet and the caller is a person, asks once and then
 * stores the place in `browser.allow`. Programs are refused as before.
 */
async function openWithApproval<R>(
  url: string,
  { principal, signal }: Caller,
  { config, approvalService }: BrowserApprovalDeps,
  open: () => Promise<R>,
): Promise<R> {
  try {
    return await open();
  } catch (error) {
    const host = toLoopbackHost(url);
    if (host === undefined || !isPerson(principal) || !isPrivatePlaceRefusal(error)) throw error;
    const context = { agentId: MAIN_AGENT_ID, sessionKey: null, runId: null, principal, signal };
    const summary = `Let the browser, and agents in it, open ${host} from now on, and open ${url}`;
    await (await approvalService.load()).approvals.request({ tool: BROWSER_OPEN_TOOL, args: { url }, summary }, context);
    await config.edit((document) => {
      const { allow } = config.settings.browser;
      const browser = { ...(document['browser'] as object | undefined), allow: [...new Set([...allow, host])] };
      return { ...document, browser };
    });
    return open();
  }
}

/** `host:port` of an address on this computer. */
function toLoopbackHost(address: string): string | undefined {
  const url = URL.parse(address);
  if (!url || !/^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) return undefined;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}
