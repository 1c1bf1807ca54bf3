import type { Clock } from '#shared/async/clock.ts';
import type { Config } from '../config/gateway-config.ts';
import type { EventBus } from '../system/event-bus.ts';
import type { RemoteRuns } from '../agent/runs/remote-runs.ts';
import { createSessionChangedEvent } from '../storage/session-views.ts';
import type { SyncPort } from '../sync/sync-port.ts';
import { Throttle } from '#shared/async/throttle.ts';
import type { RemoteChange, Vault } from '../storage/vault-interface.ts';

/** Minimum interval between two notifications about the same session, or about the state of the sync. */
const NOTIFY_INTERVAL_MS = 100;

interface ReplicationListenerDeps {
  vault: Vault;
  hub: EventBus;
  clock: Clock;
  sync: SyncPort | undefined;
  config: Config;
  remoteRuns: RemoteRuns;
  fault(error: unknown): unknown;
}

/** Updates the gateway's in-memory state and its clients when other hosts change data. */
export class ReplicationListener {
  readonly #deps: ReplicationListenerDeps;
  readonly #sessions: Throttle<string>;
  readonly #sync: Throttle<'state'>;
  /** Sessions with deletions: the sessions themselves may be deleted. */
  readonly #possiblyDeleted = new Set<string>();
  readonly #cleanups: (() => void)[];

  constructor(deps: ReplicationListenerDeps) {
    const { vault, hub, clock, sync } = deps;
    this.#deps = deps;
    this.#sessions = new Throttle(clock, NOTIFY_INTERVAL_MS, (keys) => void this.#notifySessions(keys));
    this.#sync = new Throttle(clock, NOTIFY_INTERVAL_MS, () =>
      hub.emit({ event: 'sync.changed', payload: { state: sync?.state().state ?? 'off' } }, null),
    );
    this.#cleanups = [
      vault.onRemoteChanges((changes) => this.#handleRemoteChanges(changes)),
      sync?.watch(() => this.notifySyncChange()) ?? (() => {}),
      () => this.#sessions.stop(),
      () => this.#sync.stop(),
    ];
  }

  stop(): void {
    for (const stop of this.#cleanups) stop();
  }

  /** Called when the state of the sync or the set of conflicts has changed. */
  notifySyncChange(): void {
    this.#sync.add(['state']);
  }

  #handleRemoteChanges(changes: readonly RemoteChange[]): void {
    const { hub, config, remoteRuns, fault } = this.#deps;
    const stores = new Set(changes.map(({ store }) => store));
    if (stores.has('config') || stores.has('secrets')) config.reload().catch(fault);
    if (stores.has('runs')) void remoteRuns.refresh();
    for (const { store, key, deleted } of changes) {
      if (store === 'plans') hub.emit({ event: 'plan.changed', payload: { planId: key, ...(deleted ? { deleted } : {}) } }, null);
      if (store === 'pushDevices') hub.emit({ event: 'push.changed', payload: { id: key, ...(deleted ? { deleted } : {}) } }, null);
      if (store === 'projects') hub.emit({ event: 'project.changed', payload: { id: key, ...(deleted ? { deleted } : {}) } }, null);
    }
    if (stores.has('conflicts')) this.notifySyncChange();
    const changedSessions = changes.flatMap(({ store, key, sessionKey, deleted }) => {
      const session = sessionKey ?? (store === 'sessions' || store === 'heads' ? key : undefined);
      if (session !== undefined && deleted) this.#possiblyDeleted.add(session);
      return session ?? [];
    });
    this.#sessions.add(changedSessions);
  }

  async #notifySessions(keys: readonly string[]): Promise<void> {
    const { vault, hub, fault } = this.#deps;
    for (const key of keys) {
      let isDeleted = false;
      try {
        if (this.#possiblyDeleted.delete(key)) isDeleted = (await vault.sessions.get(key)) === undefined;
      } catch (error) {
        fault(error);
      }
      hub.emit(createSessionChangedEvent(key, isDeleted), key);
    }
  }
}
