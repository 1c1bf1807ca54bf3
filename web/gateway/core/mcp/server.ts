import { toClause } from '#shared/clause.ts';
import { commandLine } from '#shared/command-line.ts';
import { SdkError, SdkErrorCode, type Transport } from '@modelcontextprotocol/client';
import { mcpPort } from '#shared/ports/mcp.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import type { ChangedTool, McpServerState } from '#shared/rpc/methods/mcp.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import type { Fetch } from '../fetch.ts';
import type { Log } from '../log/log.ts';
import { repeated } from '../repeated.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { Vault } from '../vault.ts';
import { BridgeTransport } from './bridge-transport.ts';
import { McpConnection } from './connection.ts';
import type { Entry } from './entries.ts';
import { httpTransport } from './http-transport.ts';
import { type AuthorizationDeps, McpAuthorization } from './oauth/authorization.ts';
import { OfferedTools } from './offered.ts';
import { CAPABILITIES, type ServerRequests } from './requests.ts';

/**
 * First and longest delay before a lost server is restarted; the delay doubles with each failure and is reset once the server has run for a
 * while.
 */
const AGAIN_MS = 1000;
const LONGEST_MS = 300_000;
const STEADY_MS = 60_000;
/** Minimum interval between two reads of a changed list. */
const LIST_MS = 1000;

export interface ServerDeps {
  bridge: Bridge;
  fetch: Fetch;
  clock: Clock;
  vault: Vault;
  tools: ToolRegistry;
  requests: ServerRequests;
  authorizations: AuthorizationDeps['authorizations'];
  log: { hide(secrets: Iterable<string>): void } & Pick<Log, 'write'>;
  version: string;
  /** Servers whose approval by an older build has been logged. */
  bound: Set<string>;
  /** Asks a person whether a changed tool may be used again. */
  ask(server: string, changed: ChangedTool, signal: AbortSignal): Promise<void>;
  changed(name: string): void;
  fault(error: unknown): RpcError;
}

/** One configured MCP server, until it is removed from the settings: connects, and reconnects if the connection is lost. */
export class McpServer {
  readonly entry: Entry;
  readonly #deps: ServerDeps;
  readonly #stop = new AbortController();
  /** Set if a person's authorization may be needed and no header with credentials is configured. */
  readonly #authorization: McpAuthorization | undefined;
  readonly #offered: OfferedTools;
  readonly #lived: Promise<void>;
  /** Resolves when it is known whether the server may be started. */
  readonly decided: Promise<void>;
  #decide = (): void => {};
  /** Resolves when the server is connected, or has failed to connect. */
  #settled: Promise<void> = Promise.resolve();
  #settle = (): void => {};
  #state: McpServerState['state'] = 'off';
  #since: number;
  /** Monotonic time; undefined until the server is ready after its last start. */
  #readyAt: number | undefined;
  #error: string | undefined;
  #hash: string | undefined;
  #isApprovalBound = false;
  #transport: BridgeTransport | undefined;
  #connection: McpConnection | undefined;
  #stderr = '';
  /** Number of pending tool calls. */
  #calls = 0;
  #wake = (): void => {};

