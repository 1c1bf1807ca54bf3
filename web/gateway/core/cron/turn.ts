import type { Clock } from '../clock.ts';
import type { SyncPort } from '../sync.ts';

/** While the line to the bridge is cut nobody knows what the others do: after so long a host is on its own. */
const ALONE_MS = 60_000;
const LEASE_MS = 60_000;
/** In the place of a fence where there are no others. */
const ALONE = 0;
/** Somebody had the lease before: what they have stored comes in within this. */
const SETTLE_MS = 4_000;

/** Whether this host is the one that executes what is due (design.md, "One vault"). */
export class Turn {
  readonly #sync: SyncPort | undefined;
  readonly #clock: Clock;
  readonly #unwatch: () => void;
  /** The last that was heard of who serves. */
  #role: 'holder' | 'replica' | 'none' = 'none';
  /** Since when the line is cut, monotonic. */
  #cutAt: number | undefined;
  /** Leases that somebody else had before, and since when they are this host's. */
  readonly #inherited = new Map<string, number>();

  constructor(sync: SyncPort | undefined, clock: Clock) {
    this.#sync = sync;
    this.#clock = clock;
    this.#note();
    this.#unwatch = sync?.watch(() => this.#note()) ?? (() => {});
  }

  stop(): void {
    this.#unwatch();
  }

  /** Whether it is this host's to look for what is due. A replica that is cut off leaves it to the host that served: better no run than two. */
  serves(): boolean {
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
        return this.#role !== 'replica' && this.#cutAt !== undefined && this.#clock.monotonic() - this.#cutAt >= ALONE_MS;
      default:
        return false;
    }
  }

  /** Takes what is due for this host alone: its fence; null: not now, and perhaps never, as another host has it. `id`: the same on every host. */
  async take(id: string): Promise<number | null> {
    const sync = this.#sync;
    // Who cannot ask the other machines runs nothing.
    if (sync?.state().state !== 'synced') return this.serves() && !sync?.shared() ? ALONE : null;
    const fence = await sync.lease(`cron:${id}`, LEASE_MS);
    if (fence === null || fence === 1) return fence;
    const now = this.#clock.monotonic();
    for (const [old, since] of this.#inherited) if (now - since > LEASE_MS) this.#inherited.delete(old);
    const since = this.#inherited.get(id) ?? now;
    this.#inherited.set(id, since);
    return now - since >= SETTLE_MS ? fence : null;
  }

  /**
   * Whether it may begin, now that it is stored: with that record the other machines leave it alone, also when this one is cut off and its lease ends. False: they may not
   * hear of it in time, and better no run than two.
   */
  async mayBegin(id: string, fence: number): Promise<boolean> {
    if (fence === ALONE) return true;
    return (await this.#sync?.lease(`cron:${id}`, LEASE_MS, true)) === fence;
  }

  /** Whether nobody executes any more what `executor` began: for this host to end. */
  async inherits(id: string, executor: string | undefined, isOwnReplica: boolean): Promise<boolean> {
    const state = this.#sync?.state();
    // There are no others; or it was begun on this copy of the data, whose owner is this host now.
    if (!state || state.state === 'off' || (state.state === 'away' && isOwnReplica)) return true;
    return state.role === 'holder' && (await this.#sync?.claim(`cron:${id}`, executor ?? 'nobody')) != null;
  }

  /** Whether what another host has left under way, and nothing shows that it did it, is to be done once more: a machine that is only cut off may be at it. */
  mayRepeat(isOwnReplica: boolean): boolean {
    return isOwnReplica || !this.#sync || this.#sync.shared() === false;
  }

  #note(): void {
    const state = this.#sync?.state();
    if (state && state.role !== 'none') this.#role = state.role;
    if (state?.state === 'away') this.#cutAt ??= this.#clock.monotonic();
    else this.#cutAt = undefined;
  }
}
