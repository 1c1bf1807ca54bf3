import { toClause } from '#shared/clause.ts';
import { formatCommandLine } from '#shared/command-line.ts';
import { SdkError, SdkErrorCode, type Transport } from '@modelcontextprotocol/client';
import { mcpPort } from '#shared/ports/mcp-port.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { ChangedTool, McpServerState } from '#shared/rpc/methods/mcp-contracts.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Fetch } from '../../ports/fetch.ts';
import type { Log } from '../../system/log/log.ts';
import { coalesce } from '#shared/async/coalesce.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import { BridgeTransport } from './bridge-transport.ts';
import { McpConnection } from './mcp-connection.ts';
import type { McpEndpoint } from './mcp-endpoints.ts';
import { createHttpTransport } from './http-transport.ts';
import { type McpAuthorizationDeps, McpAuthorization } from './oauth/mcp-authorization.ts';
import { OfferedTools } from './offered-tools.ts';
import { CLIENT_CAPABILITIES, type ServerRequests } from './server-requests.ts';

/**
 * First and longest delay before a lost server is restarted; the delay doubles with each failure and is reset once the server has run for a
 * while.
 */
const MIN_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 300_000;
const STABLE_MS = 60_000;
/** Minimum interval between two reads of a changed list. */
const LIST_INTERVAL_MS = 1000;

export interface McpServerDeps {
  bridge: Bridge;
  fetch: Fetch;
  clock: Clock;
  vault: Vault;
  tools: ToolRegistry;
  requests: ServerRequests;
  authorizations: McpAuthorizationDeps['authorizations'];
  log: { hide(secrets: Iterable<string>): void } & Pick<Log, 'write'>;
  version: string;
  /** Servers whose approval by an older build has been logged. */
  boundApprovals: Set<string>;
  /** Asks a person whether a changed tool may be used again. */
  requestApproval(server: string, changed: ChangedTool, signal: AbortSignal): Promise<void>;
  onChanged(name: string): void;
  fault(error: unknown): RpcError;
}

/** One configured MCP server, until it is removed from the settings: connects, and reconnects if the connection is lost. */
export class McpServer {
  readonly endpoint: McpEndpoint;
  readonly #deps: McpServerDeps;
  readonly #stop = new AbortController();
  /** Set if a person's authorization may be needed and no header with credentials is configured. */
  readonly #authorization: McpAuthorization | undefined;
  readonly #offered: OfferedTools;
  readonly #loop: Promise<void>;
  /** Resolves when it is known whether the server may be started. */
  readonly decision: Promise<void>;
  #resolveDecision = (): void => {};
  /** Resolves when the server is connected, or has failed to connect. */
  #settled: Promise<void> = Promise.resolve();
  #resolveSettled = (): void => {};
  #state: McpServerState['state'] = 'off';
  #stateSince: number;
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

