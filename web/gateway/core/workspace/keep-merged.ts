import { lazy } from '../lazy.ts';
import type { SyncPort } from '../sync.ts';
import type { Vault } from '../vault.ts';
import type { MergeCopyDeps } from './merge-copy.ts';

export interface KeepMergedDeps extends MergeCopyDeps {
  vault: MergeCopyDeps['vault'] & Pick<Vault, 'onforeign'>;
  sync: Pick<SyncPort, 'watch'> | undefined;
  /** Tells that a copy is gone. */
  changed(): void;
  fault(error: unknown): unknown;
}

const isOfFile = (id: string): boolean => id.startsWith('files/');

/** Merges versions of files of lines that two hosts wrote apart, and forgets copies that say the same, on the host that serves; the others are left to the person. */
export function keepMerged(deps: KeepMergedDeps): { settled(): Promise<void>; stop(): void } {
  const { vault, sync, serves, changed, fault } = deps;
  const load = lazy(async () => (await import('./merge-copy.ts')).mergeCopy);
  /** Those that are for the person: they are not read again. */
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
      // It is looked at again when the next one comes, and at the next start.
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
    // The one that begins to serve looks at what there was before.
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
