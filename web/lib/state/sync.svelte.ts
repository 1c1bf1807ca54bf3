import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { SyncConflict, SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { isConnectionLost, type Problem, toProblem } from '#lib/problems.ts';
import { gateway } from '#lib/gateway/gateway-connection.svelte.ts';
import { m } from '#lib/i18n/frame-messages.ts';
import { isOutdated } from '#lib/sync/host-sync.ts';
import { type SyncStatus, getSyncStatus } from '#lib/sync/sync-status.ts';

/** Minimum time between two reads of changes, in milliseconds. */
const REFRESH_MS = 500;

/** The vault on its devices: how this browser stands with the disk, what is there, who is attached, and what was changed in two places. */
class Sync {
  /** As the gateway that answers tells it; null before the first answer. */
  status = $state.raw<MethodResult<'sync.status'> | null>(null);
  /** Null before they were read. */
  conflicts = $state.raw<SyncConflict[] | null>(null);
  problem = $state<Problem | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #started = false;
  /** Pages that show all of it. */
  #watcherCount = 0;

  /** How this browser's own host stands. A worker that only passes its pages on to another tab's knows nothing: then that one's word counts. */
  readonly ownState: SyncState | null = $derived.by(() => {
    const own = gateway.host?.sync;
    if (own && own.state !== 'off') return own;
    return gateway.transport === 'browser' ? (this.status?.sync ?? own ?? null) : null;
  });
  // Before the first connection nobody knows whether there is a bridge.
  readonly summary: SyncStatus = $derived.by(() => {
    const standing = getSyncStatus(gateway.bridge.isLinked || gateway.generation === 0, gateway.host, this.ownState);
    // A bridge that knows this browser no longer is away for it, and does not come back by itself.
    const refused = this.ownState?.state === 'away' && gateway.bridge.isRefused ? gateway.problem : null;
    return refused === null ? standing : { ...standing, problem: refused };
  });
  /** No bridge was ever there; the vault may be shared over a cluster. */
  readonly isAlone = $derived(!gateway.bridge.isLinked && ((this.ownState?.state ?? 'off') === 'off' || Boolean(gateway.host?.cluster)));
  readonly isOutdated = $derived(isOutdated(gateway.host));
  readonly conflictCount = $derived(this.conflicts?.length ?? this.status?.conflicts ?? 0);

  start(): void {
    if (this.#started) return;
    this.#started = true;
    gateway.on('sync.changed', () => this.refresh());
  }

  /** While a page shows all of it, conflicts are read too. The result ends that. */
  watch(): () => void {
    this.#watcherCount++;
    void this.load();
    return () => void this.#watcherCount--;
  }

  /** Reads it anew in a moment. */
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
      // A host of an older build knows nothing of all this.
      const unknown = error instanceof RpcError && (error.code === 'METHOD_NOT_FOUND' || error.code === 'NOT_IMPLEMENTED');
      if (!unknown && !isConnectionLost(error)) this.problem = toProblem(error, m.shell_sync_doing_read());
    }
  }

  /** Settles a conflict. Rejects where the gateway refuses. */
  async resolve({ id }: SyncConflict, choice: 'keep' | 'restore'): Promise<void> {
    await gateway.call('sync.resolve', { id, choice });
    this.conflicts = (this.conflicts ?? []).filter((conflict) => conflict.id !== id);
    this.refresh();
  }
}

export const sync = new Sync();
