import { lazy } from '../lazy.ts';
import type { Vault } from '../vault.ts';
import type { Drawings, DrawingsDeps } from './drawings.ts';

/** Drawings, loaded on first use or when another host changes one. */
export interface DrawingsLater {
  load(): Promise<Drawings>;
  stop(): void;
}

export function drawingsLater(deps: DrawingsDeps & { vault: Pick<Vault, 'onforeign'> }): DrawingsLater {
  let opened: Drawings | undefined;
  const load = lazy(async () => (opened = new (await import('./drawings.ts')).Drawings(deps)));
  const stopListening = deps.vault.onforeign((changes) => {
    const theirs = changes.filter(({ store }) => store === 'drawings' || store === 'drawingChanges');
    if (theirs.length > 0)
      load()
        .then((drawings) => drawings.foreign(theirs))
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
