import { lazy } from '#shared/async/lazy.ts';
import type { Vault } from '../storage/vault-interface.ts';
import type { DrawingStore, DrawingStoreDeps } from './drawing-store.ts';

/** Drawings, loaded on first use or when another host changes one. */
export interface LazyDrawings {
  load(): Promise<DrawingStore>;
  stop(): void;
}

export function createLazyDrawings(deps: DrawingStoreDeps & { vault: Pick<Vault, 'onRemoteChanges'> }): LazyDrawings {
  let opened: DrawingStore | undefined;
  const load = lazy(async () => (opened = new (await import('./drawing-store.ts')).DrawingStore(deps)));
  const stopListening = deps.vault.onRemoteChanges((changes) => {
    const theirs = changes.filter(({ store }) => store === 'drawings' || store === 'drawingChanges');
    if (theirs.length > 0)
      load()
        .then((drawings) => drawings.handleRemoteChanges(theirs))
        .catch(deps.fault);
  });
  return {
    load,
    stop() {
      stopListening();
      opened?.stop();
    },
  };
}
