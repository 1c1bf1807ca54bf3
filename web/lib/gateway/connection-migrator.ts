import type { GatewayClient } from '#shared/client/client.ts';
import { CLOSE_CODES } from '#shared/rpc/limits.ts';
import type { Transport } from './transport-choice.ts';

/** A page moves at most this often; after a vain try it waits twice as long, and so on. Milliseconds. */
const MIN_INTERVAL_MS = 2_000;
const MAX_WAIT_MS = 60_000;

export interface ConnectionMigratorDeps {
  /** The connection in use; null if there is none, which the mover does not repair. */
  getClient(): GatewayClient | null;
  /** The better route, if there is one now. */
  getBetterTransport(): Transport | null;
  open(way: Transport): Promise<GatewayClient>;
  /** Puts the new connection in the place of the one in use. */
  adopt(client: GatewayClient, way: Transport): void;
}

/**
 * Moves a connected page to a better route without interrupting calls: when no call is in progress the next connection is opened, and only
 * then the current one is closed. A failed attempt changes nothing.
 */
export class ConnectionMigrator {
  readonly #deps: ConnectionMigratorDeps;
  #isMoving = false;
  #movedAt = -Infinity;
  #waitMs = MIN_INTERVAL_MS;

  constructor(deps: ConnectionMigratorDeps) {
    this.#deps = deps;
  }

  /** Something has changed that the choice of way depends on. */
  reconsider(): void {
    const { getClient, getBetterTransport } = this.#deps;
    if (this.#isMoving || !getClient() || !getBetterTransport()) return;
    this.#isMoving = true;
    void this.#move()
      .catch(() => {})
      .finally(() => {
        this.#isMoving = false;
        this.reconsider();
      });
  }

  async #move(): Promise<void> {
    const { getClient, getBetterTransport, open, adopt } = this.#deps;
    const wait = this.#movedAt + this.#waitMs - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const from = getClient();
    if (!from) return;
    await waitForPendingCalls(from);
    const way = getBetterTransport();
    if (!way || getClient() !== from) return;
    this.#movedAt = performance.now();
    this.#waitMs = Math.min(MAX_WAIT_MS, 2 * this.#waitMs);
    const client = await open(way);
    await waitForPendingCalls(from);
    if (getClient() !== from || getBetterTransport() !== way) return client.close();
    this.#waitMs = MIN_INTERVAL_MS;
    adopt(client, way);
    from.close(CLOSE_CODES.handingOver, 'another host serves now');
  }
}

/** Resolves when no call is under way; what follows runs before another one can begin. */
async function waitForPendingCalls(client: GatewayClient): Promise<void> {
  while (client.pending > 0) await client.idle();
}
