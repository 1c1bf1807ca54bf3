import type { Remote } from 'comlink';
import { Backoff } from '#shared/async/backoff.ts';
import { ConnectionClosed, type FrameWatcher, type GatewayClient } from '#shared/client/client.ts';
import type { HostApi, HostStatus } from '#shared/ports/host-api.ts';
import type { EventName, EventPayload } from '#shared/rpc/events.ts';
import { CLOSE_CODES } from '#shared/rpc/limits.ts';
import type { MethodName, MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import { isDemo } from '../state/demo.ts';
import { m } from '../i18n/messages.ts';
import { runWhenIdle } from './when-idle.ts';
import { toasts } from '#kit/toasts.svelte.ts';
import { isDataTooNew, isUnfit } from '../sync/host-sync.ts';
import { connectBridge } from './bridge-connection.ts';
import { BridgeLink } from './bridge-link.svelte.ts';
import { getLinkCommand } from './link-command.ts';
import { EventListeners } from './event-listeners.ts';
import { ConnectionMigrator } from './connection-migrator.ts';
import { BrowserHost } from './browser-host.ts';
import { isReadMethod } from './read-methods.ts';
import { reloadOnce, isBuildStale } from './reload-once.ts';
import { type Transport, chooseTransport } from './transport-choice.ts';

const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
const BRIDGE_CHECK_MS = 5_000;
const CALL_TIMEOUT_MS = 10_000;
/** Time after which a handover to the next host is shown, in milliseconds. */
const HANDOVER_NOTICE_MS = 1_000;
/** Minimum time between two handovers, in milliseconds. */
const MIN_HANDOVER_INTERVAL_MS = 500;
/** Time after which the page's own worker starts even if the bridge has not answered. */
const WORKER_START_DELAY_MS = 1_500;
/** WebSocket close code that tells the bridge's clients that another host serves from now on. */
const RESTART_CLOSE_CODE = 1012;

/**
 * The gateway as pages use it: typed calls and events over the current route (browser-transport.ts). A linked page keeps its own worker attached to the
 * bridge, so that both routes lead to the same data. Listeners survive reconnects.
 */
class GatewayConnection {
  state = $state<'connecting' | 'online' | 'waiting'>('connecting');
  /** The transport in use: the bridge's `/ws`, or this browser's own worker. */
  transport = $state<Transport | null>(null);
  /** Time of the next attempt, milliseconds since 1970; null if none is scheduled. */
  retryAt = $state<number | null>(null);
  /** Current problem, as a sentence. */
  problem = $state<string | null>(null);
  /** Whether the connection failed because this browser's storage is full. */
  isStorageFull = $state(false);
  /** Incremented with every new connection: data read before may be stale. */
  generation = $state(0);
  /** This browser's own host; null before it is started. */
  host = $state.raw<HostStatus | null>(null);
  readonly bridge = new BridgeLink(() =>
    this.#client && this.transport === 'bridge' ? 'page' : this.host?.uplink === 'attached' ? 'worker' : null,
  );

  readonly #browserHost = new BrowserHost({
    onStatus: (status) => this.#onHostStatus(status),
    onAlive: (alive) => this.#onHostAlive(alive),
    onDied: (early) => this.#onHostDied(early),
  });
  readonly #migrator = new ConnectionMigrator({
    getClient: () => this.#client,
    getBetterTransport: () => this.#findBetterTransport(),
    open: (transport) =>
      transport === 'bridge' && this.bridge.credentials ? connectBridge(this.bridge.credentials.app) : this.#browserHost.connect(),
    adopt: (client, transport) => this.#adopt(client, transport),
  });
  #client: GatewayClient | null = null;
  readonly #listeners = new EventListeners();
  #waiters: (() => void)[] = [];
  readonly #backoff = new Backoff(MIN_RETRY_MS, MAX_RETRY_MS);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started = false;
  #attempt = 0;
  #connectedAt = -Infinity;

  /** Connects and reconnects after each interruption. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.#begin();
    addEventListener('pagehide', () => this.#browserHost.handlePageHide());
    addEventListener('pageshow', (event) => event.persisted && this.#browserHost.handlePageShow());
    addEventListener('hashchange', () => location.hash.includes('link=') && void this.#begin());
    addEventListener('online', () => this.state === 'waiting' && this.retryNow());
    setInterval(() => void this.#checkBridge(), BRIDGE_CHECK_MS);
  }

  /** Functions of this browser's own worker outside the protocol. */
  get worker(): Pick<Remote<HostApi>, 'newVaultWords' | 'share' | 'shareNoLonger'> {
    return this.#browserHost.start().api;
  }

  /** Ends this browser's own host, before its data is deleted and the page is left. */
  end(): Promise<void> {
    return this.#browserHost.end();
  }

  retryNow(): void {
    this.#backoff.reset();
    void this.#connect();
  }

  /**
   * Calls a method; waits briefly for a connection if there is none. A read that is interrupted because another host takes over is retried
   * there once. Rejects with `RpcError` or `ConnectionClosed`.
   */
  async call<M extends MethodName>(method: M, params: MethodParams<M>, options: { signal?: AbortSignal } = {}): Promise<MethodResult<M>> {
    const client = await this.#waitForClient();
    try {
      return await client.call(method, params, options);
    } catch (error) {
      if (!isHandover(error) || !isReadMethod(method)) throw error;
    }
    // The listener in `#adopt` runs first and starts the next connection.
    await client.closed;
    return (await this.#waitForClient()).call(method, params, options);
  }

  /** Calls a method by any name, without a retry, for the console. */
  async request(method: string, params: unknown): Promise<unknown> {
    return (await this.#waitForClient()).request(method, params);
  }

  /** Watches frames of this and all later connections. Returns a function that stops it. */
  watch(watcher: FrameWatcher): () => void {
    return this.#listeners.watch(watcher);
  }

  /** Listens to an event over this and all later connections. Returns a function that stops it. */
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): () => void {
    return this.#listeners.on(event, listener);
  }

  /** Loads the credentials and connects. If a link is opened in a running page, it stays connected, and its worker attaches to the bridge. */
  async #begin(): Promise<void> {
    // The demo never uses a bridge, even if one serves it.
    const refusal = isDemo ? null : await this.bridge.read();
    const { credentials } = this.bridge;
    if (credentials) {
      this.#browserHost.attach(credentials.host);
      setTimeout(() => this.#browserHost.start(), WORKER_START_DELAY_MS);
    }
    if (this.#client) this.#migrator.reconsider();
    else await this.#connect();
    if (!refusal || this.bridge.isLinked) return;
    this.problem = refusal;
    // Shown on the page too, as the person opened a link and may not look at the connection menu.
    toasts.show(refusal, { sticky: true });
  }

  #chooseTransport(): Transport | 'ask' {
    return chooseTransport({
      ...this.bridge.transportState,
      role: this.host?.sync?.role ?? 'none',
      unfit: isUnfit(this.host),
      current: this.transport,
    });
  }

  /** The route to switch to, if it is not the one in use. */
  #findBetterTransport(): Transport | null {
    const transport = this.#chooseTransport();
    return transport === 'ask' || transport === this.transport ? null : transport;
  }

  /** `quiet`: another host takes over, which is not an error to show. */
  async #connect({ quiet = false } = {}): Promise<void> {
    const attempt = ++this.#attempt;
    const isOutdated = (): boolean => attempt !== this.#attempt;
    clearTimeout(this.#timer);
    const show = (): void => void (!isOutdated() && !this.#client && (this.state = 'connecting'));
    if (quiet) this.#timer = setTimeout(show, HANDOVER_NOTICE_MS);
    else show();
    this.retryAt = null;
    try {
      // The last transport usually works: the bridge is probed first only if nothing is known.
      if (this.#chooseTransport() === 'ask') await this.bridge.probe();
      const bridgeClient = this.#chooseTransport() === 'browser' ? null : await this.bridge.connect({ inUse: this.transport === 'bridge' });
      if (!bridgeClient && isOutdated()) return;
      const client = bridgeClient ?? (await this.#browserHost.connect());
      if (isOutdated()) client.close();
      else this.#adopt(client, bridgeClient ? 'bridge' : 'browser');
    } catch (error) {
      if (!isOutdated()) this.#onFailure(error);
    }
  }

  #adopt(client: GatewayClient, transport: Transport): void {
    clearTimeout(this.#timer);
    this.#client = client;
    this.transport = transport;
    if (transport === 'bridge') this.bridge.onConnected();
    this.state = 'online';
    this.problem = this.bridge.isRefused ? m.shell_bridge_refused({ command: getLinkCommand() }) : null;
    this.#backoff.reset();
    this.#connectedAt = performance.now();
    this.#listeners.attach(client);
    this.generation++;
    for (const resume of this.#waiters.splice(0)) resume();
    void client.closed.then((end) => {
      if (this.#client !== client) return;
      this.#client = null;
      if (end.code === RESTART_CLOSE_CODE) this.#onHandover();
      else this.#onFailure(end);
    });
    if (this.bridge.isLinked) runWhenIdle(() => void this.#finishConnect(), WORKER_START_DELAY_MS);
    this.#migrator.reconsider();
  }

  /** Work that the first answer does not need: the page's own worker, and the host mode for the next visit. */
  async #finishConnect(): Promise<void> {
    this.#browserHost.start();
    await this.#checkBridge(true);
  }

  /** Another host serves from now on. */
  #onHandover(): void {
    const wait = this.#connectedAt + MIN_HANDOVER_INTERVAL_MS - performance.now();
    if (wait <= 0) return void this.#connect({ quiet: true });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect({ quiet: true }), wait);
  }

  #onFailure(error: unknown): void {
    this.problem = toErrorText(error);
    this.isStorageFull = error instanceof Error && error.name === 'StorageFullError';
    this.state = 'waiting';
    const retryMs = this.#backoff.next();
    this.retryAt = Date.now() + retryMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), retryMs);
  }

  /** Probes the bridge at an interval while neither the page nor its worker is connected to it. */
  async #checkBridge(once = false): Promise<void> {
    const { credentials } = this.bridge;
    if (!this.#client || !credentials) return;
    // Restarts a worker that died while the page moved between transports.
    if (this.host === null && !isBuildStale()) this.#browserHost.start();
    if (this.host?.state === 'failed' && !isDataTooNew(this.host)) this.#browserHost.attach(credentials.host);
    const shouldProbe = once || (this.transport === 'browser' && (this.host?.uplink !== 'attached' || this.host.sync?.role === 'replica'));
    if (!shouldProbe) return;
    await this.bridge.probe();
    this.#migrator.reconsider();
  }

  #onHostStatus(status: HostStatus): void {
    const hasDetached = this.host?.uplink === 'attached' && status.uplink !== 'attached';
    this.host = status;
    if (status.uplink === 'attached') this.bridge.state = 'reachable';
    if (status.state === 'superseded') reloadOnce();
    if (hasDetached) void this.#checkBridge();
    this.#migrator.reconsider();
  }

  #onHostAlive(alive: boolean): void {
    if (!alive && this.transport === 'browser') this.problem = m.shell_worker_not_answering();
    else if (alive && this.problem === m.shell_worker_not_answering()) this.problem = null;
  }

  #onHostDied(early: boolean): void {
    this.host = null;
    if (this.transport === 'bridge' && this.#client) {
      if (!isBuildStale()) setTimeout(() => this.#browserHost.start(), early ? BRIDGE_CHECK_MS : 0);
      return;
    }
    // The port to a dead worker reports nothing: pending calls have to be ended here.
    const client = this.#client;
    this.#client = null;
    client?.close();
    if (early) this.#onFailure(new Error(m.shell_worker_no_start()));
    else void this.#connect();
  }

  async #waitForClient(): Promise<GatewayClient> {
    if (!this.#client) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
        setTimeout(resolve, CALL_TIMEOUT_MS);
      });
    }
    if (!this.#client) throw new ConnectionClosed(1006, this.problem ?? m.shell_no_connection());
    return this.#client;
  }
}

function toErrorText(error: unknown): string {
  if (error instanceof ConnectionClosed && error.reason === '') return m.shell_connection_closed();
  return error instanceof Error ? error.message : String(error);
}

const isHandover = (error: unknown): boolean =>
  error instanceof ConnectionClosed && (error.code === RESTART_CLOSE_CODE || error.code === CLOSE_CODES.handingOver);

export const gateway = new GatewayConnection();
