import { type GatewayClient, RpcError } from '#shared/client/client.ts';
import { connectBridge, probeBridge, redeemCode, readHostMode } from './bridge-connection.ts';
import { type StoredLink, readLink } from './link-store.ts';
import type { TransportState } from './transport-choice.ts';

/** Failed attempts to reach a bridge that had answered before, until this browser's own gateway takes over. */
const MAX_FAILURES = 2;

/** This browser's link to the bridge: its credentials, and the last known state of the bridge. */
export class BridgeLink {
  state = $state<TransportState['bridge']>('unknown');
  #credentials = $state.raw<StoredLink>();
  /** This browser holds a credential for the bridge. */
  readonly isLinked = $derived(this.#credentials !== undefined);
  #isRefused = $state(false);
  #isServed = true;
  #failures = 0;
  readonly #getConnectionSide: () => 'page' | 'worker' | null;

  /** `line`: whether the page's connection or its worker has an open connection to the bridge. */
  constructor(line: () => 'page' | 'worker' | null) {
    this.#getConnectionSide = line;
  }

  get credentials(): StoredLink | undefined {
    return this.#credentials;
  }

  /** The bridge does not accept this browser's credential. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** State that the choice of transport depends on. */
  get transportState(): Pick<TransportState, 'linked' | 'bridge' | 'served' | 'mode'> {
    return { linked: this.isLinked && !this.#isRefused, bridge: this.state, served: this.#isServed, mode: readHostMode.read() };
  }

  /** Trades the code in the address, if there is one, and reads the link. A sentence when the code no longer serves, null otherwise. */
  async read(): Promise<string | null> {
    const refusal = await redeemCode();
    this.#credentials = await readLink().catch(() => undefined);
    this.#isRefused = false;
    this.state = 'unknown';
    return refusal;
  }

  /** Connects. Null: this browser's own worker has to do. Rejects while a bridge that was in use may still come back. */
  async connect({ inUse }: { inUse: boolean }): Promise<GatewayClient | null> {
    if (!this.#credentials) return null;
    try {
      return await connectBridge(this.#credentials.app);
    } catch (error) {
      if (error instanceof RpcError && error.code === 'AUTH_REQUIRED') this.#isRefused = true;
      else if (inUse && ++this.#failures < MAX_FAILURES) throw error;
      else {
        await this.probe();
        // The bridge responds but refuses the connection, because no host is attached, for example.
        if (this.state === 'reachable') this.#isServed = false;
      }
      return null;
    }
  }

  /** A connection by it is in use. */
  onConnected(): void {
    this.state = 'reachable';
    this.#isServed = true;
    this.#failures = 0;
  }

  /** Checks the state of the bridge. */
  async probe(): Promise<void> {
    const health = await probeBridge();
    if (health) readHostMode.write(health.mode);
    const line = this.#getConnectionSide();
    // An open connection is more reliable than an unanswered probe.
    if (line === 'page' || (line === 'worker' && !health)) return;
    this.state = health ? 'reachable' : 'stopped';
    this.#isServed = health === null || health.host !== null;
  }
}
