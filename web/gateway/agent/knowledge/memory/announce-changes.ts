import type { Vault } from '../../../storage/vault-interface.ts';
import type { EventBus } from '../../../system/event-bus.ts';

/** Paths of files whose changes affect memory. */
const MEMORY_FILE = /^(?:MEMORY\.md$|memory\/)/;

/** Announces every change of a memory to clients, whoever makes it. Returns a function that ends this. */
export function announceMemoryChanges({ vault, hub }: { vault: Pick<Vault, 'files' | 'onRemoteChanges'>; hub: EventBus }): () => void {
  const announce = (workspace: string, path: string): void => {
    if (MEMORY_FILE.test(path)) hub.emit({ event: 'memory.changed', payload: { workspace } }, null);
  };
  const stops = [
    vault.files.watch(({ workspace, path }) => announce(workspace, path)),
    vault.onRemoteChanges((changes) => {
      for (const { store, key } of changes) if (store === 'files') announce(...splitFileKey(key));
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Splits `<workspace>/<path>`. */
function splitFileKey(key: string): [workspace: string, path: string] {
  const index = key.indexOf('/');
  return [key.slice(0, index), key.slice(index + 1)];
}
