import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Hub } from './hub.ts';
import type { ForeignRuns } from './runs/foreign-runs.ts';
import { sessionChanged } from './sessions.ts';
import type { SyncPort } from './sync.ts';
import { Throttle } from './throttle.ts';
import type { ForeignChange, Vault } from './vault.ts';

/** Minimum interval between two notifications about the same session, or about the state of the sync. */
const TELL_MS = 100;

export interface FollowDeps {
  vault: Vault;
  hub: Hub;
  clock: Clock;
  sync: SyncPort | undefined;
  config: Config;
  foreign: ForeignRuns;
  fault(error: unknown): unknown;
}

/** Updates the gateway's in-memory state and its clients when other hosts change data. */
export class Follow {
  readonly #deps: FollowDeps;
  readonly #sessions: Throttle<string>;
  readonly #sync: Throttle<'state'>;
  /** Sessions with deletions: the sessions themselves may be deleted. */
  readonly #suspects = new Set<string>();
  readonly #stops: (() => void)[];

  constructor(deps: FollowDeps) {
    const { vault, hub, clock, sync } = deps;
    this.#deps = deps;
    this.#sessions = new Throttle(clock, TELL_MS, (keys) => void this.#tellSessions(keys));
    this.#sync = new Throttle(clock, TELL_MS, () =>
      hub.emit({ event: 'sync.changed', payload: { state: sync?.state().state ?? 'off' } }, null),
    );
    this.#stops = [
      vault.onforeign((changes) => this.#onforeign(changes)),
      sync?.watch(() => this.syncChanged()) ?? (() => {}),
      () => this.#sessions.stop(),
      () => this.#sync.stop(),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** Called when the state of the sync or the set of conflicts has changed. */
  syncChanged(): void {
    this.#sync.add(['state']);
  }

  #onforeign(changes: readonly ForeignChange[]): void {
    const { hub, config, foreign, fault } = this.#deps;
    const stores = new Set(changes.map(({ store }) => store));
    if (stores.has('config') || stores.has('secrets')) config.reload().catch(fault);
    if (stores.has('runs')) void foreign.refresh();
    for (const { store, key, deleted } of changes)
      if (store === 'plans') hub.emit({ event: 'plan.changed', payload: { planId: key, ...(deleted ? { deleted } : {}) } }, null);
    if (stores.has('conflicts')) this.syncChanged();
    const touched = changes.flatMap(({ store, key, sessionKey, deleted }) => {
      const session = sessionKey ?? (store === 'sessions' || store === 'heads' ? key : undefined);
      if (session !== undefined && deleted) this.#suspects.add(session);
      return session ?? [];
    });
    this.#sessions.add(touched);
  }

  async #tellSessions(keys: readonly string[]): Promise<void> {
    const { vault, hub, fault } = this.#deps;
    for (const key of keys) {
      let gone = false;
      try {
        if (this.#suspects.delete(key)) gone = (await vault.sessions.get(key)) === undefined;
      } catch (error) {
        fault(error);
      }
      hub.emit(sessionChanged(key, gone), key);
    }
  }
}