  constructor(entry: Entry, deps: ServerDeps) {
    this.entry = entry;
    this.#deps = deps;
    this.#since = deps.clock.now();
    const { name } = entry;
    this.#offered = new OfferedTools(name, {
      ...deps,
      ask: (changed, signal) => deps.ask(name, changed, AbortSignal.any([this.#stop.signal, signal])),
      call: (tool, args, context) => {
        const onprogress = deps.requests.progress(name, tool, context);
        return this.#use((connection) => connection.call(tool, args, { signal: context.signal, onprogress }));
      },
    });
    if (entry.transport !== 'stdio' && !Object.keys(entry.headers).some((header) => header.toLowerCase() === 'authorization')) {
      this.#authorization = new McpAuthorization(entry, this.#stop.signal, {
        ...deps,
        hide: (secrets) => deps.log.hide(secrets),
        given: () => (deps.changed(name), this.again()),
        changed: () => deps.changed(name),
      });
    }
    this.decided = new Promise((resolve) => (this.#decide = resolve));
    this.#lived = this.#live();
  }

  get state(): McpServerState {
    const { entry } = this;
    const about = this.#connection?.about;
    return {
      name: entry.name,
      transport: entry.transport,
      state: this.#state,
      since: this.#since,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      ...(entry.transport === 'stdio' ? { command: commandLine(entry.command.command, entry.command.args) } : { url: entry.url }),
      ...(this.#authorization?.wants ? { wants: this.#authorization.wants } : {}),
      ...(this.#state === 'waiting' && this.#hash !== undefined ? { hash: this.#hash } : {}),
      ...(this.#isApprovalBound ? { isApprovalBound: true } : {}),
      ...(this.#transport?.pid === undefined ? {} : { pid: this.#transport.pid }),
      ...(about ? { server: about } : {}),
      tools: this.#offered.count,
      changed: [...this.#offered.changed],
      problems: [...this.#offered.problems],
    };
  }

  get isBusy(): boolean {
    return this.#calls > 0;
  }

  /** The end of its standard error output, now or before the connection was lost. */
  async logs(): Promise<string> {
    return (await this.#transport?.stderr().catch(() => undefined)) ?? this.#stderr;
  }

  /** Approves the command or changed tool with this hash; false if there is none. */
  async approve(hash: string): Promise<boolean> {
    if (this.#state === 'waiting' && hash === this.#hash) {
      await this.#deps.bridge.call(mcpPort, 'mcp.approve', { hash });
      this.#set('starting');
      this.again();
      return true;
    }
    if (!(await this.#offered.approve(hash))) return false;
    this.#deps.changed(this.entry.name);
    return true;
  }

  /** Starts an authorization by a person and returns the address to open. Throws `INVALID_PARAMS` if the server needs none. */
  async authorize(): Promise<string> {
    const { name, transport } = this.entry;
    if (this.#authorization) return this.#authorization.ask();
    const why = transport === 'stdio' ? 'runs as a command' : 'has an Authorization header';
    throw new RpcError('INVALID_PARAMS', `MCP server ${name} ${why} and needs no authorization.`);
  }

  /** Retries at once instead of after the delay. */
  again(): void {
    this.#wake();
  }

  /** The connection, after waiting for a pending attempt. Rejects with `INTERNAL_ERROR` if there is none. */
  async connection(): Promise<McpConnection> {
    if (!this.#connection) await this.#settled;
    if (this.#connection) return this.#connection;
    const { name } = this.entry;
    throw new RpcError('INTERNAL_ERROR', `MCP server ${name} is not connected.${this.#error === undefined ? '' : ` ${this.#error}`}`);
  }

  /** Resolves when the server is stopped and everything that belonged to it is removed. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('The MCP server was stopped.'));
    await this.#lived;
  }

  async #use<T>(work: (connection: McpConnection) => Promise<T>): Promise<T> {
    const connection = await this.connection();
    this.#calls++;
    try {
      return await work(connection);
    } catch (error) {
      // Over HTTP nothing else reports that a server, or its session, is gone.
      if (this.#authorization?.refusedBy(error) || connection.isLost(error)) void connection.close();
      throw error;
    } finally {
      this.#calls--;
    }
  }

  async #live(): Promise<void> {
    const { clock, fault } = this.#deps;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted;) {
      this.#readyAt = undefined;
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      // The earlier error still applies.
      this.#set('starting', failures > 0 ? this.#error : undefined);
      let failure: unknown;
      try {
        await this.#connect();
      } catch (error) {
        failure = error;
      }
      await this.#offered.withdraw().catch(fault);
      if (signal.aborted) break;
      if (this.#authorization?.refusedBy(failure)) {
        this.#set('unauthorized', 'Authorization is required (OAuth).');
        failure = undefined;
      }
      if (failure !== undefined) this.#set('failed', (failure instanceof RpcError ? failure : fault(failure)).message);
      if (failure === undefined) {
        failures = 0;
        await this.#pause(woken, undefined);
      } else {
        // A slow start that fails does not count as a steady run.
        failures = this.#readyAt !== undefined && clock.monotonic() - this.#readyAt > STEADY_MS ? 1 : failures + 1;
        await this.#pause(woken, Math.min(AGAIN_MS * 2 ** (failures - 1), LONGEST_MS));
      }
    }
    this.#set('off');
  }

  /** Waits until the server is woken or stopped, or for `ms`. */
  async #pause(woken: Promise<void>, ms: number | undefined): Promise<void> {
    const over = Promise.withResolvers<void>();
    const cancels = [ms === undefined ? (): void => {} : this.#deps.clock.after(ms, over.resolve)];
    // A server that needs the bridge is retried when one attaches.
    if (this.entry.transport === 'stdio') cancels.push(this.#deps.bridge.watch(over.resolve));
    this.#stop.signal.addEventListener('abort', () => over.resolve(), { once: true });
    await Promise.race([woken, over.promise]);
    for (const cancel of cancels) cancel();
  }

  /** Resolves if a person has to be asked first. Rejects with the reason why there is no connection, or why it ended. */
  async #connect(): Promise<void> {
    const { bridge, bound, log, requests, version } = this.#deps;
    const { entry } = this;
    let root: string | undefined;
    let transport: Transport;
    this.#transport = undefined;
    if (entry.transport === 'stdio') {
      const checked = await bridge.call(mcpPort, 'mcp.check', entry.command, { signal: this.#stop.signal });
      const { hash, approved, workingDir } = checked;
      if (checked.isApprovalBound === true && !bound.has(entry.name)) log.write('warn', 'mcp', toBoundApproval(entry.name));
      this.#isApprovalBound = checked.isApprovalBound === true;
      if (this.#isApprovalBound) bound.add(entry.name);
      this.#hash = hash;
      if (!approved) return this.#set('waiting', 'Its command is waiting for approval.');
      root = workingDir;
      this.#decide();
      transport = this.#transport = new BridgeTransport(bridge, entry.command);
    } else {
      await this.#authorization?.load();
      transport = httpTransport(entry, this.#deps.fetch, this.#authorization);
      this.#decide();
    }
    const over = (): string | undefined => this.#transport?.end && endOf(this.#transport);
    const stopped = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, stopped.signal]);
    const list = repeated(() => this.#list(signal));
    try {
      const connection = await McpConnection.open({
        ...{ entry, transport, version, signal, over, capabilities: CAPABILITIES },
        prepare: (client) => {
          requests.serve(client, { server: entry.name, root, signal });
          client.setNotificationHandler('notifications/tools/list_changed', () => {
            if (this.#connection) list().catch((error: unknown) => this.#deps.requests.noted(entry.name, error));
          });
        },
        explain: async (failure) => {
          // The client has closed the transport, but does not wait for the end.
          await this.#transport?.close();
          return entry.transport === 'stdio' ? toStartFailure(failure, entry, await this.logs()) : failure;
        },
      });
      this.#connection = connection;
      await list();
      this.#readyAt = this.#deps.clock.monotonic();
      this.#set('ready');
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([connection.closed, aborted]);
      throw new RpcError('INTERNAL_ERROR', `MCP server ${entry.name} disconnected: ${toClause(over() ?? 'the connection was lost')}.`);
    } finally {
      stopped.abort(new Error('The connection is over'));
      await this.#connection?.close();
      this.#connection = undefined;
      this.#stderr = this.#transport?.end?.stderr ?? this.#stderr;
      await this.#transport?.close();
      this.#transport = undefined;
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const connection = await this.connection();
    const { tools, leftOut, problems } = await connection.tools();
    signal.throwIfAborted();
    await this.#offered.offer(tools, [...(leftOut ? [`Only the first ${tools.length} tools are available`] : []), ...problems]);
    this.#deps.changed(this.entry.name);
    if (this.#state === 'ready') await new Promise<void>((resolve) => this.#deps.clock.after(LIST_MS, resolve));
  }

  #set(state: McpServerState['state'], error?: string): void {
    if (state !== 'starting') {
      this.#settle();
      this.#decide();
    } else if (this.#state !== 'starting') this.#settled = new Promise((resolve) => (this.#settle = resolve));
    this.#state = state;
    this.#error = error;
    this.#since = this.#deps.clock.now();
    this.#deps.changed(this.entry.name);
  }
}

/** Explains a time-out at the start: the command may have to download the server first. */
function toStartFailure(error: Error, { name, timeoutMs }: Entry, stderr: string): Error {
  if (!(error instanceof RpcError) || !SdkError.isInstance(error.cause) || error.cause.code !== SdkErrorCode.RequestTimeout) return error;
  const last = stderr.trimEnd().split('\n').at(-1)?.slice(0, 500) ?? '';
  const message = `MCP server ${name} did not start within ${timeoutMs / 1000} s${last === '' ? '' : ` (${last})`}. If its command downloads a package, check the network.`;
  return new RpcError('INTERNAL_ERROR', message, {}, { cause: error });
}

/** Why a command has ended, with its last output. */
function endOf({ end, stray }: BridgeTransport): string | undefined {
  if (end?.why === undefined) return undefined;
  const last = end.stderr.trimEnd().split('\n').at(-1)?.slice(0, 500) ?? '';
  const hint = stray === undefined ? '' : `; invalid output: ${JSON.stringify(stray)}`;
  return `${end.why}${last === '' ? '' : ` (${last})`}${hint}`;
}

const toBoundApproval = (name: string): string =>
  `The approval of MCP server ${name} is from an older version and did not cover its program. It now holds for the current program and script; a change needs approval again. Check the server if you do not trust them.`;
