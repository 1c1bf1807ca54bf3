import type { AttachedHost } from '#shared/ports/journal-info.ts';
import type { PresenceEntry } from '#shared/rpc/presence-entry.ts';
import type { ProviderEntry } from '#shared/rpc/record-schemas.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { SyncPort } from '../../sync/sync-port.ts';

/** Milliseconds without a request after which a client is idle. */
const IDLE_MS = 5 * 60_000;
/** Maximum number of listed clients, the newest ones. */
const MAX_CLIENTS = 100;

type PresenceState = PresenceEntry['state'];

/** A connected client. */
export interface ConnectedClient {
  id: string;
  /** Name and version that the client reports. */
  name: string | undefined;
  version: string | undefined;
  /** Whether it is a tab of the app. */
  app: boolean;
  /** Time of its last request, in milliseconds since 1970. */
  activeAt: number;
}

interface PresenceDeps {
  clock: Clock;
  sync: SyncPort | undefined;
  bridge: Bridge;
  /** Oldest first. */
  clients(): readonly ConnectedClient[];
  /** Providers in their last known state. */
  providers(): readonly Pick<ProviderEntry, 'id' | 'state'>[];
  draining(): boolean;
}

/** State of the gateway's parts, and the connected clients. */
export class Presence {
  readonly #deps: PresenceDeps;
  /** Last known state of each part, and its start time. */
  readonly #states = new Map<string, { state: PresenceState; since: number }>();
  #hosts: readonly AttachedHost[] = [];
  #appOpenSince: number | undefined;
  readonly #cleanups: (() => void)[];

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
    const update = (): void => {
      this.listCurrent();
    };
    this.#cleanups = [deps.bridge.watch(update), deps.sync?.watch(update) ?? update];
    update();
  }

  stop(): void {
    for (const stop of this.#cleanups) stop();
  }

  /** Call this when a client connects or disconnects. */
  handleClientsChange(): void {
    const { clock } = this.#deps;
    if (!this.#deps.clients().some(({ app }) => app)) this.#appOpenSince = undefined;
    else this.#appOpenSince ??= clock.monotonic();
  }

  /** Whether a tab of the app is connected, here or as a host elsewhere, and for how many seconds. */
  async getAppState(): Promise<{ connected: boolean; uptime: number }> {
    const { clock } = this.#deps;
    const hosts = await this.#refreshHosts();
    const tabs = hosts.filter(({ kind }) => kind === 'tab').map(({ since }) => clock.now() - since);
    const ownUptime = this.#appOpenSince === undefined ? [] : [clock.monotonic() - this.#appOpenSince];
    const longest = Math.max(0, ...tabs, ...ownUptime);
    return { connected: tabs.length + ownUptime.length > 0, uptime: Math.round(longest / 1000) };
  }

  /** All entries, with the hosts refreshed. */
  async list(): Promise<PresenceEntry[]> {
    await this.#refreshHosts();
    return this.listCurrent();
  }

  async #refreshHosts(): Promise<readonly AttachedHost[]> {
    this.#hosts = (await this.#deps.sync?.info())?.hosts ?? [];
    return this.#hosts;
  }

  /** All entries, with the hosts in their last known state. */
  listCurrent(): PresenceEntry[] {
    const { sync, bridge, clients, providers, draining, clock } = this.#deps;
    const entries: PresenceEntry[] = [];
    const add = (component: string, state: PresenceState): void => {
      entries.push({ component, state, updated: this.#getSince(component, state) });
    };
    add('gateway', draining() ? 'away' : 'online');
    const syncState = sync?.state().state ?? 'off';
    const isAttached = syncState !== 'off' && syncState !== 'away';
    add('bridge', isAttached || bridge.provides({ kind: 'system' }) ? 'online' : 'offline');
    add('journal', JOURNAL_STATES[syncState]);
    // Without the journal, nothing is known about other hosts.
    const hosts = isAttached ? this.#hosts : [];
    for (const { origin, holder, ready, kind } of hosts) add(`host:${kind}:${origin}`, holder ? 'online' : ready ? 'idle' : 'away');
    for (const { id, state } of providers()) add(`provider:${id}`, PROVIDER_STATES[state]);
    const present = new Set(entries.map(({ component }) => component));
    for (const component of this.#states.keys()) if (!present.has(component)) this.#states.delete(component);
    for (const { id, app, name, activeAt } of clients().slice(-MAX_CLIENTS)) {
      const component = `client:${app ? 'app' : (name ?? 'unnamed')}:${id}`;
      entries.push({ component, state: clock.now() - activeAt < IDLE_MS ? 'online' : 'idle', updated: activeAt });
    }
    return entries;
  }

  #getSince(component: string, state: PresenceState): number {
    const previous = this.#states.get(component);
    if (previous?.state === state) return previous.since;
    const since = this.#deps.clock.now();
    this.#states.set(component, { state, since });
    return since;
  }
}

const JOURNAL_STATES = {
  off: 'offline',
  away: 'away',
  'catching-up': 'idle',
  synced: 'online',
  failing: 'offline',
  outdated: 'offline',
} as const satisfies Record<ReturnType<SyncPort['state']>['state'], PresenceState>;

const PROVIDER_STATES = { ready: 'online', needs_key: 'away', unreachable: 'offline' } as const satisfies Record<
  ProviderEntry['state'],
  PresenceState
>;
