import { BROWSER_PLACE } from '#shared/approval-tool.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import { MAIN } from './agents.ts';
import type { Desk } from './approvals/desk.ts';
import { isPerson } from './approvals/person.ts';
import type { Config } from './config.ts';
import type { Caller } from './dispatch.ts';

export interface BrowserPlacesDeps {
  config: Pick<Config, 'edit' | 'settings'>;
  desk(): Promise<Pick<Desk, 'approvals'>>;
}

const refused = z.object({ reason: z.literal('private-place') });

/**
 * Opens an address with `open`. If the browser may not visit a place on this computer yet and the caller is a person, asks once and then
 * stores the place in `browser.allow`. Programs are refused as before.
 */
export async function openPlace<R>(
  url: string,
  { principal, signal }: Caller,
  { config, desk }: BrowserPlacesDeps,
  open: () => Promise<R>,
): Promise<R> {
  try {
    return await open();
  } catch (error) {
    const place = toLoopbackPlace(url);
    if (place === undefined || !isPerson(principal) || !isRefused(error)) throw error;
    const context = { agentId: MAIN, sessionKey: null, runId: null, principal, signal };
    const summary = `Let the browser, and agents in it, open ${place} from now on, and open ${url}`;
    await (await desk()).approvals.ask({ tool: BROWSER_PLACE, args: { url }, summary }, context);
    await config.edit((document) => {
      const { allow } = config.settings.browser;
      const browser = { ...(document['browser'] as object | undefined), allow: [...new Set([...allow, place])] };
      return { ...document, browser };
    });
    return open();
  }
}

const isRefused = (error: unknown): boolean => error instanceof RpcError && refused.safeParse(error.extra.details).success;

/** `host:port` of an address on this computer. */
function toLoopbackPlace(address: string): string | undefined {
  const url = URL.parse(address);
  if (!url || !/^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) return undefined;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}