  constructor(entry: McpEndpoint, deps: McpServerDeps) {
    this.endpoint = entry;
    this.#deps = deps;
    this.#stateSince = deps.clock.now();
    const { name } = entry;
    this.#offered = new OfferedTools(name, {
      ...deps,
      requestApproval: (changed, signal) => deps.requestApproval(name, changed, AbortSignal.any([this.#stop.signal, signal])),
      call: (tool, args, context) => {
        const onprogress = deps.requests.createProgressReporter(name, tool, context);
        return this.#withConnection((connection) => connection.call(tool, args, { signal: context.signal, onprogress }));
      },
    });
    if (entry.transport !== 'stdio' && !Object.keys(entry.headers).some((header) => header.toLowerCase() === 'authorization')) {
      this.#authorization = new McpAuthorization(entry, this.#stop.signal, {
        ...deps,
        hide: (secrets) => deps.log.hide(secrets),
        onGranted: () => (deps.onChanged(name), this.retryNow()),
        onChanged: () => deps.onChanged(name),
      });
    }
    this.decision = new Promise((resolve) => (this.#resolveDecision = resolve));
    this.#loop = this.#run();
  }

  get state(): McpServerState {
    const { endpoint } = this;
    const serverInfo = this.#connection?.serverInfo;
    return {
      name: endpoint.name,
      transport: endpoint.transport,
      state: this.#state,
      since: this.#stateSince,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      ...(endpoint.transport === 'stdio'
        ? { command: formatCommandLine(endpoint.command.command, endpoint.command.args) }
        : { url: endpoint.url }),
      ...(this.#authorization?.requestedScope ? { wants: this.#authorization.requestedScope } : {}),
      ...(this.#state === 'waiting' && this.#hash !== undefined ? { hash: this.#hash } : {}),
      ...(this.#isApprovalBound ? { isApprovalBound: true } : {}),
      ...(this.#transport?.pid === undefined ? {} : { pid: this.#transport.pid }),
      ...(serverInfo ? { server: serverInfo } : {}),
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
      this.#setState('starting');
      this.retryNow();
      return true;
    }
    if (!(await this.#offered.approve(hash))) return false;
    this.#deps.onChanged(this.endpoint.name);
    return true;
  }

  /** Starts an authorization by a person and returns the address to open. Throws `INVALID_PARAMS` if the server needs none. */
  async authorize(): Promise<string> {
    const { name, transport } = this.endpoint;
    if (this.#authorization) return this.#authorization.createLink();
    const reason = transport === 'stdio' ? 'runs as a command' : 'has an Authorization header';
    throw new RpcError('INVALID_PARAMS', `MCP server ${name} ${reason} and needs no authorization.`);
  }

  /** Retries at once instead of after the delay. */
  retryNow(): void {
    this.#wake();
  }

  /** The connection, after waiting for a pending attempt. Rejects with `INTERNAL_ERROR` if there is none. */
  async connection(): Promise<McpConnection> {
    if (!this.#connection) await this.#settled;
    if (this.#connection) return this.#connection;
    const { name } = this.endpoint;
    throw new RpcError('INTERNAL_ERROR', `MCP server ${name} is not connected.${this.#error === undefined ? '' : ` ${this.#error}`}`);
  }

  /** Resolves when the server is stopped and everything that belonged to it is removed. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('The MCP server was stopped.'));
    await this.#loop;
  }

  async #withConnection<T>(work: (connection: McpConnection) => Promise<T>): Promise<T> {
    const connection = await this.connection();
    this.#calls++;
    try {
      return await work(connection);
    } catch (error) {
      // Over HTTP nothing else reports that a server, or its session, is gone.
      if (this.#authorization?.checkRefusal(error) || connection.isLost(error)) void connection.close();
      throw error;
    } finally {
      this.#calls--;
    }
  }

  async #run(): Promise<void> {
    const { clock, fault } = this.#deps;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted;) {
      this.#readyAt = undefined;
      const retrySignal = new Promise<void>((resolve) => (this.#wake = resolve));
      // The earlier error still applies.
      this.#setState('starting', failures > 0 ? this.#error : undefined);
      let failure: unknown;
      try {
        await this.#connect();
      } catch (error) {
        failure = error;
      }
      await this.#offered.withdraw().catch(fault);
      if (signal.aborted) break;
      if (this.#authorization?.checkRefusal(failure)) {
        this.#setState('unauthorized', 'Authorization is required (OAuth).');
        failure = undefined;
      }
      if (failure !== undefined) this.#setState('failed', (failure instanceof RpcError ? failure : fault(failure)).message);
      if (failure === undefined) {
        failures = 0;
        await this.#pause(retrySignal, undefined);
      } else {
        // A slow start that fails does not count as a steady run.
        failures = this.#readyAt !== undefined && clock.monotonic() - this.#readyAt > STABLE_MS ? 1 : failures + 1;
        await this.#pause(retrySignal, Math.min(MIN_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS));
      }
    }
    this.#setState('off');
  }

  /** Waits until the server is woken or stopped, or for `ms`. */
  async #pause(retrySignal: Promise<void>, ms: number | undefined): Promise<void> {
    const paused = Promise.withResolvers<void>();
    const cancels = [ms === undefined ? (): void => {} : this.#deps.clock.after(ms, paused.resolve)];
    // A server that needs the bridge is retried when one attaches.
    if (this.endpoint.transport === 'stdio') cancels.push(this.#deps.bridge.watch(paused.resolve));
    this.#stop.signal.addEventListener('abort', () => paused.resolve(), { once: true });
    await Promise.race([retrySignal, paused.promise]);
    for (const cancel of cancels) cancel();
  }

  /** Resolves if a person has to be asked first. Rejects with the reason why there is no connection, or why it ended. */
  async #connect(): Promise<void> {
    const { bridge, boundApprovals, log, requests, version } = this.#deps;
    const { endpoint } = this;
    let root: string | undefined;
    let transport: Transport;
    this.#transport = undefined;
    if (endpoint.transport === 'stdio') {
      const check = await bridge.call(mcpPort, 'mcp.check', endpoint.command, { signal: this.#stop.signal });
      const { hash, approved, workingDir } = check;
      if (check.isApprovalBound === true && !boundApprovals.has(endpoint.name))
        log.write('warn', 'mcp', describeBoundApproval(endpoint.name));
      this.#isApprovalBound = check.isApprovalBound === true;
      if (this.#isApprovalBound) boundApprovals.add(endpoint.name);
      this.#hash = hash;
      if (!approved) return this.#setState('waiting', 'Its command is waiting for approval.');
      root = workingDir;
      this.#resolveDecision();
      transport = this.#transport = new BridgeTransport(bridge, endpoint.command);
    } else {
      await this.#authorization?.load();
      transport = createHttpTransport(endpoint, this.#deps.fetch, this.#authorization);
      this.#resolveDecision();
    }
    const getEndReason = (): string | undefined => this.#transport?.end && describeExit(this.#transport);
    const stopped = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, stopped.signal]);
    const refreshTools = coalesce(() => this.#refreshTools(signal));
    try {
      const connection = await McpConnection.open({
        ...{ endpoint, transport, version, signal, getEndReason, capabilities: CLIENT_CAPABILITIES },
        prepare: (client) => {
          requests.registerHandlers(client, { server: endpoint.name, root, signal });
          client.setNotificationHandler('notifications/tools/list_changed', () => {
            if (this.#connection) refreshTools().catch((error: unknown) => this.#deps.requests.logError(endpoint.name, error));
          });
        },
        explain: async (failure) => {
          // The client has closed the transport, but does not wait for the end.
          await this.#transport?.close();
          return endpoint.transport === 'stdio' ? toStartFailure(failure, endpoint, await this.logs()) : failure;
        },
      });
      this.#connection = connection;
      await refreshTools();
      this.#readyAt = this.#deps.clock.monotonic();
      this.#setState('ready');
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([connection.closed, aborted]);
      throw new RpcError(
        'INTERNAL_ERROR',
        `MCP server ${endpoint.name} disconnected: ${toClause(getEndReason() ?? 'the connection was lost')}.`,
      );
    } finally {
      stopped.abort(new Error('The connection is over'));
      await this.#connection?.close();
      this.#connection = undefined;
      this.#stderr = this.#transport?.end?.stderr ?? this.#stderr;
      await this.#transport?.close();
      this.#transport = undefined;
    }
  }

  async #refreshTools(signal: AbortSignal): Promise<void> {
    const connection = await this.connection();
    const { tools, isTruncated, problems } = await connection.tools();
    signal.throwIfAborted();
    await this.#offered.offer(tools, [...(isTruncated ? [`Only the first ${tools.length} tools are available`] : []), ...problems]);
    this.#deps.onChanged(this.endpoint.name);
    if (this.#state === 'ready') await new Promise<void>((resolve) => this.#deps.clock.after(LIST_INTERVAL_MS, resolve));
  }

  #setState(state: McpServerState['state'], error?: string): void {
    if (state !== 'starting') {
      this.#resolveSettled();
      this.#resolveDecision();
    } else if (this.#state !== 'starting') this.#settled = new Promise((resolve) => (this.#resolveSettled = resolve));
    this.#state = state;
    this.#error = error;
    this.#stateSince = this.#deps.clock.now();
    this.#deps.onChanged(this.endpoint.name);
  }
}

/** Explains a time-out at the start: the command may have to download the server first. */
function toStartFailure(error: Error, { name, timeoutMs }: McpEndpoint, stderr: string): Error {
  if (!(error instanceof RpcError) || !SdkError.isInstance(error.cause) || error.cause.code !== SdkErrorCode.RequestTimeout) return error;
  const last = stderr.trimEnd().split('\n').at(-1)?.slice(0, 500) ?? '';
  const message = `MCP server ${name} did not start within ${timeoutMs / 1000} s${last === '' ? '' : ` (${last})`}. If its command downloads a package, check the network.`;
  return new RpcError('INTERNAL_ERROR', message, {}, { cause: error });
}

/** Why a command has ended, with its last output. */
function describeExit({ end, invalidLine }: BridgeTransport): string | undefined {
  if (end?.reason === undefined) return undefined;
  const last = end.stderr.trimEnd().split('\n').at(-1)?.slice(0, 500) ?? '';
  const hint = invalidLine === undefined ? '' : `; invalid output: ${JSON.stringify(invalidLine)}`;
  return `${end.reason}${last === '' ? '' : ` (${last})`}${hint}`;
}

const describeBoundApproval = (name: string): string =>
  `The approval of MCP server ${name} is from an older version and did not cover its program. It now holds for the current program and script; a change needs approval again. Check the server if you do not trust them.`;
