import { lazy } from '../lazy.ts';
import type { SyncPort } from '../sync.ts';
import type { Vault } from '../vault.ts';
import type { MergeCopyDeps } from './merge-copy.ts';

export interface KeepMergedDeps extends MergeCopyDeps {
  vault: MergeCopyDeps['vault'] & Pick<Vault, 'onforeign'>;
  sync: Pick<SyncPort, 'watch'> | undefined;
  /** Announces that a copy was removed. */
  changed(): void;
  fault(error: unknown): unknown;
}

const isOfFile = (id: string): boolean => id.startsWith('files/');

/**
 * Merges diverged versions of line-based files and removes identical copies, on the active gateway. Other conflicts are left to the user.
 */
export function keepMerged(deps: KeepMergedDeps): { settled(): Promise<void>; stop(): void } {
  const { vault, sync, serves, changed, fault } = deps;
  const load = lazy(async () => (await import('./merge-copy.ts')).mergeCopy);
  /** Conflicts left to the user; they are not examined again. */
  const left = new Set<string>();
  let stopped = false;
  let served = false;
  let again = false;
  let waiting = false;
  let looking: Promise<void> | undefined;
  const isOn = (): boolean => !stopped && serves();

  const failed = (error: unknown): void => {
    if (!stopped) fault(error);
  };

  const lookOnce = async (): Promise<void> => {
    served = serves();
    if (!isOn()) return;
    const ids = (await vault.conflicts.ids()).filter((id) => isOfFile(id) && !left.has(id));
    waiting = false;
    for (const id of ids) {
      const mergeCopy = await load();
      if (!isOn()) return;
      // A failed merge is retried with the next conflict, and at the next start.
      const outcome = await mergeCopy({ vault, serves: isOn }, id).catch(failed);
      if (outcome === 'merged') changed();
      if (outcome === 'left') left.add(id);
      waiting ||= outcome === 'waiting';
    }
  };
  const look = (): void => {
    again = true;
    looking ??= (async () => {
      while (again) {
        again = false;
        await lookOnce().catch(failed);
      }
      looking = undefined;
    })();
  };
  const stops = [
    vault.onforeign((changes) => {
      if (changes.some(({ store, key, deleted }) => (store === 'conflicts' && !deleted && isOfFile(key)) || (waiting && store === 'files')))
        look();
    }),
    // A host that becomes active examines existing conflicts.
    sync?.watch(() => void (served !== serves() && look())) ?? (() => {}),
  ];
  look();
  return {
    async settled() {
      while (looking) await looking;
    },
    stop() {
      stopped = true;
      for (const stop of stops) stop();
    },
  };
}
