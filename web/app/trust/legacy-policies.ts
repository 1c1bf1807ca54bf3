import { toPrintable } from '#shared/printable.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp-contracts.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { formatList } from '../i18n/format.ts';
import { m } from '../i18n/messages.ts';
import { safeLocalStorage } from '../state/safe-local-storage.ts';
import { toasts } from '#kit/toasts.svelte.ts';

const STORAGE_KEY = 'earlier-policies';
/** The value is a list of server names, separated by spaces. */
const SERVERS_STORAGE_KEY = 'earlier-mcp-approvals';

/** Shows a notice, once per browser and MCP server, that an approval of an older build now covers the program that was found. */
export function notifyLegacyServers(servers: readonly Pick<McpServerState, 'name' | 'isApprovalBound'>[]): void {
  const notifiedServers = (safeLocalStorage.read(SERVERS_STORAGE_KEY) ?? '').split(' ');
  const newServers = servers
    .filter(({ name, isApprovalBound }) => isApprovalBound === true && !notifiedServers.includes(name))
    .map(({ name }) => name);
  if (newServers.length === 0) return;
  safeLocalStorage.write(SERVERS_STORAGE_KEY, [...notifiedServers, ...newServers].join(' '));
  toasts.show(m.approval_earlier_servers({ servers: formatList(newServers.map(toPrintable)) }), { sticky: true });
}

/** Shows a notice, once per browser, that commands allowed by an older build cover less now. Best effort: if it fails, it is tried again with the next approval. */
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
