import type { McpAnswer, McpAsk, McpServerState } from '#shared/rpc/methods/mcp.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/frame.ts';
import { loadWords } from '#lib/i18n/load.ts';
import { announcer } from './announcer.svelte.ts';

export type ToolServer = McpServerState & { id: string };

/** A tool server to be added: a program with its arguments, or an address. */
export type NewToolServer = { command: string; args: string[] } | { url: string };

async function tellOfEarlier(servers: readonly McpServerState[]): Promise<void> {
  const [{ tellOfEarlierServers }] = await Promise.all([import('./earlier-policies.ts'), loadWords('later')]);
  tellOfEarlierServers(servers);
}

/** Tool servers (MCP): how it stands with each, and what they ask of the person. */
class ToolServers {
  /** Null before the first answer. */
  list = $state.raw<ToolServer[] | null>(null);
  /** Forms that servers want filled in, the one that has waited longest first. */
  asks = $state.raw<McpAsk[]>([]);
  problem = $state<Problem | null>(null);
  #started = false;

  start(): void {
    if (this.#started) return;
    this.#started = true;
    gateway.on('mcp.asked', ({ ask }) => {
      announcer.say(m.state_tool_server_asks({ server: ask.server }));
      void this.load();
    });
    gateway.on('mcp.changed', () => void this.load());
  }

  async load(): Promise<void> {
    try {
      const { servers, asks } = await gateway.call('mcp.list', {});
      this.list = servers.map((server) => ({ ...server, id: server.name }));
      this.asks = asks;
      this.problem = null;
      if (servers.some(({ isApprovalBound }) => isApprovalBound)) void tellOfEarlier(servers);
    } catch (error) {
      // A host of an older build has none.
      const unknown = error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';
      if (!unknown && !isLost(error)) this.problem = problemOf(error, m.state_doing_read_tool_servers());
    }
  }

  /** All of these reject where the gateway refuses. */
  async approve(name: string, hash: string): Promise<void> {
    await gateway.call('mcp.approve', { name, hash });
    announcer.say(m.state_tool_server_approved());
    await this.load();
  }

  async restart(name: string): Promise<void> {
    await gateway.call('mcp.restart', { name });
    await this.load();
  }

  /** The address of the page where permission is given. */
  async authorize(name: string): Promise<string> {
    return (await gateway.call('mcp.authorize', { name })).url;
  }

  async logs(name: string): Promise<string> {
    return (await gateway.call('mcp.logs', { name })).text;
  }

  async add(name: string, server: NewToolServer): Promise<void> {
    await this.#patch(name, server);
  }

  async remove(name: string): Promise<void> {
    await this.#patch(name, null);
    announcer.say(m.state_tool_server_removed({ name }));
  }

  async turn(name: string, on: boolean): Promise<void> {
    await this.#patch(name, { enabled: on });
  }

  async #patch(name: string, server: NewToolServer | { enabled: boolean } | null): Promise<void> {
    await gateway.call('config.patch', { patch: { tools: { mcpServers: { [name]: server } } } });
    await this.load();
  }

  async answer({ id }: McpAsk, answer: McpAnswer): Promise<void> {
    await gateway.call('mcp.answer', { id, ...answer });
    this.asks = this.asks.filter((ask) => ask.id !== id);
  }
}

export const toolServers = new ToolServers();
