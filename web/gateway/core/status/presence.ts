import type { AttachedHost } from '#shared/ports/journal.ts';
import type { PresenceEntry } from '#shared/rpc/methods/status.ts';
import type { ProviderEntry } from '#shared/rpc/records.ts';
import type { Bridge } from '../bridge.ts';
import type { Clock } from '../clock.ts';
import type { SyncPort } from '../sync.ts';

/** A client that has asked for nothing for so long is idle. */
const IDLE_MS = 5 * 60_000;
/** Clients that are told of: the newest. */
const MAX_CLIENTS = 100;

type State = PresenceEntry['state'];

/** A connection, as presence sees it. */
export interface PresentClient {
  id: string;
  /** What it says of itself, and its version. */
  name: string | undefined;
  version: string | undefined;
  /** A tab of the app. */
  app: boolean;
  /** Milliseconds since 1970: when it last asked for something. */
  activeAt: number;
}

export interface PresenceDeps {
  clock: Clock;
  sync: SyncPort | undefined;
  bridge: Bridge;
  /** The oldest first. */
  clients(): readonly PresentClient[];
  /** Providers as they were when somebody last asked. */
  providers(): readonly Pick<ProviderEntry, 'id' | 'state'>[];
  draining(): boolean;
}

/** Which parts of the gateway are there, and who is connected. */
export class Presence {
  readonly #deps: PresenceDeps;
  /** How each part was when it was last looked at, and since when. */
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

  /** A client has come or gone. */
  clientsChanged(): void {
    const { clock } = this.#deps;
    if (!this.#deps.clients().some(({ app }) => app)) this.#appSince = undefined;
    else this.#appSince ??= clock.monotonic();
  }

  /** Whether a tab of the app is attached: connected here, or hosting elsewhere; and for how many seconds there has been one. */
  async app(): Promise<{ connected: boolean; uptime: number }> {
    const { clock } = this.#deps;
    const hosts = await this.#refresh();
    const tabs = hosts.filter(({ kind }) => kind === 'tab').map(({ since }) => clock.now() - since);
    const own = this.#appSince === undefined ? [] : [clock.monotonic() - this.#appSince];
    const longest = Math.max(0, ...tabs, ...own);
    return { connected: tabs.length + own.length > 0, uptime: Math.round(longest / 1000) };
  }

  /** All entries, the hosts asked for anew. */
  async entries(): Promise<PresenceEntry[]> {
    await this.#refresh();
    return this.now();
  }

  async #refresh(): Promise<readonly AttachedHost[]> {
    this.#hosts = (await this.#deps.sync?.info())?.hosts ?? [];
    return this.#hosts;
  }

  /** All entries at once; the hosts as they were when somebody last asked. */
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
    // A journal that is away tells nothing of the other hosts.
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
