import { toPrintable } from '#shared/printable.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp-contracts.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { formatList } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/chat-messages.ts';
import { safeLocalStorage } from './safe-local-storage.ts';
import { toasts } from './toasts.svelte.ts';

const STORAGE_KEY = 'earlier-policies';
/** Its value has names of servers, which contain no spaces. */
const SERVERS_STORAGE_KEY = 'earlier-mcp-approvals';

/** Says once in each browser, for each MCP server, that an approval of an older build now covers the program that was found. */
export function notifyLegacyServers(servers: readonly Pick<McpServerState, 'name' | 'isApprovalBound'>[]): void {
  const notifiedServers = (safeLocalStorage.read(SERVERS_STORAGE_KEY) ?? '').split(' ');
  const fresh = servers
    .filter(({ name, isApprovalBound }) => isApprovalBound === true && !notifiedServers.includes(name))
    .map(({ name }) => name);
  if (fresh.length === 0) return;
  safeLocalStorage.write(SERVERS_STORAGE_KEY, [...notifiedServers, ...fresh].join(' '));
  toasts.show(m.approval_earlier_servers({ servers: formatList(fresh.map(toPrintable)) }), { sticky: true });
}

/** Says once in each browser that commands which an older build always allowed mean less now. Best effort: without an answer the next card asks again. */
export async function notifyLegacyPolicies(): Promise<void> {
  if (safeLocalStorage.read(STORAGE_KEY) !== null) return;
  try {
    const { policies } = await gateway.call('exec.policies', {});
    if (safeLocalStorage.read(STORAGE_KEY) !== null || !policies.some(({ grantee }) => grantee === undefined)) return;
    safeLocalStorage.write(STORAGE_KEY, 'told');
    toasts.show(m.approval_earlier(), { sticky: true });
  } catch {
    // See above.
  }
}
