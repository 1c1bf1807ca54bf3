import { EventEmitter } from 'node:events';
import type { Hello } from '#shared/link/hello.ts';
import type { Mux } from '#shared/link/mux.ts';
import type { AttachedHost } from '#shared/ports/journal-info.ts';
import { JOURNAL_KIND } from '#shared/ports/journal-streams.ts';
import { CLOSE_CODES } from '#shared/rpc/limits.ts';
import { type HostMode, computeHostRank } from './host-rank.ts';
import { TIMING } from './timing.ts';

/** `remote`: another bridge's active host (bridge/cluster). */
export type HostKind = 'tab' | 'headless' | 'remote';

/** A host connected to the uplink. */
export interface Host {
  /** Its multiplexer, after the greeting. */
  readonly mux: Mux;
  readonly kind: HostKind;
  readonly build: string;
  /** False for older builds, which have no journal. They are ready at once, and active only if there is no other host. */
  readonly syncs: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
  /** Identity that the host reported when it opened the journal. */
  readonly identity: { origin: string; name: string } | null;
  /**
   * `catching-up`: reading the journal. `leaving`: active only until another host can take over. `outdated`: the journal was written by a
   * newer build, so the host may only read.
   */
  readonly state: 'catching-up' | 'ready' | 'leaving' | 'outdated';
}
type HostEntry = { -readonly [K in keyof Host]: Host[K] };

interface HostsEvents {
  /** A host becomes active for the gateway's clients, and stops: disconnected with that code and reason, or replaced by a better one. */
  attach: [kind: HostKind];
  detach: [kind: HostKind, code: number, reason: string];
  /** A host becomes active, or stops being active while it stays connected. */
  role: [host: Host, holder: boolean];
  /** A client waits for a host, or would if one were expected. */
  wanted: [];
  /** Any host connects or disconnects. */
  join: [host: Host];
  leave: [host: Host, code: number, reason: string];
}

/** Close code of a host that is being replaced: clients wait for the next one. Not 1012, which a browser's socket may not send. */
export const HANDOVER_CLOSE = CLOSE_CODES.handingOver;
/** Close code of a host that did not respond. */
const GIVE_UP_CLOSE = 4011;
const MAX_HOSTS = 32;

/**
 * The attached hosts, and the active one: the holder. A host may be active once it has caught up with the journal. The best kind is chosen
 * (host-rank.ts) and stays until it is gone. Each host must answer a ping in code at every heartbeat, since a frozen worker's socket still
 * answers WebSocket pings. A host that does not answer is dropped.
 */
export class HostRegistry extends EventEmitter<HostsEvents> {
  readonly #timing: typeof TIMING;
  readonly #mode: HostMode;
  /** In the order of arrival, with the timers of their heartbeats. */
  readonly #hosts = new Map<HostEntry, NodeJS.Timeout>();
  readonly #byMux = new Map<Mux, HostEntry>();
  readonly #waiters = new Set<(mux: Mux | null) => void>();
  #holder: Host | null = null;
  #expectedUntil = 0;
  #expectation: NodeJS.Timeout | undefined;
  #closing = false;
  #isYielding = false;

  constructor(mode: HostMode = 'auto', timing: typeof TIMING = TIMING) {
    super();
    this.#mode = mode;
    this.#timing = timing;
  }

  /** The active host; null if there is none. */
  get holder(): Host | null {
    return this.#holder;
  }

  get current(): Mux | null {
    return this.#holder?.mux ?? null;
  }

  get kind(): HostKind | null {
    return this.#holder?.kind ?? null;
  }

