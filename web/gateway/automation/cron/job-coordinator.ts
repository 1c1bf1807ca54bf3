import type { Clock } from '#shared/async/clock.ts';
import type { SyncPort } from '../../sync/sync-port.ts';

/** Time without a connection to the bridge after which a host acts on its own, since nobody knows what the others do. */
const ISOLATION_MS = 60_000;
const LEASE_MS = 60_000;
/** Stands for a fence if there are no other hosts. */
const NO_FENCE = 0;
/** Time for the last writes of a lease's previous holder to arrive. */
const SETTLE_MS = 4_000;

/** Decides whether this host is the one that runs due jobs. */
export class JobCoordinator {
  readonly #sync: SyncPort | undefined;
  readonly #clock: Clock;
  readonly #unwatch: () => void;
  /** The last known role. */
  #role: 'holder' | 'replica' | 'none' = 'none';
  /** Monotonic time since which the connection is cut. */
  #disconnectedAt: number | undefined;
  /** Leases that another host had before, with the time since when this host holds them. */
  readonly #inherited = new Map<string, number>();

  constructor(sync: SyncPort | undefined, clock: Clock) {
    this.#sync = sync;
    this.#clock = clock;
    this.#updateRole();
    this.#unwatch = sync?.watch(() => this.#updateRole()) ?? (() => {});
  }

  stop(): void {
    this.#unwatch();
  }

  /**
   * Whether this host should look for due jobs. A disconnected replica leaves them to the host that was active: no run is better than two.
   */
  isActive(): boolean {
    const state = this.#sync?.state();
    switch (state?.state) {
      case undefined:
      case 'off':
        return true;
      case 'synced':
        return state.role !== 'replica';
      case 'failing':
        return state.role === 'holder';
      case 'away':
        return (
          this.#role !== 'replica' && this.#disconnectedAt !== undefined && this.#clock.monotonic() - this.#disconnectedAt >= ISOLATION_MS
        );
      default:
        return false;
    }
  }

  /**
   * Claims something due for this host: returns its fence, or null if another host has it, for now or for ever. `id`: the same on every
   * host.
   */
  async claim(id: string): Promise<number | null> {
    const sync = this.#sync;
    // A host that cannot ask the other machines runs nothing.
    if (sync?.state().state !== 'synced') return this.isActive() && !sync?.isShared() ? NO_FENCE : null;
    const fence = await sync.lease(`cron:${id}`, LEASE_MS);
    if (fence === null || fence === 1) return fence;
    const now = this.#clock.monotonic();
    for (const [old, since] of this.#inherited) if (now - since > LEASE_MS) this.#inherited.delete(old);
    const since = this.#inherited.get(id) ?? now;
    this.#inherited.set(id, since);
    return now - since >= SETTLE_MS ? fence : null;
  }

  /**
   * Whether the stored run may start: with its record the other machines leave it alone, also when this one is disconnected and its lease
   * expires. False if the record may not reach them in time: no run is better than two.
   */
  async canStart(id: string, fence: number): Promise<boolean> {
    if (fence === NO_FENCE) return true;
    return (await this.#sync?.lease(`cron:${id}`, LEASE_MS, true)) === fence;
  }

  /** Whether the run that `executor` started has no executor any more, so that this host has to end it. */
  async canRecover(id: string, executor: string | undefined, isOwnReplica: boolean): Promise<boolean> {
    const state = this.#sync?.state();
    // No other host exists, or the run was started on this replica, which this host owns now.
    if (!state || state.state === 'off' || (state.state === 'away' && isOwnReplica)) return true;
    return state.role === 'holder' && (await this.#sync?.claim(`cron:${id}`, executor ?? 'nobody')) != null;
  }

  /**
   * Whether a run that another host has started without leaving a trace may be repeated: a machine that is only disconnected may still be
   * running it.
   */
  canRepeat(isOwnReplica: boolean): boolean {
    return isOwnReplica || !this.#sync || this.#sync.isShared() === false;
  }

  #updateRole(): void {
    const state = this.#sync?.state();
    if (state && state.role !== 'none') this.#role = state.role;
    if (state?.state === 'away') this.#disconnectedAt ??= this.#clock.monotonic();
    else this.#disconnectedAt = undefined;
  }
}
