import { EventEmitter } from 'node:events';
import type { Hello } from '#shared/link/hello.ts';
import type { Mux } from '#shared/link/mux.ts';
import { type AttachedHost, JOURNAL_PORT } from '#shared/ports/journal.ts';
import { CLOSE } from '#shared/rpc/limits.ts';
import { type HostMode, rankOf } from './host-rank.ts';
import { TIMING } from './timing.ts';

/** `remote`: another bridge, whose host serves (bridge/cluster). */
export type HostKind = 'tab' | 'headless' | 'remote';

/** A host on the uplink. */
export interface Host {
  /** Its multiplexer, greeted already. */
  readonly mux: Mux;
  readonly kind: HostKind;
  readonly build: string;
  /** False for older builds, which have no journal: they count as ready at once, and serve when nobody else can. */
  readonly syncs: boolean;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Who it says it is, once it has opened the journal. */
  readonly identity: { origin: string; name: string } | null;
  /**
   * `catching-up`: with the journal. `leaving`: it serves on only while nobody else can. `outdated`: the journal was written by a newer build, so that it may only
   * read what it has.
   */
  readonly state: 'catching-up' | 'ready' | 'leaving' | 'outdated';
}
type Entry = { -readonly [K in keyof Host]: Host[K] };

interface HostsEvents {
  /** A host begins to serve the gateway's clients, and ends: gone with that code and reason, or replaced by a better one. */
  attach: [kind: HostKind];
  detach: [kind: HostKind, code: number, reason: string];
  /** A host serves from now on, or does not any more though it is there. */
  role: [host: Host, holder: boolean];
  /** Somebody waits for a host, or would if one were coming. */
  wanted: [];
  /** Any host is there, and is gone. */
  join: [host: Host];
  leave: [host: Host, code: number, reason: string];
}

/** A host that leaves with this code is being replaced by another one: clients wait for it. Not 1012, which a browser's socket may not send. */
export const HANDING_OVER = CLOSE.handingOver;
/** The bridge has given a host up. */
const GIVEN_UP = 4011;
const MAX_HOSTS = 32;

/**
 * The attached hosts, and which of them serves: the holder (design.md, "One vault"). A host may hold once it has caught up with the journal; the best kind
 * is chosen (host-rank.ts), and stays until it is gone. Each host must answer a ping at every heartbeat, in code, for a frozen worker's socket still answers
 * WebSocket pings (facts.md); one that does not is dropped.
 */
export class Hosts extends EventEmitter<HostsEvents> {
  readonly #timing: typeof TIMING;
  readonly #mode: HostMode;
  /** In the order in which they came, each with its heartbeat's timer. */
  readonly #hosts = new Map<Entry, NodeJS.Timeout>();
  readonly #byMux = new Map<Mux, Entry>();
  readonly #waiters = new Set<(mux: Mux | null) => void>();
  #holder: Host | null = null;
  #expectedUntil = 0;
  #expectation: NodeJS.Timeout | undefined;
  #closing = false;
  #yields = false;

  constructor(mode: HostMode = 'auto', timing: typeof TIMING = TIMING) {
    super();
    this.#mode = mode;
    this.#timing = timing;
  }

  /** Who serves; null while nobody does. */
  get holder(): Host | null {
    return this.#holder;
  }

  get current(): Mux | null {
    return this.#holder?.mux ?? null;
  }

  get kind(): HostKind | null {
    return this.#holder?.kind ?? null;
  }