  /** Number of callers waiting for a host. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Number of hosts attached to this bridge. */
  get size(): number {
    return [...this.#hosts.keys()].filter(({ kind }) => kind !== 'remote').length;
  }

  /** The active host among those attached to this bridge, or the best one that could be; null if none is ready. */
  get own(): Host | null {
    if (this.#holder && this.#holder.kind !== 'remote') return this.#holder;
    return this.#best(({ kind }) => kind !== 'remote') ?? null;
  }

  /** Reachable hosts of other bridges. */
  get remotes(): Host[] {
    return [...this.#hosts.keys()].filter(({ kind }) => kind === 'remote');
  }

  /** Whether other bridges' hosts are preferred to the managed Chromium. */
  set yields(value: boolean) {
    if (this.#isYielding === value) return;
    this.#isYielding = value;
    this.#choose();
  }

  has(mux: Mux): boolean {
    return this.#byMux.has(mux);
  }

  hasKind(kind: HostKind): boolean {
    return [...this.#hosts.keys()].some((host) => host.kind === kind);
  }

  find(origin: string): Host | undefined {
    return [...this.#hosts.keys()].find(({ identity }) => identity?.origin === origin);
  }

  /** Lists hosts for display. Older builds do not report an identity. */
  list(): AttachedHost[] {
    return [...this.#hosts.keys()].flatMap((host) => {
      const { kind, build, since, identity, state } = host;
      const { origin = '', name = '' } = identity ?? {};
      return kind === 'remote' ? [] : { origin, kind, build, name, since, ready: state === 'ready', holder: host === this.#holder };
    });
  }

  /** Announces that a host may become active within `ms` milliseconds: clients wait until then. 0: none is coming. */
  expectHost(ms: number): void {
    clearTimeout(this.#expectation);
    this.#expectedUntil = performance.now() + ms;
    if (ms <= 0) return this.#dropUnresponsive();
    this.#expectation = setTimeout(() => {
      this.#expectedUntil = 0;
      this.#dropUnresponsive();
    }, ms);
    this.#expectation.unref();
  }

  /** Returns the active host's multiplexer, waiting up to `ms` milliseconds. Null immediately if no host is expected or catching up. */
  wait(ms: number, signal?: AbortSignal): Promise<Mux | null> {
    // Listeners that can start a host may call `expectHost` at once.
    if (!this.#holder && !this.#closing && !signal?.aborted) this.emit('wanted');
    const left = this.#isExpected() ? ms : Math.min(ms, this.#expectedUntil - performance.now());
    if (this.#holder || this.#closing || left <= 0 || signal?.aborted) return Promise.resolve(this.current);
    return new Promise((resolve) => {
      const settle = (mux: Mux | null): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        this.#waiters.delete(settle);
        resolve(mux);
      };
      const giveUp = (): void => settle(null);
      const timer = setTimeout(giveUp, left);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(settle);
    });
  }

  /** Adds a host that has said hello. Returns null and closes its link if there are too many. */
  join(mux: Mux, kind: HostKind, { build, capabilities }: Pick<Hello, 'build' | 'capabilities'>): Host | null {
    if (this.#hosts.size >= MAX_HOSTS) {
      mux.close(CLOSE_CODES.noGateway, `${MAX_HOSTS} hosts are already attached`);
      return null;
    }
    const syncs = capabilities.includes(JOURNAL_KIND);
    const host: HostEntry = { mux, kind, build, syncs, since: Date.now(), identity: null, state: syncs ? 'catching-up' : 'ready' };
    this.#byMux.set(mux, host);
    this.#ping(host);
    this.emit('join', host);
    this.#choose();
    return host;
  }

  /** Sets a host's reported identity. Closes an earlier link of the same host, which must have been lost. */
  identify(host: Host, origin: string, name: string): void {
    const earlier = this.find(origin);
    this.#entry(host).identity = { origin, name };
    if (earlier && earlier !== host) earlier.mux.close(GIVE_UP_CLOSE, 'the same host attached again');
  }

  mark(host: Host, state: Host['state']): void {
    this.#entry(host).state = state;
    this.#choose();
  }

  /** Requires all hosts to read the new journal. The active one stays until another has caught up. */
  unready(): void {
    for (const host of this.#hosts.keys()) if (host.syncs) host.state = 'catching-up';
    this.#choose();
  }

  /** Removes a host. Runs before its streams are reset, so that they know the reason. Later calls for the same host do nothing. */
  leave(mux: Mux, code: number, reason: string): void {
    const host = this.#byMux.get(mux);
    if (!host) return;
    clearTimeout(this.#hosts.get(host));
    this.#hosts.delete(host);
    this.#byMux.delete(mux);
    const served = host === this.#holder;
    this.#choose(code, reason);
    // After another bridge's host was active, the next bridge is about to take over.
    if (served && !this.#holder && (code === HANDOVER_CLOSE || host.kind === 'remote')) this.expectHost(this.#timing.hostWaitMs);
    this.emit('leave', host, code, reason);
    this.#dropUnresponsive();
  }

  /** Dismisses all hosts and waiting callers. */
  close(code: number, reason: string): void {
    this.#closing = true;
    this.expectHost(0);
    for (const { mux } of [...this.#hosts.keys()]) mux.close(code, reason);
  }

  /** Changes to a host that has left have no effect. */
  #entry(host: Host): HostEntry {
    return this.#byMux.get(host.mux) ?? { ...host };
  }

  #computeRank(host: Host): number {
    return computeHostRank(host, this.#mode, this.#isYielding);
  }

  #best(condition: (host: Host) => boolean): HostEntry | undefined {
    return [...this.#hosts.keys()]
      .filter((host) => condition(host) && host.state === 'ready' && this.#computeRank(host) < Infinity)
      .sort((a, b) => this.#computeRank(a) - this.#computeRank(b))[0];
  }

  #isExpected(): boolean {
    return [...this.#hosts.keys()].some((host) => host.state === 'catching-up' && this.#computeRank(host) < Infinity);
  }

  /** `code` and `reason`: how the holder ended, if that is why. */
  #choose(code: number = HANDOVER_CLOSE, reason = 'a preferred host is ready'): void {
    const holder = this.#holder;
    const best = this.#best((host) => host !== holder);
    const isConnected = holder !== null && this.#byMux.has(holder.mux);
    if (!isConnected || holder.state === 'outdated') return this.#serve((!this.#closing && best) || null, isConnected, code, reason);
    if (!best) return;
    // A holder that reads a new journal stays if no other host is ready, so that its clients stay connected.
    if (holder.state !== 'ready' || this.#computeRank(best) < this.#computeRank(holder))
      return this.#serve(best, isConnected, code, reason);
    void this.#check(holder);
  }

  #serve(next: Host | null, lastIsThere: boolean, code: number, reason: string): void {
    const last = this.#holder;
    if (last === next) return;
    this.#holder = next;
    if (next) {
      clearTimeout(this.#expectation);
      this.#expectedUntil = 0;
    }
    if (last) this.emit('detach', last.kind, code, reason);
    if (last && lastIsThere) this.emit('role', last, false);
    if (!next) return;
    this.#resolveWaiters(next.mux);
    this.emit('role', next, true);
    this.emit('attach', next.kind);
  }

  /** Checks that the holder responds, since another host could be active as well. */
  async #check(holder: Host): Promise<void> {
    if (await respondsToPing(holder.mux, this.#timing.aliveMs)) return;
    if (this.#holder === holder) holder.mux.close(GIVE_UP_CLOSE, 'the host didn’t respond, and another one took over');
  }

  #ping(host: HostEntry): void {
    const timer = setTimeout(async () => {
      const alive = await respondsToPing(host.mux, this.#timing.heartbeatMs);
      if (!this.#hosts.has(host)) return;
      if (alive) this.#ping(host);
      else host.mux.close(GIVE_UP_CLOSE, 'the host stopped responding');
    }, this.#timing.heartbeatMs);
    timer.unref();
    this.#hosts.set(host, timer);
  }

  #dropUnresponsive(): void {
    if (this.#closing || (!this.#isExpected() && performance.now() >= this.#expectedUntil)) this.#resolveWaiters(null);
  }

  #resolveWaiters(mux: Mux | null): void {
    for (const settle of [...this.#waiters]) settle(mux);
  }
}

async function respondsToPing(mux: Mux, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(late.resolve, ms, false);
  const alive = await Promise.race([mux.ping().then(() => true), mux.closed.then(() => false), late.promise]);
  clearTimeout(timer);
  return alive;
}
