import type { McpElicitationResult, McpElicitation, McpServerState } from '#shared/rpc/methods/mcp-contracts.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { withMessages } from '../i18n/load-messages.ts';
import { announcer } from './announcer.svelte.ts';

export type McpServerEntry = McpServerState & { id: string };

/** An MCP server to add: a program with its arguments, or an address. */
export type NewMcpServer = { command: string; args: string[] } | { url: string };

async function notifyLegacyApprovals(servers: readonly McpServerState[]): Promise<void> {
  const { notifyLegacyServers } = await withMessages(import('../trust/legacy-policies.ts'));
  notifyLegacyServers(servers);
}

/** MCP servers with their state, and their requests to the person. */
class McpServers {
  /** Null before the first answer. */
  list = $state.raw<McpServerEntry[] | null>(null);
  /** Forms that servers ask the person to fill in, the oldest first. */
  elicitations = $state.raw<McpElicitation[]>([]);
  problem = $state<Problem | null>(null);
  #started = false;

  start(): void {
    if (this.#started) return;
    this.#started = true;
    gateway.on('mcp.asked', ({ ask: elicitation }) => {
      announcer.announce(m.state_tool_server_asks({ server: elicitation.server }));
      void this.load();
    });
    gateway.on('mcp.changed', () => void this.load());
  }

  async load(): Promise<void> {
    try {
      const { servers, asks: elicitations } = await gateway.call('mcp.list', {});
      this.list = servers.map((server) => ({ ...server, id: server.name }));
      this.elicitations = elicitations;
      this.problem = null;
      if (servers.some(({ isApprovalBound }) => isApprovalBound)) void notifyLegacyApprovals(servers);
    } catch (error) {
      // A host of an older build has no MCP servers.
      const unknown = error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';
      if (!unknown && !isConnectionLost(error)) this.problem = toProblem(error, m.state_doing_read_tool_servers());
    }
  }

  /** Approves the program of a server. This and the following methods reject if the gateway refuses. */
  async approve(name: string, hash: string): Promise<void> {
    await gateway.call('mcp.approve', { name, hash });
    announcer.announce(m.state_tool_server_approved());
    await this.load();
  }

  async restart(name: string): Promise<void> {
    await gateway.call('mcp.restart', { name });
    await this.load();
  }

  /** Returns the address of the page where the person authorizes a server. */
  async authorize(name: string): Promise<string> {
    return (await gateway.call('mcp.authorize', { name })).url;
  }

  async logs(name: string): Promise<string> {
    return (await gateway.call('mcp.logs', { name })).text;
  }

  async add(name: string, server: NewMcpServer): Promise<void> {
    await this.#patch(name, server);
  }

  async remove(name: string): Promise<void> {
    await this.#patch(name, null);
    announcer.announce(m.state_tool_server_removed({ name }));
  }

  async setEnabled(name: string, on: boolean): Promise<void> {
    await this.#patch(name, { enabled: on });
  }

  async #patch(name: string, server: NewMcpServer | { enabled: boolean } | null): Promise<void> {
    await gateway.call('config.patch', { patch: { tools: { mcpServers: { [name]: server } } } });
    await this.load();
  }

  async respond({ id }: McpElicitation, answer: McpElicitationResult): Promise<void> {
    await gateway.call('mcp.answer', { id, ...answer });
    this.elicitations = this.elicitations.filter((elicitation) => elicitation.id !== id);
  }
}

export const mcpServers = new McpServers();
