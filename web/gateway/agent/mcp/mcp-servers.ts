import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import { truncateMiddle } from '#shared/truncate-text.ts';
import { mcpPort } from '#shared/ports/mcp-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { McpElicitationResult, McpElicitation, McpPrompt, McpResource, McpServerState } from '#shared/rpc/methods/mcp-contracts.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import { redactPatterns } from '#shared/redact.ts';
import { coalesce } from '#shared/async/coalesce.ts';
import type { Config } from '../../config/gateway-config.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../ports/fetch.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { McpEndpoint } from './mcp-endpoints.ts';
import { getMcpEndpoints } from './mcp-endpoints.ts';
import { toSourceId } from './mcp-tool-names.ts';
import { type RequestsDeps, ServerRequests } from './server-requests.ts';
import { McpServer, type McpServerDeps } from './mcp-server.ts';

export interface McpServersDeps extends RequestsDeps {
  bridge: Bridge;
  fetch: Fetch;
  clock: Clock;
  tools: ToolRegistry;
  config: Pick<Config, 'settings' | 'getSecret'>;
  version: string;
  authorizations: McpServerDeps['authorizations'];
  log: RequestsDeps['log'] & McpServerDeps['log'];
  /** Whether this host is the active one: only that one connects. */
  isServing(): boolean;
  fault(error: unknown): RpcError;
}

/** The MCP servers in `tools.mcpServers`. */
export class McpServers {
  readonly #deps: McpServersDeps;
  readonly #serverDeps: McpServerDeps;
  readonly #requests: ServerRequests;
  readonly #servers = new Map<string, McpServer>();
  /** Servers whose command was typed by a person, with the typed entry, by name. */
  readonly #enteredConfigs = new Map<string, string>();
  readonly #refresh = coalesce(() => this.#reconcile());
  #stopped = false;

