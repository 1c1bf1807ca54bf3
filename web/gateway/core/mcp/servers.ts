import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import { withoutMiddle } from '#shared/cut-short.ts';
import { mcpPort } from '#shared/ports/mcp.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { McpAnswer, McpAsk, McpPrompt, McpResource, McpServerState } from '#shared/rpc/methods/mcp.ts';
import { MAIN } from '../agents.ts';
import { canonical } from '../canonical.ts';
import { hideForms } from '#shared/redact.ts';
import { repeated } from '../repeated.ts';
import type { Config } from '../config.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import type { Fetch } from '../fetch.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Entry } from './entries.ts';
import { entriesOf } from './entries.ts';
import { sourceOf } from './names.ts';
import { type RequestsDeps, ServerRequests } from './requests.ts';
import { McpServer, type ServerDeps } from './server.ts';

export interface McpDeps extends RequestsDeps {
  bridge: Bridge;
  fetch: Fetch;
  clock: Clock;
  tools: ToolRegistry;
  config: Pick<Config, 'settings' | 'secret'>;
  version: string;
  authorizations: ServerDeps['authorizations'];
  log: RequestsDeps['log'] & ServerDeps['log'];
  /** Whether this host is the active one: only that one connects. */
  serves(): boolean;
  fault(error: unknown): RpcError;
}

/** The MCP servers in `tools.mcpServers`. */
export class McpServers {
  readonly #deps: McpDeps;
  readonly #serverDeps: ServerDeps;
  readonly #requests: ServerRequests;
  readonly #servers = new Map<string, McpServer>();
  /** Servers whose command was typed by a person, with the typed entry, by name. */
  readonly #typed = new Map<string, string>();
  readonly #look = repeated(() => this.#reconcile());
  #stopped = false;

  constructor(deps: McpDeps) {
    this.#deps = deps;
    const { hub, desk } = deps;
    this.#requests = new ServerRequests(deps);
    this.#serverDeps = {
      ...deps,
      requests: this.#requests,
      bound: new Set(),
      changed: (name) => hub.broadcast({ event: 'mcp.changed', payload: { name } }),
      async ask(server, { tool, description }, signal) {
        const { approvals } = await desk();
        await approvals.ask(
          {
            tool: sourceOf(server),
            args: { tool, description },
            summary: `Allow ${tool} from the MCP server ${server} again, whose description is now "${withoutMiddle(description.replace(/\s+/g, ' '), 300)}"`,
          },
          { agentId: MAIN, sessionKey: null, runId: null, principal: sourceOf(server), signal },
        );
      },
    };
  }

  /** Connects and stops servers to match the settings. Resolves when that is decided, not when servers respond. */
  look(): Promise<void> {
    return this.#look();
  }

  /**
   * Called when a person has written these servers, as they are configured now, into the configuration file: that approves their commands.
   */
  typed(names: readonly string[]): void {
    const entries = entriesOf(this.#config());
    for (const entry of entries) if (names.includes(entry.name)) this.#typed.set(entry.name, canonical(entry));
    this.#look().catch(this.#deps.fault);
  }

  /** All configured servers, by name. */
  list(): { servers: McpServerState[]; asks: McpAsk[] } {
    const configured = Object.entries(this.#deps.config.settings.tools.mcpServers ?? {});
    const servers = configured.map(([name, settings]): McpServerState => {
      const server = this.#servers.get(name);
      if (server) {
        const { command, ...state } = server.state;
        return { ...state, ...(command === undefined ? {} : { command: hideForms(command) }) };
      }
      const transport = 'url' in settings ? (settings.transport ?? 'http') : 'stdio';
      return { name, transport, state: 'off', since: 0, tools: 0, changed: [], problems: [] };
    });
    return { servers: servers.sort((a, b) => (a.name < b.name ? -1 : 1)), asks: this.#requests.asks };
  }

  /** Restarts a server. Throws `NOT_FOUND` if no enabled server has that name. */
  async restart(name: string): Promise<void> {
    const server = this.#server(name);
    this.#servers.delete(name);
    await server.stop();
    await this.look();
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

  answer(id: string, answer: McpAnswer): void {
    this.#requests.answer(id, answer);
  }

  /** Resources of one server, or of all connected ones. */
  async resources(name?: string): Promise<McpResource[]> {
    return this.#ofAll(name, (connection) => connection.resources());
  }

  async read(name: string, uri: string): Promise<ReadResourceResult> {
    return (await this.#server(name).connection()).read(uri);
  }

  async prompts(name?: string): Promise<McpPrompt[]> {
    return this.#ofAll(name, (connection) => connection.prompts());
  }

  async prompt(name: string, prompt: string, args: Record<string, string>): Promise<GetPromptResult> {
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

  async #ofAll<T extends object>(
    name: string | undefined,
    read: (connection: Awaited<ReturnType<McpServer['connection']>>) => Promise<T[]>,
  ): Promise<(T & { server: string })[]> {
    const servers = name === undefined ? [...this.#servers.values()].filter(({ state }) => state.state === 'ready') : [this.#server(name)];
    const lists = await Promise.all(
      servers.map(async (server) => (await read(await server.connection())).map((each) => ({ ...each, server: server.entry.name }))),
    );
    return lists.flat();
  }

  #config(): Parameters<typeof entriesOf>[0] {
    const { config } = this.#deps;
    return { settings: config.settings, secret: (path) => config.secret(path) };
  }

  async #reconcile(): Promise<void> {
    const serves = this.#deps.serves();
    const wanted = new Map(this.#stopped ? [] : entriesOf(this.#config()).map((entry) => [entry.name, entry] as const));
    const ended = [...this.#servers].filter(([name, server]) => {
      const entry = wanted.get(name);
      // If another host is active, pending calls here may finish.
      return !entry || canonical(entry) !== canonical(server.entry) || (!serves && !server.isBusy);
    });
    for (const [name] of ended) this.#servers.delete(name);
    // Close old connections before opening new ones: both may need the same files or ports.
    await Promise.all(ended.map(([, server]) => server.stop()));
    for (const [name, entry] of serves ? wanted : []) {
      const typed = this.#typed.get(name);
      this.#typed.delete(name);
      const approved = typed === canonical(entry) ? this.#approve(entry) : Promise.resolve();
      await approved.catch(this.#deps.fault);
      if (!this.#servers.has(name)) this.#servers.set(name, new McpServer(entry, this.#serverDeps));
      else if (typed !== undefined) this.#servers.get(name)?.again();
    }
    await Promise.all([...this.#servers.values()].map(({ decided }) => decided));
  }

  async #approve(entry: Entry): Promise<void> {
    const { bridge } = this.#deps;
    if (entry.transport !== 'stdio' || !bridge.lends(mcpPort)) return;
    const { hash, approved } = await bridge.call(mcpPort, 'mcp.check', entry.command);
    if (!approved) await bridge.call(mcpPort, 'mcp.approve', { hash });
  }
}
