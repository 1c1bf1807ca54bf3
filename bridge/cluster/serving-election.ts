import { abortableDelay } from '#shared/sync/nats/presence.ts';
import type { HostRegistry } from '../server/hosts.ts';
import type { ServingRevision, ServingState, ServingLease } from './serving-lease.ts';

/** Timing in milliseconds. */
export const SERVING_TIMES = {
  /** Interval at which the lease is read, and timeout for each request. */
  lookMs: 500,
  answerMs: 1500,
  renewMs: 1000,
  /** Time without renewal after which the lease is free, by the reader's clock. */
  ttlMs: 3000,
  /** Time for the holder's host to come back, and for a new holder's host to start, before another bridge may try. */
  backMs: 2000,
  startMs: 30_000,
  /** Delay before a bridge whose host did not start tries again, if there are others. */
  unfitMs: 15_000,
  /** Time for clients to move to another bridge's host before this bridge's own one is ended: normally, and before the process stops. */
  restMs: 10_000,
  moveMs: 1000,
  /** Time that a stopping bridge waits for another one to take over, and for its host. */
  takeMs: 2500,
  leaveMs: 10_000,
};

/** Number of failed checks after which the holder counts as gone: a single one may be a reconnect. */
const MAX_MISSES = 2;

export interface ServingElectionDeps {
  /** Name of this bridge. */
  bridge: string;
  hosts: HostRegistry;
  /** Starts and stops this bridge's host, or frees its reserved place. `hasPermit`: whether it may start. Null: only tabs may host here. */
  host: { readonly hasPermit: boolean; start(): Promise<void>; stop(): Promise<void> } | null;
  /** The lease while the cluster is reachable; otherwise null. */
  lease(): ServingLease | null;
  /** Whether this bridge has everything in the cluster. */
  isCaughtUp(): boolean;
  /** Whether that bridge's process or connection is certainly gone. */
  isGone(bridge: string): Promise<boolean>;
  /** Tells clients of a bridge's host that the bridge is gone. */
  dropBridge(bridge: string): void;
  /** Routes clients to that bridge's host. Resolves to whether it can be reached. */
  use(bridge: string | null): Promise<boolean>;
  /** Number of other bridges linked to this one. */
  others(): number;
  log(line: string): void;
  times?: typeof SERVING_TIMES;
}

/**
 * Determines which bridge's host serves the vault: the holder of a lease (docs/decisions/0069). The holder starts a managed Chromium, and
 * the others have a link to it. A bridge that can't reach the cluster continues alone with its own host until it can.
 */
export class ServingElection {
  readonly #deps: ServingElectionDeps;
  readonly #times: typeof SERVING_TIMES;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #lastSeen: ServingRevision & { at: number } = { serving: null, revision: -1, at: -Infinity };
  /** Time when the lease was last read, and last renewed here. */
  #checkedAt = performance.now();
  #renewedAt = -Infinity;
  #connectedAt: number | null = null;
  /** Number of successive checks that found the holder gone. */
  #misses = 0;
  #ineligibleUntil = -Infinity;
  /** Time since which this bridge has held the lease without a ready host, and whether it has had one since it took the lease. */
  #hostlessSince: number | null = null;
  #wasReady = false;
  #failedToStart = false;
  #unreachedSince: number | null = null;
  #leaving = false;
  #isHosting = false;
  #ending: AbortController | undefined;

  constructor(deps: ServingElectionDeps) {
    this.#deps = deps;
    this.#times = deps.times ?? SERVING_TIMES;
  }

  /** Last known value of the lease. */
  get state(): ServingState | null {
    return this.#lastSeen.serving;
  }

  start(): void {
    this.#running = this.#run();
  }