  constructor(deps: McpServersDeps) {
    this.#deps = deps;
    const { hub, approvalService } = deps;
    this.#requests = new ServerRequests(deps);
    this.#serverDeps = {
      ...deps,
      requests: this.#requests,
      boundApprovals: new Set(),
      onChanged: (name) => hub.broadcast({ event: 'mcp.changed', payload: { name } }),
      async requestApproval(server, { tool, description }, signal) {
        const { approvals } = await approvalService.load();
        await approvals.request(
          {
            tool: toSourceId(server),
            args: { tool, description },
            summary: `Allow ${tool} from the MCP server ${server} again, whose description is now "${truncateMiddle(description.replace(/\s+/g, ' '), 300)}"`,
          },
          { agentId: MAIN_AGENT_ID, sessionKey: null, runId: null, principal: toSourceId(server), signal },
        );
      },
    };
  }

  /** Connects and stops servers to match the settings. Resolves when that is decided, not when servers respond. */
  refresh(): Promise<void> {
    return this.#refresh();
  }

  /**
   * Called when a person has written these servers, as they are configured now, into the configuration file: that approves their commands.
   */
  approveEntered(names: readonly string[]): void {
    const endpoints = getMcpEndpoints(this.#getConfig());
    for (const endpoint of endpoints) if (names.includes(endpoint.name)) this.#enteredConfigs.set(endpoint.name, toCanonicalJson(endpoint));
    this.#refresh().catch(this.#deps.fault);
  }

  /** All configured servers, by name. */
  list(): { servers: McpServerState[]; asks: McpElicitation[] } {
    const configured = Object.entries(this.#deps.config.settings.tools.mcpServers ?? {});
    const servers = configured.map(([name, settings]): McpServerState => {
      const server = this.#servers.get(name);
      if (server) {
        const { command, ...state } = server.state;
        return { ...state, ...(command === undefined ? {} : { command: redactPatterns(command) }) };
      }
      const transport = 'url' in settings ? (settings.transport ?? 'http') : 'stdio';
      return { name, transport, state: 'off', since: 0, tools: 0, changed: [], problems: [] };
    });
    return { servers: servers.sort((a, b) => (a.name < b.name ? -1 : 1)), asks: this.#requests.questions };
  }

  /** Restarts a server. Throws `NOT_FOUND` if no enabled server has that name. */
  async restart(name: string): Promise<void> {
    const server = this.#server(name);
    this.#servers.delete(name);
    await server.stop();
    await this.refresh();
  }

  /** Approves a command, or a changed tool, by the hash in `list`. Throws `NOT_FOUND` if none is waiting for approval. */
  async approve(name: string, hash: string): Promise<void> {
    if (!(await this.#server(name).approve(hash)))
      throw new RpcError('NOT_FOUND', `MCP server ${name} has no pending approval with this hash.`);
  }

  /** The address of the page where a person authorizes access. Rejects with `NOT_FOUND` or `INVALID_PARAMS` if there is none. */
  authorize(name: string): Promise<string> {
    return this.#server(name).authorize();
  }

  logs(name: string): Promise<string> {
    return this.#server(name).logs();
  }

  answerQuestion(id: string, answer: McpElicitationResult): void {
    this.#requests.answerQuestion(id, answer);
  }

  /** Resources of one server, or of all connected ones. */
  async resources(name?: string): Promise<McpResource[]> {
    return this.#collect(name, (connection) => connection.resources());
  }

  async read(name: string, uri: string): Promise<ReadResourceResult> {
    return (await this.#server(name).connection()).read(uri);
  }

  async prompts(name?: string): Promise<McpPrompt[]> {
    return this.#collect(name, (connection) => connection.prompts());
  }

  async getPrompt(name: string, prompt: string, args: Record<string, string>): Promise<GetPromptResult> {
    return (await this.#server(name).connection()).prompt(prompt, args);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#servers.values()].map((server) => server.stop()));
  }

  #server(name: string): McpServer {
    const server = this.#servers.get(name);
    if (!server) throw new RpcError('NOT_FOUND', `No enabled MCP server with name "${name}".`);
    return server;
  }

  async #collect<T extends object>(
    name: string | undefined,
    read: (connection: Awaited<ReturnType<McpServer['connection']>>) => Promise<T[]>,
  ): Promise<(T & { server: string })[]> {
    const servers = name === undefined ? [...this.#servers.values()].filter(({ state }) => state.state === 'ready') : [this.#server(name)];
    const lists = await Promise.all(
      servers.map(async (server) => (await read(await server.connection())).map((each) => ({ ...each, server: server.endpoint.name }))),
    );
    return lists.flat();
  }

  #getConfig(): Parameters<typeof getMcpEndpoints>[0] {
    const { config } = this.#deps;
    return { settings: config.settings, secret: (path) => config.getSecret(path) };
  }

  async #reconcile(): Promise<void> {
    const isServing = this.#deps.isServing();
    const endpoints = new Map(
      this.#stopped ? [] : getMcpEndpoints(this.#getConfig()).map((endpoint) => [endpoint.name, endpoint] as const),
    );
    const outdated = [...this.#servers].filter(([name, server]) => {
      const endpoint = endpoints.get(name);
      // If another host is active, pending calls here may finish.
      return !endpoint || toCanonicalJson(endpoint) !== toCanonicalJson(server.endpoint) || (!isServing && !server.isBusy);
    });
    for (const [name] of outdated) this.#servers.delete(name);
    // Close old connections before opening new ones: both may need the same files or ports.
    await Promise.all(outdated.map(([, server]) => server.stop()));
    for (const [name, endpoint] of isServing ? endpoints : []) {
      const enteredConfig = this.#enteredConfigs.get(name);
      this.#enteredConfigs.delete(name);
      const approved = enteredConfig === toCanonicalJson(endpoint) ? this.#approve(endpoint) : Promise.resolve();
      await approved.catch(this.#deps.fault);
      if (!this.#servers.has(name)) this.#servers.set(name, new McpServer(endpoint, this.#serverDeps));
      else if (enteredConfig !== undefined) this.#servers.get(name)?.retryNow();
    }
    await Promise.all([...this.#servers.values()].map(({ decision }) => decision));
  }

  async #approve(endpoint: McpEndpoint): Promise<void> {
    const { bridge } = this.#deps;
    if (endpoint.transport !== 'stdio' || !bridge.provides(mcpPort)) return;
    const { hash, approved } = await bridge.call(mcpPort, 'mcp.check', endpoint.command);
    if (!approved) await bridge.call(mcpPort, 'mcp.approve', { hash });
  }
}
