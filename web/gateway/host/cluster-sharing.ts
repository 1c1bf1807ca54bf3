import { formatIssue } from '#shared/rpc/format-issue.ts';
import { toBase64url } from '#shared/base64.ts';
import type { ClusterStatus, HostStatus } from '#shared/ports/host-api.ts';
import { type BrowserTransport, browserTransport } from '#shared/sync/nats/browser-transport.ts';
import { Mutex } from '#shared/async/mutex.ts';
import type { Clock } from '#shared/async/clock.ts';
import { SharingSettingsStore } from '../nats/sharing-settings-store.ts';
import type { SharingSession } from '../nats/cluster-sharing-session.ts';
import type { StreamReplica } from '../nats/stream-records.ts';
import { importVaultKey } from '../storage/secret-sealing.ts';
import type { Replicator } from '../sync/replicator.ts';

/** In milliseconds. A linked page reports its bridge to the worker within the first; a restarted bridge is back within the second. */
const CONNECT_DELAYS_MS = { unlinked: 2_000, away: 10_000 };

interface ClusterSharingDeps {
  /** Name of the database that stores the setting. */
  name: string;
  replica: StreamReplica;
  replicator: Pick<Replicator, 'attach' | 'expectJournal' | 'forgetJournal'>;
  schema: number;
  clock: Clock;
  uplink: HostStatus['uplink'];
  onstatus(status: ClusterStatus | null): void;
  /** For tests. */
  delaysMs?: { unlinked: number; away: number };
}

type StoredSettings = NonNullable<Awaited<ReturnType<SharingSettingsStore['read']>>>;

/**
 * This browser's own connection to the cluster over which its vault is shared (docs/decisions/0067). It is used while no bridge is
 * attached, whose journal takes precedence. The client's code is loaded once there is a setting.
 */
export class ClusterSharing {
  readonly #deps: ClusterSharingDeps;
  readonly #store: SharingSettingsStore;
  #settings: StoredSettings | null = null;
  #uplink: HostStatus['uplink'];
  #sharing: SharingSession | undefined;
  #cancelTimer: (() => void) | undefined;
  readonly #mutex = new Mutex();
  #isClosed = false;

  constructor(deps: ClusterSharingDeps) {
    this.#deps = deps;
    this.#store = new SharingSettingsStore(deps.name);
    this.#uplink = deps.uplink;
    this.#mutex.run(() => this.#reload()).catch(() => {});
  }

  /** Called when the state of the connection to the bridge changes. */
  setUplinkState(state: HostStatus['uplink']): void {
    if (state === this.#uplink) return;
    this.#uplink = state;
    void this.#mutex.run(() => this.#updateConnection()).catch(() => {});
  }

  /** Creates a recovery phrase for a new vault; it is not stored here. */
  async createRecoveryPhrase(): Promise<string> {
    const { toRecoveryPhrase } = await import('#shared/sync/nats/recovery-phrase.ts');
    return toRecoveryPhrase(toBase64url(crypto.getRandomValues(new Uint8Array(32))));
  }

  /**
   * Shares the vault of this recovery phrase from now on; local data becomes part of it. If that is impossible, rejects with a message for
   * people, and changes nothing.
   */
  join(input: BrowserTransport, phrase: string): Promise<void> {
    return this.#mutex.run(async () => {
      const { data: transport, error } = browserTransport.safeParse(input);
      if (!transport) throw new Error(`${error.issues.map((issue) => formatIssue(issue, 'The settings')).join('; ')}.`);
      const [{ parseRecoveryPhrase }, { testCluster }] = await Promise.all([
        import('#shared/sync/nats/recovery-phrase.ts'),
        import('../nats/test-cluster.ts'),
      ]);
      const key = parseRecoveryPhrase(phrase);
      await testCluster(transport, key);
      await this.#store.write(key, transport, 'here');
      await this.#reload({ atOnce: true });
    });
  }

  /** Stops sharing; all local data stays. */
  leave(): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#store.remove();
      await this.#reload();
      if (this.#uplink === 'off') await this.#deps.replicator.forgetJournal();
    });
  }

  /** Takes the bridge's report: its vault's key, and the connection (null: none; undefined: not reported). */
  applyBridgeSettings(vaultKey: string, input: unknown): Promise<void> {
    return this.#mutex.run(async () => {
      const { data: transport } = browserTransport.safeParse(input);
      const { keyId } = await importVaultKey(vaultKey);
      const current = this.#settings;
      const isSame = current?.vaultKey.keyId === keyId;
      if (transport) {
        if (isSame && JSON.stringify(current?.way) === JSON.stringify(transport)) return;
        await this.#store.write(vaultKey, transport, 'bridge');
      } else if (current && (!isSame || (input === null && current.from === 'bridge'))) {
        // A vault other than the bridge's must not get the bridge's data.
        await this.#store.remove();
      } else return;
      await this.#reload();
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#mutex.run(async () => {
      await this.#disconnect();
      await this.#store.close();
    });
  }

  async #reload({ atOnce: isImmediate = false } = {}): Promise<void> {
    await this.#disconnect();
    this.#settings = await this.#store.read();
    await this.#updateConnection(isImmediate);
  }

  async #updateConnection(isImmediate = false): Promise<void> {
    const { delaysMs = CONNECT_DELAYS_MS } = this.#deps;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (!this.#settings || this.#uplink === 'attached' || this.#isClosed) {
      await this.#disconnect();
      this.#emitStatus('resting', null);
      // Preload the module: it is needed when its server is gone.
      if (this.#settings) void import('../nats/cluster-sharing-session.ts').catch(() => {});
      return;
    }
    if (this.#sharing) return;
    this.#emitStatus('connecting', null);
    if (isImmediate) return this.#connect();
    this.#connectAfter(this.#uplink === 'off' ? delaysMs.unlinked : delaysMs.away);
  }

  #connectAfter(ms: number): void {
    const { clock, delaysMs = CONNECT_DELAYS_MS } = this.#deps;
    const connect = async (): Promise<void> => {
      try {
        await this.#connect();
      } catch {
        this.#emitStatus('connecting', 'Couldn’t start syncing. Perch tries again.');
        this.#connectAfter(delaysMs.away);
      }
    };
    this.#cancelTimer = clock.after(ms, () => void this.#mutex.run(connect));
  }

  async #connect(): Promise<void> {
    const { replica, replicator, schema } = this.#deps;
    const settings = this.#settings;
    if (!settings || this.#sharing || this.#uplink === 'attached' || this.#isClosed) return;
    const { SharingSession } = await import('../nats/cluster-sharing-session.ts');
    await replicator.expectJournal();
    this.#sharing = new SharingSession({
      ...{ ...settings, replica, schema },
      onConnected: (line) => {
        if (this.#uplink === 'attached') line.close();
        else replicator.attach(line);
      },
      onstate: (state, problem) => this.#emitStatus(state, problem),
    });
  }

  async #disconnect(): Promise<void> {
    const sharing = this.#sharing;
    this.#sharing = undefined;
    await sharing?.close();
  }

  #emitStatus(state: ClusterStatus['state'], problem: string | null): void {
    const settings = this.#settings;
    this.#deps.onstatus(settings && { servers: settings.way.servers, from: settings.from, state, problem });
  }
}