  /**
   * Asks another bridge to take over, before the process stops. Resolves when its host is active and clients have had a moment to move,
   * when there is no other bridge, or after some seconds.
   */
  async leave(): Promise<void> {
    const { bridge, hosts, others } = this.#deps;
    const { takeMs, leaveMs, moveMs, lookMs } = this.#times;
    const isMine = this.state?.bridge === bridge;
    this.#leaving = true;
    if (!isMine || others() === 0) return;
    const began = performance.now();
    const neverAborted = new AbortController().signal;
    while (performance.now() - began < leaveMs && !this.#stop.signal.aborted) {
      const { state } = this;
      if (state && state.bridge !== bridge && state.ready) {
        hosts.yields = true;
        // The others check at the same interval, so their clients find the next host too.
        return abortableDelay(moveMs + lookMs, neverAborted);
      }
      if (state?.bridge === bridge && performance.now() - began > takeMs) return;
      await abortableDelay(lookMs / 5, neverAborted);
    }
  }

  /** Stops and releases the lease. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    const { serving, revision } = this.#lastSeen;
    if (serving?.bridge === this.#deps.bridge)
      await this.#withTimeout(this.#deps.lease()?.write(revision, { bridge: null, ready: false, leaving: false, before: null })).catch(
        () => {},
      );
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let lastMessage = '';
    while (!signal.aborted) {
      try {
        await this.#check();
        lastMessage = '';
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (message !== lastMessage && !signal.aborted) this.#deps.log(`Couldn’t determine which bridge serves the vault: ${message}`);
        lastMessage = message;
        this.#handlePartition();
      }
      // After a failed check, the next one follows soon.
      await abortableDelay(this.#misses > 0 ? this.#times.lookMs / 4 : this.#times.lookMs, signal);
    }
  }

  async #check(): Promise<void> {
    const { bridge, lease: current } = this.#deps;
    const lease = current();
    if (!lease) {
      this.#connectedAt = null;
      return this.#handlePartition();
    }
    const latest = await this.#withTimeout(lease.read());
    if (!latest || this.#stop.signal.aborted) return;
    const now = performance.now();
    this.#connectedAt ??= now;
    this.#checkedAt = now;
    if (latest.revision !== this.#lastSeen.revision) {
      this.#lastSeen = { ...latest, at: now };
      this.#misses = 0;
    }
    const { serving } = latest;
    if (serving?.bridge === bridge) return this.#serveAsHolder(lease, serving, latest.revision);
    this.#hostlessSince = null;
    this.#wasReady = false;
    const isFree = await this.#isFree(serving);
    if (isFree && this.#canAcquire()) return this.#acquire(lease, latest);
    return this.#followHolder(isFree && !serving?.leaving ? null : serving);
  }

  /** While the cluster is unreachable: once the lease has expired, this bridge continues alone, like the others. */
  #handlePartition(): void {
    if (!this.#leaving && performance.now() - this.#checkedAt > this.#times.ttlMs) this.#startHost();
  }

  async #isFree(serving: ServingState | null): Promise<boolean> {
    if (serving === null || serving.bridge === null || serving.leaving) return true;
    const now = performance.now();
    const { ttlMs } = this.#times;
    if (now - this.#lastSeen.at > ttlMs) return true;
    // Just after the servers were unreachable, the holder may not have reconnected.
    if (this.#connectedAt === null || now - this.#connectedAt < ttlMs) return false;
    this.#misses = (await this.#deps.isGone(serving.bridge)) ? this.#misses + 1 : 0;
    if (this.#misses < MAX_MISSES) return false;
    this.#deps.dropBridge(serving.bridge);
    return true;
  }

  #canAcquire(): boolean {
    const { host, hosts, isCaughtUp } = this.#deps;
    return !this.#leaving && isCaughtUp() && performance.now() >= this.#ineligibleUntil && (host?.hasPermit === true || hosts.own !== null);
  }

  async #acquire(lease: ServingLease, { serving, revision }: ServingRevision): Promise<void> {
    const { bridge, hosts, log } = this.#deps;
    // A leaving bridge continues to serve until it is gone.
    const before = serving?.leaving ? serving.bridge : null;
    const state = { bridge, ready: hosts.own !== null, leaving: false, before };
    const written = await this.#withTimeout(lease.write(revision, state, { isNew: true }));
    if (!written) return;
    log('This bridge now serves the vault');
    this.#renewedAt = performance.now();
    this.#lastSeen = { serving: state, revision: written, at: this.#renewedAt };
    this.#startHost();
    if (before !== null) void this.#useRoute(before);
  }

