import type { GatewayClient } from '#shared/client/client.ts';
import { CLOSE_CODES } from '#shared/rpc/limits.ts';
import type { Transport } from './transport-choice.ts';

/** Minimum time between two moves, in milliseconds, doubled after each failed attempt. */
const MIN_INTERVAL_MS = 2_000;
const MAX_WAIT_MS = 60_000;

interface ConnectionMigratorDeps {
  /** The connection in use; null if there is none, which the migrator does not repair. */
  getClient(): GatewayClient | null;
  /** The better route, if there is one now. */
  getBetterTransport(): Transport | null;
  open(transport: Transport): Promise<GatewayClient>;
  /** Replaces the connection in use. */
  adopt(client: GatewayClient, transport: Transport): void;
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

  /** Checks for a better transport after a change of state. */
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
    const current = getClient();
    if (!current) return;
    await waitForPendingCalls(current);
    const transport = getBetterTransport();
    if (!transport || getClient() !== current) return;
    this.#movedAt = performance.now();
    this.#waitMs = Math.min(MAX_WAIT_MS, 2 * this.#waitMs);
    const client = await open(transport);
    await waitForPendingCalls(current);
    if (getClient() !== current || getBetterTransport() !== transport) return client.close();
    this.#waitMs = MIN_INTERVAL_MS;
    adopt(client, transport);
    current.close(CLOSE_CODES.handingOver, 'another host serves now');
  }
}

/** Resolves when no call is pending; the continuation runs before another call can begin. */
async function waitForPendingCalls(client: GatewayClient): Promise<void> {
  while (client.pending > 0) await client.idle();
}
