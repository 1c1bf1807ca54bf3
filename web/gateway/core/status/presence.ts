import type { AttachedHost } from '#shared/ports/journal.ts';
import type { PresenceEntry } from '#shared/rpc/methods/status.ts';
import type { ProviderEntry } from '#shared/rpc/records.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import type { SyncPort } from '../sync.ts';

/** Milliseconds without a request after which a client is idle. */
const IDLE_MS = 5 * 60_000;
/** Maximum number of listed clients, the newest ones. */
const MAX_CLIENTS = 100;

type State = PresenceEntry['state'];

/** A connected client. */
export interface PresentClient {
  id: string;
  /** Name and version that the client reports. */
  name: string | undefined;
  version: string | undefined;
  /** Whether it is a tab of the app. */
  app: boolean;
  /** Time of its last request, in milliseconds since 1970. */
  activeAt: number;
}

export interface PresenceDeps {
  clock: Clock;
  sync: SyncPort | undefined;
  bridge: Bridge;
  /** Oldest first. */
  clients(): readonly PresentClient[];
  /** Providers in their last known state. */
  providers(): readonly Pick<ProviderEntry, 'id' | 'state'>[];
  draining(): boolean;
}

/** State of the gateway's parts, and the connected clients. */
export class Presence {
  readonly #deps: PresenceDeps;
  /** Last known state of each part, and its start time. */
  readonly #known = new Map<string, { state: State; since: number }>();
  #hosts: readonly AttachedHost[] = [];
  #appSince: number | undefined;
  readonly #stops: (() => void)[];

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
    const look = (): void => {
      this.now();
    };
    this.#stops = [deps.bridge.watch(look), deps.sync?.watch(look) ?? look];
    look();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** Call this when a client connects or disconnects. */
  clientsChanged(): void {
    const { clock } = this.#deps;
    if (!this.#deps.clients().some(({ app }) => app)) this.#appSince = undefined;
    else this.#appSince ??= clock.monotonic();
  }

  /** Whether a tab of the app is connected, here or as a host elsewhere, and for how many seconds. */
  async app(): Promise<{ connected: boolean; uptime: number }> {
    const { clock } = this.#deps;
    const hosts = await this.#refresh();
    const tabs = hosts.filter(({ kind }) => kind === 'tab').map(({ since }) => clock.now() - since);
    const own = this.#appSince === undefined ? [] : [clock.monotonic() - this.#appSince];
    const longest = Math.max(0, ...tabs, ...own);
    return { connected: tabs.length + own.length > 0, uptime: Math.round(longest / 1000) };
  }

  /** All entries, with the hosts refreshed. */
  async entries(): Promise<PresenceEntry[]> {
    await this.#refresh();
    return this.now();
  }

  async #refresh(): Promise<readonly AttachedHost[]> {
    this.#hosts = (await this.#deps.sync?.info())?.hosts ?? [];
    return this.#hosts;
  }

  /** All entries, with the hosts in their last known state. */
  now(): PresenceEntry[] {
    const { sync, bridge, clients, providers, draining, clock } = this.#deps;
    const entries: PresenceEntry[] = [];
    const add = (component: string, state: State): void => {
      entries.push({ component, state, updated: this.#since(component, state) });
    };
    add('gateway', draining() ? 'away' : 'online');
    const standing = sync?.state().state ?? 'off';
    const attached = standing !== 'off' && standing !== 'away';
    add('bridge', attached || bridge.lends({ kind: 'system' }) ? 'online' : 'offline');
    add('journal', JOURNAL[standing]);
    // Without the journal, nothing is known about other hosts.
    const hosts = attached ? this.#hosts : [];
    for (const { origin, holder, ready, kind } of hosts) add(`host:${kind}:${origin}`, holder ? 'online' : ready ? 'idle' : 'away');
    for (const { id, state } of providers()) add(`provider:${id}`, PROVIDERS[state]);
    const here = new Set(entries.map(({ component }) => component));
    for (const component of this.#known.keys()) if (!here.has(component)) this.#known.delete(component);
    for (const { id, app, name, activeAt } of clients().slice(-MAX_CLIENTS)) {
      const component = `client:${app ? 'app' : (name ?? 'unnamed')}:${id}`;
      entries.push({ component, state: clock.now() - activeAt < IDLE_MS ? 'online' : 'idle', updated: activeAt });
    }
    return entries;
  }

  #since(component: string, state: State): number {
    const before = this.#known.get(component);
    if (before?.state === state) return before.since;
    const since = this.#deps.clock.now();
    this.#known.set(component, { state, since });
    return since;
  }
}

const JOURNAL = {
  off: 'offline',
  away: 'away',
  'catching-up': 'idle',
  synced: 'online',
  failing: 'offline',
  outdated: 'offline',
} as const satisfies Record<ReturnType<SyncPort['state']>['state'], State>;

const PROVIDERS = { ready: 'online', needs_key: 'away', unreachable: 'offline' } as const satisfies Record<ProviderEntry['state'], State>;