  async #serveAsHolder(lease: ServingLease, state: ServingState, revision: number): Promise<void> {
    const { host, hosts, others, log } = this.#deps;
    const { backMs, startMs, unfitMs, renewMs } = this.#times;
    const now = performance.now();
    if (!this.#leaving) this.#startHost();
    const ready = hosts.own !== null;
    if (ready) {
      this.#hostlessSince = null;
      this.#wasReady = true;
    } else {
      this.#hostlessSince ??= now;
      hosts.expectHost(backMs);
      // Another vault's browser took the last place.
      const isFull = host !== null && !this.#isHosting && !host.hasPermit;
      const waited = now - this.#hostlessSince;
      // Other bridges dial this one only once its host is ready, so they are unknown before.
      const isLate = waited > startMs || (waited > backMs && (this.#wasReady || this.#failedToStart) && others() > 0);
      if (isFull || isLate) {
        log(
          isFull
            ? 'The limit of managed browsers is reached (--max-browsers)'
            : 'No host is ready here. Another bridge may serve the vault.',
        );
        this.#ineligibleUntil = now + unfitMs;
        this.#hostlessSince = null;
        await this.#withTimeout(lease.write(revision, { bridge: null, ready: false, leaving: false, before: null }));
        return;
      }
    }
    const before = ready ? null : state.before;
    const hasChanged = state.ready !== ready || state.leaving !== this.#leaving || state.before !== before;
    if (hasChanged || now - this.#renewedAt >= renewMs) {
      const next = { ...state, ready, before, leaving: this.#leaving };
      const written = await this.#withTimeout(lease.write(revision, next));
      if (written) {
        this.#renewedAt = now;
        this.#lastSeen = { serving: next, revision: written, at: now };
      }
    }
    // Not awaited: the lease must be renewed in time.
    void this.#useRoute(before);
  }

  async #followHolder(serving: ServingState | null): Promise<void> {
    const { bridge, hosts } = this.#deps;
    const now = performance.now();
    const { before = null, ready = false } = serving ?? {};
    const target = ready && serving ? serving.bridge : before;
    // This bridge is still to serve, since the new holder is not ready yet.
    if (target === bridge) return;
    if (target === null || !(await this.#useRoute(target))) {
      if (!hosts.holder) hosts.expectHost(this.#times.ttlMs);
      this.#unreachedSince ??= now;
      if (!this.#leaving && now - this.#unreachedSince > this.#times.startMs) this.#startHost();
      return;
    }
    this.#unreachedSince = null;
    if (ready) this.#stopHost();
  }

  #useRoute(bridge: string | null): Promise<boolean> {
    return this.#deps.use(bridge);
  }

  #startHost(): void {
    const { host, hosts, log } = this.#deps;
    this.#ending?.abort();
    this.#ending = undefined;
    hosts.yields = false;
    if (!host || this.#isHosting) return;
    this.#isHosting = host.hasPermit;
    this.#failedToStart = !host.hasPermit;
    if (!host.hasPermit) return;
    host.start().catch((error: unknown) => {
      this.#isHosting = false;
      this.#failedToStart = true;
      log(error instanceof Error ? error.message : String(error));
    });
  }

  /** Ends this bridge's host after clients have moved to another bridge's. If it does not run, frees its reserved place. */
  #stopHost(): void {
    const { host, hosts } = this.#deps;
    hosts.yields = true;
    if (!host || this.#ending || this.#leaving) return;
    if (!this.#isHosting) {
      void host.stop();
      return;
    }
    const ending = new AbortController();
    this.#ending = ending;
    void abortableDelay(this.#times.restMs, AbortSignal.any([ending.signal, this.#stop.signal])).then(async () => {
      if (ending.signal.aborted || this.#stop.signal.aborted) return;
      this.#ending = undefined;
      await host.stop();
      this.#isHosting = false;
    });
  }

  /** Adds a timeout, for a server that does not respond. */
  async #withTimeout<T>(work: Promise<T> | undefined): Promise<T | undefined> {
    if (!work) return undefined;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('the cluster doesn’t respond')), this.#times.answerMs);
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
