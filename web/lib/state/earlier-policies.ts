import { legible } from '#shared/legible.ts';
import { parseJson } from '#shared/parse-json.ts';
import type { McpServerState } from '#shared/rpc/methods/mcp.ts';
import { z } from '#shared/rpc/zod.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { list } from '#lib/i18n/format.ts';
import { m } from '#lib/i18n/later.ts';
import { kept } from './kept.ts';
import { toasts } from './toasts.svelte.ts';

const KEY = 'earlier-policies';
const SERVERS_KEY = 'earlier-mcp-approvals';
const serverNames = z.array(z.string()).catch([]);

/** Says once in each browser, for each MCP server, that an approval of an older build now covers the program that was found. */
export function tellOfEarlierServers(servers: readonly Pick<McpServerState, 'name' | 'isApprovalBound'>[]): void {
  const told = serverNames.parse(parseJson(kept.read(SERVERS_KEY) ?? '[]'));
  const fresh = servers.filter(({ name, isApprovalBound }) => isApprovalBound === true && !told.includes(name)).map(({ name }) => name);
  if (fresh.length === 0) return;
  kept.write(SERVERS_KEY, JSON.stringify([...told, ...fresh]));
  toasts.show(m.approval_earlier_servers({ servers: list(fresh.map(legible)) }), { sticky: true });
}

/** Says once in each browser that commands which an older build always allowed mean less now. Best effort: without an answer the next card asks again. */
export async function tellOfEarlierPolicies(): Promise<void> {
  if (kept.read(KEY) !== null) return;
  try {
    const { policies } = await gateway.call('exec.policies', {});
    if (kept.read(KEY) !== null || !policies.some(({ grantee }) => grantee === undefined)) return;
    kept.write(KEY, 'told');
    toasts.show(m.approval_earlier(), { sticky: true });
  } catch {
    // See above.
  }
}
