import type { Clock } from '#shared/async/clock.ts';
import { foldersPort } from '#shared/ports/folders-port.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';

/** Milliseconds before a folder is watched again after its call has ended. */
const RETRY_MS = 30_000;

interface FolderWatchDeps {
  bridge: Bridge;
  clock: Clock;
  /** Called if files below a root may have changed. */
  onChange(root: string): void;
}

/** Watches folders on the bridge's disk, each with a call that stays open: one that the bridge refuses does not affect the others. */
export class FolderWatch {
  readonly #deps: FolderWatchDeps;
  /** Calls, or pauses after a failed one. */
  readonly #stops = new Map<string, () => void>();

  constructor(deps: FolderWatchDeps) {
    this.#deps = deps;
  }

  /** Watches these roots, and no others, as long as the bridge is attached. */
  follow(roots: readonly string[]): void {
    const wanted = new Set(this.#deps.bridge.provides(foldersPort) ? roots : []);
    for (const [root, stop] of this.#stops) {
      if (wanted.has(root)) continue;
      this.#stops.delete(root);
      stop();
    }
    for (const root of wanted) if (!this.#stops.has(root)) void this.#watch(root);
  }

  stop(): void {
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
  }

  async #watch(root: string): Promise<void> {
    const { bridge, clock, onChange } = this.#deps;
    const call = new AbortController();
    const stop = (): void => call.abort(new Error('The folder is not watched any more.'));
    this.#stops.set(root, stop);
    const on = { 'folders.changed': (change: { root: string }) => onChange(change.root) };
    // Listing the source reports why a folder cannot be read.
    await bridge.call(foldersPort, 'folders.watch', { roots: [root] }, { signal: call.signal, on }).catch(() => {});
    if (this.#stops.get(root) !== stop) return;
    const cancel = clock.after(RETRY_MS, () => {
      this.#stops.delete(root);
      if (bridge.provides(foldersPort)) void this.#watch(root);
    });
    this.#stops.set(root, cancel);
  }
}
