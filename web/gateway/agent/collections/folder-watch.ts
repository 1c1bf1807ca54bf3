import type { Clock } from '#shared/async/clock.ts';
import { foldersPort } from '#shared/ports/folders-port.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';

/** Milliseconds before folders are watched again after the call has ended. */
const RETRY_MS = 10_000;

interface FolderWatchDeps {
  bridge: Bridge;
  clock: Clock;
  /** Called if files below a root may have changed. */
  onChange(root: string): void;
  fault(error: unknown): unknown;
}

/** Watches folders on the bridge's disk, with one call that stays open. */
export class FolderWatch {
  readonly #deps: FolderWatchDeps;
  #roots: readonly string[] = [];
  #call: AbortController | undefined;
  #cancelRetry = (): void => {};

  constructor(deps: FolderWatchDeps) {
    this.#deps = deps;
  }

  /** Watches these roots, as long as the bridge is attached. */
  follow(roots: readonly string[]): void {
    const sorted = [...new Set(roots)].sort();
    const isSame = sorted.length === this.#roots.length && sorted.every((root, index) => root === this.#roots[index]);
    const { bridge } = this.#deps;
    if (isSame && (this.#call !== undefined) === (sorted.length > 0 && bridge.provides(foldersPort))) return;
    this.#roots = sorted;
    this.stop();
    if (sorted.length > 0 && bridge.provides(foldersPort)) void this.#watch(sorted);
  }

  stop(): void {
    this.#cancelRetry();
    this.#call?.abort(new Error('The folders are not watched any more.'));
    this.#call = undefined;
  }

  async #watch(roots: readonly string[]): Promise<void> {
    const { bridge, clock, onChange, fault } = this.#deps;
    const call = new AbortController();
    this.#call = call;
    try {
      await bridge.call(
        foldersPort,
        'folders.watch',
        { roots: [...roots] },
        { signal: call.signal, on: { 'folders.changed': ({ root }) => onChange(root) } },
      );
    } catch (error) {
      if (!call.signal.aborted && bridge.provides(foldersPort)) fault(error);
    }
    if (this.#call !== call) return;
    this.#call = undefined;
    this.#cancelRetry = clock.after(RETRY_MS, () => this.follow(roots));
  }
}
