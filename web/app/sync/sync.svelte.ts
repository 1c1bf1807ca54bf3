import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SyncConflict, SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { isOutdated } from './host-sync.ts';
import { type SyncStatus, getSyncStatus } from './sync-status.ts';

/** Minimum time between two reads of changes, in milliseconds. */
const REFRESH_MS = 500;

/** Sync of the vault between its devices: state of this browser, attached devices, and conflicts. */
class Sync {
  /** Status by the active gateway; null before the first answer. */
  status = $state.raw<MethodResult<'sync.status'> | null>(null);
  /** Null before they were loaded. */
  conflicts = $state.raw<SyncConflict[] | null>(null);
  problem = $state<Problem | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started = false;
  /** Number of open pages that show conflicts. */
  #watcherCount = 0;

  /** Sync state of this browser's own host. A worker that only relays to the host of another tab has none: then the status of that host counts. */
  readonly ownState: SyncState | null = $derived.by(() => {
    const hostState = gateway.host?.sync;
    if (hostState && hostState.state !== 'off') return hostState;
    return gateway.transport === 'browser' ? (this.status?.sync ?? hostState ?? null) : null;
  });
  // Before the first connection it is unknown whether there is a bridge.
  readonly summary: SyncStatus = $derived.by(() => {
    const syncStatus = getSyncStatus(gateway.bridge.isLinked || gateway.generation === 0, gateway.host, this.ownState);
    // A bridge that no longer accepts this browser stays away until it is paired again.
    const refusal = this.ownState?.state === 'away' && gateway.bridge.isRefused ? gateway.problem : null;
    return refusal === null ? syncStatus : { ...syncStatus, problem: refusal };
  });
  /** Whether this browser has no bridge; its vault may still be shared over a cluster. */
  readonly isAlone = $derived(!gateway.bridge.isLinked && ((this.ownState?.state ?? 'off') === 'off' || Boolean(gateway.host?.cluster)));
  readonly isOutdated = $derived(isOutdated(gateway.host));
  readonly conflictCount = $derived(this.conflicts?.length ?? this.status?.conflicts ?? 0);

  start(): void {
    if (this.#started) return;
    this.#started = true;
    gateway.on('sync.changed', () => this.refresh());
  }

  /** Loads conflicts too, while a page shows them. Returns a function that ends this. */
  watch(): () => void {
    this.#watcherCount++;
    void this.load();
    return () => void this.#watcherCount--;
  }

  /** Schedules a reload. */
  refresh(): void {
    this.#timer ??= setTimeout(() => void this.load(), REFRESH_MS);
  }

  async load(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.status = await gateway.call('sync.status', {});
      const hasOtherConflicts = this.conflicts !== null && this.conflicts.length !== this.status.conflicts;
      if (this.#watcherCount > 0 || hasOtherConflicts) this.conflicts = (await gateway.call('sync.conflicts', {})).conflicts;
      this.problem = null;
    } catch (error) {
      // A host of an older build does not support sync.
      const unknown = error instanceof RpcError && (error.code === 'METHOD_NOT_FOUND' || error.code === 'NOT_IMPLEMENTED');
      if (!unknown && !isConnectionLost(error)) this.problem = toProblem(error, m.shell_sync_doing_read());
    }
  }

  /** Settles a conflict. Rejects if the gateway refuses. */
  async resolve({ id }: SyncConflict, choice: 'keep' | 'restore'): Promise<void> {
    await gateway.call('sync.resolve', { id, choice });
    this.conflicts = (this.conflicts ?? []).filter((conflict) => conflict.id !== id);
    this.refresh();
  }
}

export const sync = new Sync();
