import { ConnectionClosed, type GatewayClient, RpcError } from '#shared/client/client.ts';
import type { EventName, EventPayload } from '#shared/rpc/events.ts';
import type { MethodName, MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import type { BridgeHealth } from '#shared/link/proof.ts';
import type { HostStatus } from '#shared/ports/host.ts';
import { connectBridge, probeBridge, redeemCode } from './bridge.ts';
import { type KeptLink, readLink } from './credentials.ts';
import { WorkerHost } from './worker.ts';

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 10_000;
/** Failed tries of a bridge that had answered, before this browser's own gateway takes over. */
const TRIES_BEFORE_FALLBACK = 3;
const BRIDGE_CHECK_MS = 5_000;
const CALL_WAIT_MS = 10_000;
const HEARTBEAT_EVERY_MS = 3_000;
const RELOADED_FOR = 'perch.reloaded-for';
/** Who hosted by the bridge's word, the last time it was asked. */
const MODE = 'perch.mode';

type Listener = (payload: never) => void;

/**
 * The gateway as pages see it: typed calls and events over whichever way there is. With a bridge that hosts elsewhere, its `/ws`; otherwise
 * this browser's own worker. Connections come and go; listeners stay.
 */
export class GatewayConnection {
  state = $state<'connecting' | 'online' | 'waiting'>('connecting');
  /** Who hosts the gateway that answers: one behind the bridge, or this browser's own worker. */
  via = $state<'bridge' | 'browser' | null>(null);
  /** This browser holds a credential for the bridge. */
  linked = $state(false);
  bridge = $state<'unknown' | 'reachable' | 'stopped'>('unknown');
  /** When the next try comes, milliseconds since 1970; null when none is planned. */
  retryAt = $state<number | null>(null);
  /** What is wrong, as a sentence. */
  problem = $state<string | null>(null);
  /** Up by one at every new connection: what was read before may be stale. */
  generation = $state(0);
  host = $state<HostStatus | null>(null);

  #client: GatewayClient | null = null;
  #worker: WorkerHost | null = null;
  #link: KeptLink | undefined;
  #listeners = new Map<EventName, Set<Listener>>();
  #waiters: (() => void)[] = [];
  #retryMs = FIRST_RETRY_MS;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The person chose this browser's own gateway while the bridge is there, or the bridge went away. */
  #preferBrowser = false;
  #started = false;
  #attempt = 0;

  /** Connects, and stays connected from then on. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.#begin();
    addEventListener('pagehide', () => this.#worker?.leaving());
    addEventListener('pageshow', (event) => event.persisted && this.#worker?.returning());
    addEventListener('hashchange', () => location.hash.includes('link=') && void this.#begin());
    addEventListener('online', () => this.state === 'waiting' && this.retryNow());
  }

  retryNow(): void {
    clearTimeout(this.#timer);
    this.#retryMs = FIRST_RETRY_MS;
    void this.#connect();
  }

  /** Talks to this browser's own gateway from now on. */
  useBrowser(): void {
    this.#preferBrowser = true;
    this.#reconnect();
  }

  /** Goes back to the gateway behind the bridge. */
  useBridge(): void {
    this.#preferBrowser = false;
    this.#failures = 0;
    this.#reconnect();
  }

  /** Calls a method; waits a little for a connection where there is none. Rejects with `RpcError` or `ConnectionClosed`. */
  async call<M extends MethodName>(method: M, params: MethodParams<M>, options: { signal?: AbortSignal } = {}): Promise<MethodResult<M>> {
    if (!this.#client) await this.#connected();
    if (!this.#client) throw new ConnectionClosed(1006, this.problem ?? 'There is no connection to the gateway');
    return this.#client.call(method, params, options);
  }

  /** Listens to an event over all connections to come; the result stops it. */
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): () => void {
    let set = this.#listeners.get(event);
    if (!set) {
      this.#listeners.set(event, (set = new Set()));
      if (this.#client) this.#forward(this.#client, event);
    }
    set.add(listener as Listener);
    return () => void set.delete(listener as Listener);
  }

  async #begin(): Promise<void> {
    const refused = await redeemCode();
    this.#link = await readLink().catch(() => undefined);
    this.linked = this.#link !== undefined;
    this.#preferBrowser = false;
    this.#reconnect();
    if (refused) this.problem = refused;
  }

  #reconnect(): void {
    clearTimeout(this.#timer);
    const old = this.#client;
    this.#client = null;
    old?.close();
    void this.#connect();
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempt;
    this.state = 'connecting';
    this.retryAt = null;
    const adopt = (client: GatewayClient, via: 'bridge' | 'browser'): void => {
      if (attempt === this.#attempt) this.#adopt(client, via);
      else client.close();
    };
    // Where the bridge hosted elsewhere the last time it does so now, as a rule: asking first would cost a round trip.
    if (this.#link && !this.#preferBrowser && hostedElsewhere()) {
      const client = await connectBridge(this.#link.app).catch(() => null);
      if (client) return adopt(client, 'bridge');
    }
    const health = this.#link ? await probeBridge() : null;
    if (health) localStorage.setItem(MODE, health.mode);
    this.bridge = health ? 'reachable' : this.#link ? 'stopped' : 'unknown';
    try {
      const viaBridge = this.#link !== undefined && !this.#preferBrowser && (health ? health.mode !== 'tab' : this.via === 'bridge');
      if (viaBridge && this.#link) adopt(await connectBridge(this.#link.app), 'bridge');
      else adopt(await this.#connectWorker(health), 'browser');
    } catch (error) {
      if (attempt === this.#attempt) this.#failed(error);
    }
  }

  /** This browser's own worker. With `--host tab` it serves the bridge too. */
  async #connectWorker(health: BridgeHealth | null): Promise<GatewayClient> {
    const worker = (this.#worker ??= this.#startWorker());
    if (health?.mode === 'tab' && this.#link) void worker.api.attach(this.#link.host);
    return worker.connect();
  }

  #startWorker(): WorkerHost {
    const worker = WorkerHost.start();
    worker.watch((status) => {
      this.host = status;
      if (status.state === 'superseded') reloadOnce();
    });
    const beat = setInterval(() => {
      void worker.alive().then((alive) => {
        if (!alive && this.#worker === worker && this.via === 'browser') this.problem = 'The gateway’s worker is not answering';
        else if (alive && this.problem === 'The gateway’s worker is not answering') this.problem = null;
      });
    }, HEARTBEAT_EVERY_MS);
    void worker.died.then(() => {
      clearInterval(beat);
      if (this.#worker !== worker) return;
      this.#worker = null;
      // The port to a dead worker stays silent: nothing else ends what waits on it.
      if (this.via === 'browser' || this.state !== 'online') this.#reconnect();
    });
    return worker;
  }

  #adopt(client: GatewayClient, via: 'bridge' | 'browser'): void {
    this.#client = client;
    this.via = via;
    if (via === 'bridge') this.bridge = 'reachable';
    this.state = 'online';
    this.problem = null;
    this.#failures = 0;
    this.#retryMs = FIRST_RETRY_MS;
    for (const event of this.#listeners.keys()) this.#forward(client, event);
    this.generation++;
    for (const resume of this.#waiters.splice(0)) resume();
    void client.closed.then((end) => {
      if (this.#client !== client) return;
      this.#client = null;
      this.#failed(end);
    });
    if (via === 'browser' && this.#link) this.#watchForBridge();
  }

  /** While this browser's own gateway answers, looks now and then whether the bridge is back. */
  #watchForBridge(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      if (this.via !== 'browser' || this.state !== 'online') return;
      const health = await probeBridge();
      this.bridge = health ? 'reachable' : 'stopped';
      if (health?.mode === 'tab' && this.#link && this.host?.uplink === 'off') void this.#worker?.api.attach(this.#link.host);
      this.#watchForBridge();
    }, BRIDGE_CHECK_MS);
  }

  #failed(error: unknown): void {
    this.#failures++;
    const refused = error instanceof RpcError && error.code === 'AUTH_REQUIRED';
    this.problem = refused
      ? 'The bridge no longer knows this browser. Run “npm run -s perch -- open” to link it again.'
      : error instanceof Error
        ? error.message
        : String(error);
    if (this.via === 'bridge' || this.bridge === 'reachable') {
      if (refused || this.#failures >= TRIES_BEFORE_FALLBACK) {
        this.#preferBrowser = true;
        this.#failures = 0;
        void this.#connect();
        return;
      }
    }
    this.state = 'waiting';
    this.retryAt = Date.now() + this.#retryMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
  }

  #forward<E extends EventName>(client: GatewayClient, event: E): void {
    client.on(event, (payload) => {
      for (const listener of this.#listeners.get(event) ?? []) listener(payload as never);
    });
  }

  #connected(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      setTimeout(resolve, CALL_WAIT_MS);
    });
  }
}

const hostedElsewhere = (): boolean => ['auto', 'headless'].includes(localStorage.getItem(MODE) ?? '');

/** A build mismatch reloads once, never in a circle. */
function reloadOnce(): void {
  if (sessionStorage.getItem(RELOADED_FOR) === __PERCH_BUILD__) return;
  sessionStorage.setItem(RELOADED_FOR, __PERCH_BUILD__);
  location.reload();
}

export const gateway = new GatewayConnection();