  /** Who waits for a host now. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** How many are attached here themselves. */
  get size(): number {
    return [...this.#hosts.keys()].filter(({ kind }) => kind !== 'remote').length;
  }

  /** Who serves, or could, of those that are attached here themselves; null where none is ready. */
  get own(): Host | null {
    if (this.#holder && this.#holder.kind !== 'remote') return this.#holder;
    return this.#best(({ kind }) => kind !== 'remote') ?? null;
  }

  /** The other bridges whose hosts can be reached. */
  get remotes(): Host[] {
    return [...this.#hosts.keys()].filter(({ kind }) => kind === 'remote');
  }

  /** Whether another bridge's host serves rather than the managed Chromium, where both could. */
  set yields(given: boolean) {
    if (this.#yields === given) return;
    this.#yields = given;
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

  /** For the person to see. Older builds do not say who they are. */
  list(): AttachedHost[] {
    return [...this.#hosts.keys()].flatMap((host) => {
      const { kind, build, since, identity, state } = host;
      const { origin = '', name = '' } = identity ?? {};
      return kind === 'remote' ? [] : { origin, kind, build, name, since, ready: state === 'ready', holder: host === this.#holder };
    });
  }

  /** A host may come to serve within `ms` milliseconds from now: clients wait so long. 0: it is not coming after all. */
  expectHost(ms: number): void {
    clearTimeout(this.#expectation);
    this.#expectedUntil = performance.now() + ms;
    if (ms <= 0) return this.#giveUp();
    this.#expectation = setTimeout(() => {
      this.#expectedUntil = 0;
      this.#giveUp();
    }, ms);
    this.#expectation.unref();
  }

  /** The holder, at once where there is one; null at once where none is expected or catching up, or after `ms` at the most. */
  wait(ms: number, signal?: AbortSignal): Promise<Mux | null> {
    // Who can start one may say at once that it is expected.
    if (!this.#holder && !this.#closing && !signal?.aborted) this.emit('wanted');
    const left = this.#coming() ? ms : Math.min(ms, this.#expectedUntil - performance.now());
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

  /** A host that has said hello. Null, and its link is closed: there are too many. */
  join(mux: Mux, kind: HostKind, { build, capabilities }: Pick<Hello, 'build' | 'capabilities'>): Host | null {
    if (this.#hosts.size >= MAX_HOSTS) {
      mux.close(CLOSE.noGateway, `${MAX_HOSTS} hosts are already attached`);
      return null;
    }
    const syncs = capabilities.includes(JOURNAL_PORT);
    const host: Entry = { mux, kind, build, syncs, since: Date.now(), identity: null, state: syncs ? 'catching-up' : 'ready' };
    this.#byMux.set(mux, host);
    this.#beat(host);
    this.emit('join', host);
    this.#choose();
    return host;
  }

  /** What it says of itself. An earlier link of the same host is closed: who dials again has lost it. */
  identify(host: Host, origin: string, name: string): void {
    const earlier = this.find(origin);
    this.#entry(host).identity = { origin, name };
    if (earlier && earlier !== host) earlier.mux.close(GIVEN_UP, 'the same host attached again');
  }

  mark(host: Host, state: Host['state']): void {
    this.#entry(host).state = state;
    this.#choose();
  }

  /** There is a new journal, which all must read. Who serves goes on until another one has. */
  unready(): void {
    for (const host of this.#hosts.keys()) if (host.syncs) host.state = 'catching-up';
    this.#choose();
  }

  /** The host is gone. Told before its streams are cut, so that they know why; later calls for the same host do nothing. */
  leave(mux: Mux, code: number, reason: string): void {
    const host = this.#byMux.get(mux);
    if (!host) return;
    clearTimeout(this.#hosts.get(host));
    this.#hosts.delete(host);
    this.#byMux.delete(mux);
    const served = host === this.#holder;
    this.#choose(code, reason);
    // Where another bridge's host served, the next bridge is about to.
    if (served && !this.#holder && (code === HANDING_OVER || host.kind === 'remote')) this.expectHost(this.#timing.hostWaitMs);
    this.emit('leave', host, code, reason);
    this.#giveUp();
  }

  /** Lets all hosts go, and all who wait for one. */
  close(code: number, reason: string): void {
    this.#closing = true;
    this.expectHost(0);
    for (const { mux } of [...this.#hosts.keys()]) mux.close(code, reason);
  }

  /** What belongs to a host that has left changes nothing any more. */
  #entry(host: Host): Entry {
    return this.#byMux.get(host.mux) ?? { ...host };
  }

  #rank(host: Host): number {
    return rankOf(host, this.#mode, this.#yields);
  }

  #best(of: (host: Host) => boolean): Entry | undefined {
    return [...this.#hosts.keys()]
      .filter((host) => of(host) && host.state === 'ready' && this.#rank(host) < Infinity)
      .sort((a, b) => this.#rank(a) - this.#rank(b))[0];
  }

  #coming(): boolean {
    return [...this.#hosts.keys()].some((host) => host.state === 'catching-up' && this.#rank(host) < Infinity);
  }

  /** Code and reason are of the holder's end, where that is why. */
  #choose(code: number = HANDING_OVER, reason = 'a preferred host is ready'): void {
    const holder = this.#holder;
    const best = this.#best((host) => host !== holder);
    const there = holder !== null && this.#byMux.has(holder.mux);
    if (!there || holder.state === 'outdated') return this.#serve((!this.#closing && best) || null, there, code, reason);
    if (!best) return;
    // One that reads a new journal goes on where nobody else is ready: its clients keep their lines.
    if (holder.state !== 'ready' || this.#rank(best) < this.#rank(holder)) return this.#serve(best, there, code, reason);
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
    this.#settle(next.mux);
    this.emit('role', next, true);
    this.emit('attach', next.kind);
  }

  /** Another host could serve as well: the holder must show that it lives. */
  async #check(holder: Host): Promise<void> {
    if (await answers(holder.mux, this.#timing.aliveMs)) return;
    if (this.#holder === holder) holder.mux.close(GIVEN_UP, 'the host didn’t respond, and another one took over');
  }

  #beat(host: Entry): void {
    const timer = setTimeout(async () => {
      const alive = await answers(host.mux, this.#timing.heartbeatMs);
      if (!this.#hosts.has(host)) return;
      if (alive) this.#beat(host);
      else host.mux.close(GIVEN_UP, 'the host stopped responding');
    }, this.#timing.heartbeatMs);
    timer.unref();
    this.#hosts.set(host, timer);
  }

  #giveUp(): void {
    if (this.#closing || (!this.#coming() && performance.now() >= this.#expectedUntil)) this.#settle(null);
  }

  #settle(mux: Mux | null): void {
    for (const settle of [...this.#waiters]) settle(mux);
  }
}

async function answers(mux: Mux, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(late.resolve, ms, false);
  const alive = await Promise.race([mux.ping().then(() => true), mux.closed.then(() => false), late.promise]);
  clearTimeout(timer);
  return alive;
}
