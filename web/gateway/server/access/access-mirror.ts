import { accessPort, type AccessGrant } from '#shared/ports/access-port.ts';
import type { Bridge } from '../../ports/bridge-interface.ts';
import type { SyncPort } from '../../sync/sync-port.ts';

interface AccessMirrorDeps {
  bridge: Bridge;
  sync: SyncPort | undefined;
  /** The grants in the vault. */
  grants(): Promise<AccessGrant[]>;
  fault(error: unknown): unknown;
}

/**
 * Keeps the bridge's mirror of the vault's grants up to date while this host is active: when a bridge attaches, when this host becomes
 * active, and at every change.
 */
export class AccessMirror {
  readonly #deps: AccessMirrorDeps;
  readonly #cleanups: (() => void)[];
  /** The bridge's version as JSON; undefined if unknown. */
  #mirrored: string | undefined;
  #wasActive = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(deps: AccessMirrorDeps) {
    this.#deps = deps;
    const { bridge, sync } = deps;
    this.#cleanups = [
      bridge.watch(() => {
        this.#mirrored = undefined;
        void this.refresh();
      }),
      sync?.watch(() => {
        const isStarting = this.#isActive && !this.#wasActive;
        this.#wasActive = this.#isActive;
        if (!isStarting) return;
        this.#mirrored = undefined;
        void this.refresh();
      }) ?? ((): void => {}),
    ];
    void this.refresh();
  }

  stop(): void {
    for (const stop of this.#cleanups) stop();
  }

  /** Called when grants may have changed. Resolves when the bridge has the current ones, or cannot be reached now; never rejects. */
  refresh(): Promise<void> {
    return (this.#queue = this.#queue.then(() => this.#update()));
  }

  /**
   * Revokes a grant at once, whichever host is active. Resolves when its connections are closed, or no bridge is attached; never rejects.
   */
  async revoke(principal: string): Promise<void> {
    await this.#callBridge((bridge) => bridge.call(accessPort, 'access.revoke', { principal }));
    await this.refresh();
  }

  /** Principals with open connections at the bridge. */
  async listConnected(): Promise<string[]> {
    return (await this.#callBridge((bridge) => bridge.call(accessPort, 'access.connected', {})))?.principals ?? [];
  }

  get #isActive(): boolean {
    const { sync } = this.#deps;
    return !sync || sync.state().role === 'holder';
  }

  async #update(): Promise<void> {
    if (!this.#isActive) return;
    await this.#callBridge(async (bridge) => {
      const grants = await this.#deps.grants();
      const text = JSON.stringify(grants);
      if (text === this.#mirrored) return;
      const { taken: isAccepted } = await bridge.call(accessPort, 'access.mirror', { grants });
      this.#mirrored = isAccepted ? text : undefined;
    });
  }

  /** A bridge that has detached in the meantime has closed its connections, and is updated when it attaches again. */
  async #callBridge<T>(call: (bridge: Bridge) => Promise<T>): Promise<T | undefined> {
    const { bridge, fault } = this.#deps;
    if (!bridge.provides(accessPort)) return undefined;
    try {
      return await call(bridge);
    } catch (error) {
      if (bridge.provides(accessPort)) fault(error);
      return undefined;
    }
  }
}
