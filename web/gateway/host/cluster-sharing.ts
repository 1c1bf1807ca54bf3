import { placeOf } from '#shared/cut-short.ts';
import { toBase64url } from '#shared/base64.ts';
import type { ClusterStatus, HostStatus } from '#shared/ports/host.ts';
import { type BrowserWay, browserWay } from '#shared/sync/nats/way.ts';
import { Turns } from '#shared/turns.ts';
import type { Clock } from '../core/clock.ts';
import { KeptSharing } from '../nats/kept.ts';
import type { Sharing } from '../nats/sharing.ts';
import type { LocalCopy } from '../nats/stream-records.ts';
import { importVaultKey } from '../storage/sealing.ts';
import type { Replicator } from '../sync/replicator.ts';

/** In milliseconds. A linked page reports its bridge to the worker within the first; a restarted bridge is back within the second. */
const WAITS = { unlinked: 2_000, away: 10_000 };

export interface ClusterSharingDeps {
  /** Name of the database that stores the setting. */
  name: string;
  copy: LocalCopy;
  replicator: Pick<Replicator, 'attach' | 'expectJournal' | 'disown'>;
  schema: number;
  clock: Clock;
  uplink: HostStatus['uplink'];
  onstatus(status: ClusterStatus | null): void;
  /** For tests. */
  waits?: { unlinked: number; away: number };
}

type Setting = NonNullable<Awaited<ReturnType<KeptSharing['read']>>>;

/**
 * This browser's own connection to the cluster over which its vault is shared (docs/decisions/0067). It is used while no bridge is
 * attached, whose journal takes precedence. The client's code is loaded once there is a setting.
 */
export class ClusterSharing {
  readonly #deps: ClusterSharingDeps;
  readonly #kept: KeptSharing;
  #setting: Setting | null = null;
  #uplink: HostStatus['uplink'];
  #sharing: Sharing | undefined;
  #cancel: (() => void) | undefined;
  readonly #turns = new Turns();
  #isClosed = false;

  constructor(deps: ClusterSharingDeps) {
    this.#deps = deps;
    this.#kept = new KeptSharing(deps.name);
    this.#uplink = deps.uplink;
    this.#turns.run(() => this.#adopt()).catch(() => {});
  }

  /** Called when the state of the connection to the bridge changes. */
  uplink(state: HostStatus['uplink']): void {
    if (state === this.#uplink) return;
    this.#uplink = state;
    void this.#turns.run(() => this.#consider()).catch(() => {});
  }

  /** Creates a recovery phrase for a new vault; it is not stored here. */
  async newWords(): Promise<string> {
    const { phraseOf } = await import('#shared/sync/nats/recovery-phrase.ts');
    return phraseOf(toBase64url(crypto.getRandomValues(new Uint8Array(32))));
  }

  /**
   * Shares the vault of this recovery phrase from now on; local data becomes part of it. If that is impossible, rejects with a message for
   * people, and changes nothing.
   */
  join(given: BrowserWay, words: string): Promise<void> {
    return this.#turns.run(async () => {
      const { data: way, error } = browserWay.safeParse(given);
      if (!way)
        throw new Error(
          `${error.issues.map(({ path, message }) => `${path.length > 0 ? `\`${placeOf(path)}\`` : 'The settings'} ${message}`).join('; ')}.`,
        );
      const [{ keyOfPhrase }, { tryOut }] = await Promise.all([
        import('#shared/sync/nats/recovery-phrase.ts'),
        import('../nats/try-out.ts'),
      ]);
      const key = keyOfPhrase(words);
      await tryOut(way, key);
      await this.#kept.write(key, way, 'here');
      await this.#adopt({ atOnce: true });
    });
  }

  /** Stops sharing; all local data stays. */
  leave(): Promise<void> {
    return this.#turns.run(async () => {
      await this.#kept.forget();
      await this.#adopt();
      if (this.#uplink === 'off') await this.#deps.replicator.disown();
    });
  }

  /** Takes the bridge's report: its vault's key, and the connection (null: none; undefined: not reported). */
  hand(vaultKey: string, given: unknown): Promise<void> {
    return this.#turns.run(async () => {
      const { data: way } = browserWay.safeParse(given);
      const { keyId } = await importVaultKey(vaultKey);
      const now = this.#setting;
      const isSame = now?.vaultKey.keyId === keyId;
      if (way) {
        if (isSame && JSON.stringify(now?.way) === JSON.stringify(way)) return;
        await this.#kept.write(vaultKey, way, 'bridge');
      } else if (now && (!isSame || (given === null && now.from === 'bridge'))) {
        // A vault other than the bridge's must not get the bridge's data.
        await this.#kept.forget();
      } else return;
      await this.#adopt();
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#turns.run(async () => {
      await this.#stop();
      await this.#kept.close();
    });
  }

  async #adopt({ atOnce = false } = {}): Promise<void> {
    await this.#stop();
    this.#setting = await this.#kept.read();
    await this.#consider(atOnce);
  }

  async #consider(atOnce = false): Promise<void> {
    const { waits = WAITS } = this.#deps;
    this.#cancel?.();
    this.#cancel = undefined;
    if (!this.#setting || this.#uplink === 'attached' || this.#isClosed) {
      await this.#stop();
      this.#tell('resting', null);
      // Preload the module: it is needed when its server is gone.
      if (this.#setting) void import('../nats/sharing.ts').catch(() => {});
      return;
    }
    if (this.#sharing) return;
    this.#tell('connecting', null);
    if (atOnce) return this.#begin();
    this.#beginIn(this.#uplink === 'off' ? waits.unlinked : waits.away);
  }

  #beginIn(ms: number): void {
    const { clock, waits = WAITS } = this.#deps;
    const begin = async (): Promise<void> => {
      try {
        await this.#begin();
      } catch {
        this.#tell('connecting', 'Couldn’t start syncing. Perch tries again.');
        this.#beginIn(waits.away);
      }
    };
    this.#cancel = clock.after(ms, () => void this.#turns.run(begin));
  }

  async #begin(): Promise<void> {
    const { copy, replicator, schema } = this.#deps;
    const setting = this.#setting;
    if (!setting || this.#sharing || this.#uplink === 'attached' || this.#isClosed) return;
    const { Sharing } = await import('../nats/sharing.ts');
    await replicator.expectJournal();
    this.#sharing = new Sharing({
      ...{ ...setting, copy, schema },
      online: (line) => {
        if (this.#uplink === 'attached') line.close();
        else replicator.attach(line);
      },
      onstate: (state, problem) => this.#tell(state, problem),
    });
  }

  async #stop(): Promise<void> {
    const sharing = this.#sharing;
    this.#sharing = undefined;
    await sharing?.close();
  }

  #tell(state: ClusterStatus['state'], problem: string | null): void {
    const setting = this.#setting;
    this.#deps.onstatus(setting && { servers: setting.way.servers, from: setting.from, state, problem });
  }
}
