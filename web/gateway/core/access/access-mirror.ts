import { accessPort, type Grant } from '#shared/ports/access.ts';
import type { Bridge } from '../bridge.ts';
import type { SyncPort } from '../sync.ts';

export interface AccessMirrorDeps {
  bridge: Bridge;
  sync: SyncPort | undefined;
  /** Whom the vault lets in. */
  grants(): Promise<Grant[]>;
  fault(error: unknown): unknown;
}

/** Keeps the bridge's mirror of whom the vault lets in, while this host serves: when a bridge is attached, when this host begins to serve, and at every change. */
export class AccessMirror {
  readonly #deps: AccessMirrorDeps;
  readonly #stops: (() => void)[];
  /** What the bridge has, as JSON; undefined where that is not known. */
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

  /** Who is let in may have changed. Resolves when the bridge has what stands, or cannot be told now; never rejects. */
  changed(): Promise<void> {
    return (this.#line = this.#line.then(() => this.#tell()));
  }

  /** Takes a grant back at once, whichever host serves. Resolves when all that was open is closed, or no bridge is there; never rejects. */
  async revoke(principal: string): Promise<void> {
    await this.#ask((bridge) => bridge.call(accessPort, 'access.revoke', { principal }));
    await this.changed();
  }

  /** Who has something open at the bridge. */
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

  /** A bridge that has gone meanwhile has cut what was open, and is told when one is back. */
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
