import type { GatewayClient } from '#shared/client/client.ts';
import { CLOSE } from '#shared/rpc/limits.ts';
import type { Way } from './way.ts';

/** A page moves at most this often; after a vain try it waits twice as long, and so on. Milliseconds. */
const EVERY_MS = 2_000;
const LAST_MS = 60_000;

export interface MoverDeps {
  /** The connection in use; null if there is none, which the mover does not repair. */
  current(): GatewayClient | null;
  /** The better route, if there is one now. */
  wanted(): Way | null;
  open(way: Way): Promise<GatewayClient>;
  /** Puts the new connection in the place of the one in use. */
  adopt(client: GatewayClient, way: Way): void;
}

/**
 * Moves a connected page to a better route without interrupting calls: when no call is in progress the next connection is opened, and only
 * then the current one is closed. A failed attempt changes nothing.
 */
export class Mover {
  readonly #deps: MoverDeps;
  #moving = false;
  #movedAt = -Infinity;
  #waitMs = EVERY_MS;

  constructor(deps: MoverDeps) {
    this.#deps = deps;
  }

  /** Something has changed that the choice of way depends on. */
  reconsider(): void {
    const { current, wanted } = this.#deps;
    if (this.#moving || !current() || !wanted()) return;
    this.#moving = true;
    void this.#move()
      .catch(() => {})
      .finally(() => {
        this.#moving = false;
        this.reconsider();
      });
  }

  async #move(): Promise<void> {
    const { current, wanted, open, adopt } = this.#deps;
    const wait = this.#movedAt + this.#waitMs - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const from = current();
    if (!from) return;
    await answered(from);
    const way = wanted();
    if (!way || current() !== from) return;
    this.#movedAt = performance.now();
    this.#waitMs = Math.min(LAST_MS, 2 * this.#waitMs);
    const client = await open(way);
    await answered(from);
    if (current() !== from || wanted() !== way) return client.close();
    this.#waitMs = EVERY_MS;
    adopt(client, way);
    from.close(CLOSE.handingOver, 'another host serves now');
  }
}

/** Resolves when no call is under way; what follows runs before another one can begin. */
async function answered(client: GatewayClient): Promise<void> {
  while (client.pending > 0) await client.idle();
}
