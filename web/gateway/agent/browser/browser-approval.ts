import { BROWSER_OPEN_TOOL } from '#shared/approval-tool.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import type { ApprovalService } from '../approvals/approval-service.ts';
import { isPerson } from '../../system/person.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { Caller } from '../../system/caller.ts';
import type { Lazy } from '../../system/modules.ts';

export interface BrowserApprovalDeps {
  config: Pick<Config, 'edit' | 'settings'>;
  approvalService: Lazy<Pick<ApprovalService, 'approvals'>>;
}

const privatePlaceRefusal = z.object({ reason: z.literal('private-place') });

/**
 * Opens an address with `open`. If the browser may not visit a place on this computer yet and the caller is a person, asks once and then
 * stores the place in `browser.allow`. Programs are refused as before.
 */
export async function openWithApproval<R>(
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

const isPrivatePlaceRefusal = (error: unknown): boolean =>
  error instanceof RpcError && privatePlaceRefusal.safeParse(error.extra.details).success;

/** `host:port` of an address on this computer. */
function toLoopbackHost(address: string): string | undefined {
  const url = URL.parse(address);
  if (!url || !/^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) return undefined;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
}
