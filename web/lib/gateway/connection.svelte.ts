import type { Remote } from 'comlink';
import { ConnectionClosed, type FrameWatcher, type GatewayClient } from '#shared/client/client.ts';
import type { HostApi, HostStatus } from '#shared/ports/host.ts';
import type { EventName, EventPayload } from '#shared/rpc/events.ts';
import { CLOSE } from '#shared/rpc/limits.ts';
import type { MethodName, MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import { inDemo } from '#lib/demo.ts';
import { m } from '#lib/i18n/frame.ts';
import { whenIdle } from '#lib/idle.ts';
import { toasts } from '#lib/state/toasts.svelte.ts';
import { tooNew, unfit } from '#lib/sync/standing.ts';
import { connectBridge } from './bridge.ts';
import { BridgeLink } from './bridge-link.svelte.ts';
import { linkCommand } from './link-command.ts';
import { Listeners } from './listeners.ts';
import { Mover } from './mover.ts';
import { OwnHost } from './own-host.ts';
import { isRead } from './reads.ts';
import { reloadOnce, staleBuild } from './reload.ts';
import { type Way, wayOf } from './way.ts';

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;
const BRIDGE_CHECK_MS = 5_000;
const CALL_WAIT_MS = 10_000;
/** A hand-over to the next host is not shown unless it takes longer than this. */
const SHOW_AFTER_MS = 1_000;
/** And two of them in a row have this time between them. */
const BETWEEN_HANDOVERS_MS = 500;
/** Time after which the page's own worker starts even if the bridge has not answered. */
const START_WORKER_MS = 1_500;
/** WebSocket close code that tells the bridge's clients that another host serves from now on. */
const RESTARTING = 1012;

/**
 * The gateway as pages use it: typed calls and events over the current route (way.ts). A linked page keeps its own worker attached to the
 * bridge, so that both routes lead to the same data. Listeners survive reconnects.
 */
export class GatewayConnection {
  state = $state<'connecting' | 'online' | 'waiting'>('connecting');
  /** The way in use: the bridge's `/ws`, or this browser's own worker. */
  via = $state<Way | null>(null);
  /** When the next try comes, milliseconds since 1970; null when none is planned. */
  retryAt = $state<number | null>(null);
  /** Current problem, as a sentence. */
  problem = $state<string | null>(null);
  /** Whether the connection failed because this browser's storage is full. */
  full = $state(false);
  /** Incremented with every new connection: data read before may be stale. */
  generation = $state(0);
  /** This browser's own host; null before it is started. */
  host = $state.raw<HostStatus | null>(null);
  readonly bridge = new BridgeLink(() =>
    this.#client && this.via === 'bridge' ? 'page' : this.host?.uplink === 'attached' ? 'worker' : null,
  );

  readonly #own = new OwnHost({
    status: (status) => this.#onstatus(status),
    alive: (alive) => this.#onalive(alive),
    died: (early) => this.#ondied(early),
  });
  readonly #mover = new Mover({
    current: () => this.#client,
    wanted: () => this.#better(),
    open: (way) => (way === 'bridge' && this.bridge.credentials ? connectBridge(this.bridge.credentials.app) : this.#own.connect()),
    adopt: (client, way) => this.#adopt(client, way),
  });
  #client: GatewayClient | null = null;
  readonly #listeners = new Listeners();
  #waiters: (() => void)[] = [];
  #retryMs = FIRST_RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started = false;
  #attempt = 0;
  #connectedAt = -Infinity;

  /** Connects, and stays connected from then on. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.#begin();
    addEventListener('pagehide', () => this.#own.leaving());
    addEventListener('pageshow', (event) => event.persisted && this.#own.returning());
    addEventListener('hashchange', () => location.hash.includes('link=') && void this.#begin());
    addEventListener('online', () => this.state === 'waiting' && this.retryNow());
    setInterval(() => void this.#look(), BRIDGE_CHECK_MS);
  }

  /** Functions of this browser's own worker outside the protocol. */
  get worker(): Pick<Remote<HostApi>, 'newVaultWords' | 'share' | 'shareNoLonger'> {
    return this.#own.start().api;
  }

  /** Ends this browser's own host: its data is about to be deleted, and the page left. */
  end(): Promise<void> {
    return this.#own.end();
  }

  retryNow(): void {
    this.#retryMs = FIRST_RETRY_MS;
    void this.#connect();
  }

  /**
   * Calls a method; waits briefly for a connection if there is none. A read that is interrupted because another host takes over is retried
   * there once. Rejects with `RpcError` or `ConnectionClosed`.
   */
  async call<M extends MethodName>(method: M, params: MethodParams<M>, options: { signal?: AbortSignal } = {}): Promise<MethodResult<M>> {
    const client = await this.#connected();
    try {
      return await client.call(method, params, options);
    } catch (error) {
      if (!isHandover(error) || !isRead(method)) throw error;
    }
    // The listener of its end runs first, and starts the next connection.
    await client.closed;
    return (await this.#connected()).call(method, params, options);
  }

  /** Calls a method by any name, as it is written, and never twice: for the console. */
  async request(method: string, params: unknown): Promise<unknown> {
    return (await this.#connected()).request(method, params);
  }

  /** Sees the frames of this connection and all to come; the result stops it. */
  watch(watcher: FrameWatcher): () => void {
    return this.#listeners.watch(watcher);
  }

  /** Listens to an event over all connections to come; the result stops it. */
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): () => void {
    return this.#listeners.on(event, listener);
  }

  /** Also when a link is opened in a page that runs: it stays connected, and its worker goes to the bridge. */
  async #begin(): Promise<void> {
    // The demo knows no bridge, also where it is served by one.
    const refusal = inDemo ? null : await this.bridge.read();
    const { credentials } = this.bridge;
    if (credentials) {
      this.#own.attach(credentials.host);
      setTimeout(() => this.#own.start(), START_WORKER_MS);
    }
    if (this.#client) this.#mover.reconsider();
    else await this.#connect();
    if (!refusal || this.bridge.linked) return;
    this.problem = refusal;
    // A person who opened a link looks at the page, not at the connection menu.
    toasts.show(refusal, { sticky: true });
  }

  #way(): Way | 'ask' {
    return wayOf({
      ...this.bridge.situation,
      role: this.host?.sync?.role ?? 'none',
      unfit: unfit(this.host),
      current: this.via,
    });
  }

  /** The route to switch to, if it is not the one in use. */
  #better(): Way | null {
    const way = this.#way();
    return way === 'ask' || way === this.via ? null : way;
  }

  /** `quiet`: another host takes over, which is not an error to show. */
  async #connect({ quiet = false } = {}): Promise<void> {
    const attempt = ++this.#attempt;
    const outrun = (): boolean => attempt !== this.#attempt;
    clearTimeout(this.#timer);
    const show = (): void => void (!outrun() && !this.#client && (this.state = 'connecting'));
    if (quiet) this.#timer = setTimeout(show, SHOW_AFTER_MS);
    else show();
    this.retryAt = null;
    try {
      // The last transport usually works: the bridge is probed first only if nothing is known.
      if (this.#way() === 'ask') await this.bridge.probe();
      const bridged = this.#way() === 'browser' ? null : await this.bridge.connect({ inUse: this.via === 'bridge' });
      if (!bridged && outrun()) return;
      const client = bridged ?? (await this.#own.connect());
      if (outrun()) client.close();
      else this.#adopt(client, bridged ? 'bridge' : 'browser');
    } catch (error) {
      if (!outrun()) this.#failed(error);
    }
  }

  #adopt(client: GatewayClient, via: Way): void {
    clearTimeout(this.#timer);
    this.#client = client;
    this.via = via;
    if (via === 'bridge') this.bridge.connected();
    this.state = 'online';
    this.problem = this.bridge.refused ? m.shell_bridge_refused({ command: linkCommand() }) : null;
    this.#retryMs = FIRST_RETRY_MS;
    this.#connectedAt = performance.now();
    this.#listeners.follow(client);
    this.generation++;
    for (const resume of this.#waiters.splice(0)) resume();
    void client.closed.then((end) => {
      if (this.#client !== client) return;
      this.#client = null;
      if (end.code === RESTARTING) this.#goOn();
      else this.#failed(end);
    });
    if (this.bridge.linked) whenIdle(() => void this.#settle(), START_WORKER_MS);
    this.#mover.reconsider();
  }

  /** Work that the first answer does not need: the page's own worker, and the host mode for the next visit. */
  async #settle(): Promise<void> {
    this.#own.start();
    await this.#look(true);
  }

  /** Another host serves from now on. */
  #goOn(): void {
    const wait = this.#connectedAt + BETWEEN_HANDOVERS_MS - performance.now();
    if (wait <= 0) return void this.#connect({ quiet: true });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect({ quiet: true }), wait);
  }

  #failed(error: unknown): void {
    this.problem = wordsOf(error);
    this.full = error instanceof Error && error.name === 'StorageFull';
    this.state = 'waiting';
    this.retryAt = Date.now() + this.#retryMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
  }

  /** While the bridge does not tell of itself, because this page is not on it, it is asked now and then. */
  async #look(once = false): Promise<void> {
    const { credentials } = this.bridge;
    if (!this.#client || !credentials) return;
    // A worker that died while the page was between two ways is started again here.
    if (this.host === null && !staleBuild()) this.#own.start();
    if (this.host?.state === 'failed' && !tooNew(this.host)) this.#own.attach(credentials.host);
    const needed = once || (this.via === 'browser' && (this.host?.uplink !== 'attached' || this.host.sync?.role === 'replica'));
    if (!needed) return;
    await this.bridge.probe();
    this.#mover.reconsider();
  }

  #onstatus(status: HostStatus): void {
    const lost = this.host?.uplink === 'attached' && status.uplink !== 'attached';
    this.host = status;
    if (status.uplink === 'attached') this.bridge.state = 'reachable';
    if (status.state === 'superseded') reloadOnce();
    if (lost) void this.#look();
    this.#mover.reconsider();
  }

  #onalive(alive: boolean): void {
    if (!alive && this.via === 'browser') this.problem = m.shell_worker_not_answering();
    else if (alive && this.problem === m.shell_worker_not_answering()) this.problem = null;
  }

  #ondied(early: boolean): void {
    this.host = null;
    if (this.via === 'bridge' && this.#client) {
      if (!staleBuild()) setTimeout(() => this.#own.start(), early ? BRIDGE_CHECK_MS : 0);
      return;
    }
    // The port to a dead worker stays silent: nothing else ends what waits on it.
    const client = this.#client;
    this.#client = null;
    client?.close();
    if (early) this.#failed(new Error(m.shell_worker_no_start()));
    else void this.#connect();
  }

  async #connected(): Promise<GatewayClient> {
    if (!this.#client) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
        setTimeout(resolve, CALL_WAIT_MS);
      });
    }
    if (!this.#client) throw new ConnectionClosed(1006, this.problem ?? m.shell_no_connection());
    return this.#client;
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof ConnectionClosed && error.reason === '') return m.shell_connection_closed();
  return error instanceof Error ? error.message : String(error);
}

const isHandover = (error: unknown): boolean =>
  error instanceof ConnectionClosed && (error.code === RESTARTING || error.code === CLOSE.handingOver);

export const gateway = new GatewayConnection();
