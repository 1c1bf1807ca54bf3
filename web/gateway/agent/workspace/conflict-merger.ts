import { lazy } from '#shared/async/lazy.ts';
import type { SyncPort } from '../../sync/sync-port.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { MergeCopyDeps } from './merge-copy.ts';

interface ConflictMergerDeps extends MergeCopyDeps {
  vault: MergeCopyDeps['vault'] & Pick<Vault, 'onRemoteChanges'>;
  sync: Pick<SyncPort, 'watch'> | undefined;
  /** Announces that a copy was removed. */
  onMerged(): void;
  fault(error: unknown): unknown;
}

const isFileConflict = (id: string): boolean => id.startsWith('files/');

/**
 * Merges diverged versions of line-based files and removes identical copies, on the active gateway. Other conflicts are left to the user.
 */
export function createConflictMerger(deps: ConflictMergerDeps): { whenSettled(): Promise<void>; stop(): void } {
  const { vault, sync, isActive, onMerged, fault } = deps;
  const load = lazy(async () => (await import('./merge-copy.ts')).mergeCopy);
  /** Conflicts left to the user; they are not examined again. */
  const skipped = new Set<string>();
  let stopped = false;
  let wasActive = false;
  let isPending = false;
  let isWaiting = false;
  let pending: Promise<void> | undefined;
  const isOn = (): boolean => !stopped && isActive();

  const reportFailure = (error: unknown): void => {
    if (!stopped) fault(error);
  };

  const mergeOnce = async (): Promise<void> => {
    wasActive = isActive();
    if (!isOn()) return;
    const ids = (await vault.conflicts.ids()).filter((id) => isFileConflict(id) && !skipped.has(id));
    isWaiting = false;
    for (const id of ids) {
      const mergeCopy = await load();
      if (!isOn()) return;
      // A failed merge is retried with the next conflict, and at the next start.
      const outcome = await mergeCopy({ vault, isActive: isOn }, id).catch(reportFailure);
      if (outcome === 'merged') onMerged();
      if (outcome === 'left') skipped.add(id);
      isWaiting ||= outcome === 'waiting';
    }
  };
  const refresh = (): void => {
    isPending = true;
    pending ??= (async () => {
      while (isPending) {
        isPending = false;
        await mergeOnce().catch(reportFailure);
      }
      pending = undefined;
    })();
  };
  const stops = [
    vault.onRemoteChanges((changes) => {
      if (
        changes.some(
          ({ store, key, deleted }) => (store === 'conflicts' && !deleted && isFileConflict(key)) || (isWaiting && store === 'files'),
        )
      )
        refresh();
    }),
    // A host that becomes active examines existing conflicts.
    sync?.watch(() => void (wasActive !== isActive() && refresh())) ?? (() => {}),
  ];
  refresh();
  return {
    async whenSettled() {
      while (pending) await pending;
    },
    stop() {
      stopped = true;
      for (const stop of stops) stop();
    },
  };
}
