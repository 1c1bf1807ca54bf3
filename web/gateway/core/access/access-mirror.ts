import { accessPort, type Grant } from '#shared/ports/access.ts';
import type { Bridge } from '../bridge.ts';
import type { SyncPort } from '../sync.ts';

export interface AccessMirrorDeps {
  bridge: Bridge;
  sync: SyncPort | undefined;
  /** The grants in the vault. */
  grants(): Promise<Grant[]>;
  fault(error: unknown): unknown;
}

/**
 * Keeps the bridge's mirror of the vault's grants up to date while this host is active: when a bridge attaches, when this host becomes
 * active, and at every change.
 */
export class AccessMirror {
  readonly #deps: AccessMirrorDeps;
  readonly #stops: (() => void)[];
  /** The bridge's version as JSON; undefined if unknown. */
  #told: string | undefined;
  #served = false;
  #line: Promise<void> = Promise.resolve();

  constructor(deps: AccessMirrorDeps) {
    this.#deps = deps;
    const { bridge, sync } = deps;
    this.#stops = [
      bridge.watch(() => {
        this.#told = undefined;
        void this.changed();
      }),
      sync?.watch(() => {
        const begins = this.#serves && !this.#served;
        this.#served = this.#serves;
        if (!begins) return;
        this.#told = undefined;
        void this.changed();
      }) ?? ((): void => {}),
    ];
    void this.changed();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** Called when grants may have changed. Resolves when the bridge has the current ones, or cannot be reached now; never rejects. */
  changed(): Promise<void> {
    return (this.#line = this.#line.then(() => this.#tell()));
  }

  /**
   * Revokes a grant at once, whichever host is active. Resolves when its connections are closed, or no bridge is attached; never rejects.
   */
  async revoke(principal: string): Promise<void> {
    await this.#ask((bridge) => bridge.call(accessPort, 'access.revoke', { principal }));
    await this.changed();
  }

  /** Principals with open connections at the bridge. */
  async connected(): Promise<string[]> {
    return (await this.#ask((bridge) => bridge.call(accessPort, 'access.connected', {})))?.principals ?? [];
  }

  get #serves(): boolean {
    const { sync } = this.#deps;
    return !sync || sync.state().role === 'holder';
  }

  async #tell(): Promise<void> {
    if (!this.#serves) return;
    await this.#ask(async (bridge) => {
      const grants = await this.#deps.grants();
      const text = JSON.stringify(grants);
      if (text === this.#told) return;
      const { taken } = await bridge.call(accessPort, 'access.mirror', { grants });
      this.#told = taken ? text : undefined;
    });
  }

  /** A bridge that has detached in the meantime has closed its connections, and is updated when it attaches again. */
  async #ask<T>(ask: (bridge: Bridge) => Promise<T>): Promise<T | undefined> {
    const { bridge, fault } = this.#deps;
    if (!bridge.lends(accessPort)) return undefined;
    try {
      return await ask(bridge);
    } catch (error) {
      if (bridge.lends(accessPort)) fault(error);
      return undefined;
    }
  }
}
