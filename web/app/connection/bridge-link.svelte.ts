import { type GatewayClient, RpcError } from '#shared/client/client.ts';
import { connectBridge, probeBridge, redeemCode, readHostMode } from './bridge-connection.ts';
import { type StoredLink, readLink } from './link-store.ts';
import type { TransportState } from './transport-choice.ts';

/** Number of failed attempts to reach a bridge in use after which this browser's own gateway takes over. */
const MAX_FAILURES = 2;

/** This browser's link to the bridge: its credentials, and the last known state of the bridge. */
export class BridgeLink {
  state = $state<TransportState['bridge']>('unknown');
  #credentials = $state.raw<StoredLink>();
  /** Whether this browser has a credential for the bridge. */
  readonly isLinked = $derived(this.#credentials !== undefined);
  #isRefused = $state(false);
  #isServed = true;
  #failures = 0;
  readonly #getConnectionSide: () => 'page' | 'worker' | null;

  /** `getConnectionSide`: whether the page or its worker has an open connection to the bridge. */
  constructor(getConnectionSide: () => 'page' | 'worker' | null) {
    this.#getConnectionSide = getConnectionSide;
  }

  get credentials(): StoredLink | undefined {
    return this.#credentials;
  }

  /** Whether the bridge rejects this browser's credential. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** State that the choice of transport depends on. */
  get transportState(): Pick<TransportState, 'linked' | 'bridge' | 'served' | 'mode'> {
    return { linked: this.isLinked && !this.#isRefused, bridge: this.state, served: this.#isServed, mode: readHostMode.read() };
  }

  /** Redeems the code in the address, if there is one, and loads the credentials. Returns a sentence if the code is no longer valid, otherwise null. */
  async read(): Promise<string | null> {
    const refusal = await redeemCode();
    this.#credentials = await readLink().catch(() => undefined);
    this.#isRefused = false;
    this.state = 'unknown';
    return refusal;
  }

  /** Connects to the bridge. Null: use this browser's own worker. Rejects while a bridge in use may still come back. */
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

  /** Called when a connection to the bridge is in use. */
  onConnected(): void {
    this.state = 'reachable';
    this.#isServed = true;
    this.#failures = 0;
  }

  /** Checks the state of the bridge. */
  async probe(): Promise<void> {
    const health = await probeBridge();
    if (health) readHostMode.write(health.mode);
    const side = this.#getConnectionSide();
    // An open connection is more reliable than an unanswered probe.
    if (side === 'page' || (side === 'worker' && !health)) return;
    this.state = health ? 'reachable' : 'stopped';
    this.#isServed = health === null || health.host !== null;
  }
}
