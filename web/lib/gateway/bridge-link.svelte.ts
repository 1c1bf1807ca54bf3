import { type GatewayClient, RpcError } from '#shared/client/client.ts';
import { connectBridge, probeBridge, redeemCode, rememberedMode } from './bridge.ts';
import { type KeptLink, readLink } from './credentials.ts';
import type { Situation } from './way.ts';

/** Failed attempts to reach a bridge that had answered before, until this browser's own gateway takes over. */
const TRIES_BEFORE_FALLBACK = 2;

/** This browser's link to the bridge: its credentials, and the last known state of the bridge. */
export class BridgeLink {
  state = $state<Situation['bridge']>('unknown');
  #kept = $state.raw<KeptLink>();
  /** This browser holds a credential for the bridge. */
  readonly linked = $derived(this.#kept !== undefined);
  #refused = $state(false);
  #served = true;
  #failures = 0;
  readonly #line: () => 'page' | 'worker' | null;

  /** `line`: whether the page's connection or its worker has an open connection to the bridge. */
  constructor(line: () => 'page' | 'worker' | null) {
    this.#line = line;
  }

  get credentials(): KeptLink | undefined {
    return this.#kept;
  }

  /** The bridge does not accept this browser's credential. */
  get refused(): boolean {
    return this.#refused;
  }

  /** State that the choice of transport depends on. */
  get situation(): Pick<Situation, 'linked' | 'bridge' | 'served' | 'mode'> {
    return { linked: this.linked && !this.#refused, bridge: this.state, served: this.#served, mode: rememberedMode.read() };
  }

  /** Trades the code in the address, if there is one, and reads the link. A sentence when the code no longer serves, null otherwise. */
  async read(): Promise<string | null> {
    const refusal = await redeemCode();
    this.#kept = await readLink().catch(() => undefined);
    this.#refused = false;
    this.state = 'unknown';
    return refusal;
  }

  /** Connects. Null: this browser's own worker has to do. Rejects while a bridge that was in use may still come back. */
  async connect({ inUse }: { inUse: boolean }): Promise<GatewayClient | null> {
    if (!this.#kept) return null;
    try {
      return await connectBridge(this.#kept.app);
    } catch (error) {
      if (error instanceof RpcError && error.code === 'AUTH_REQUIRED') this.#refused = true;
      else if (inUse && ++this.#failures < TRIES_BEFORE_FALLBACK) throw error;
      else {
        await this.probe();
        // The bridge responds but refuses the connection, because no host is attached, for example.
        if (this.state === 'reachable') this.#served = false;
      }
      return null;
    }
  }

  /** A connection by it is in use. */
  connected(): void {
    this.state = 'reachable';
    this.#served = true;
    this.#failures = 0;
  }

  /** Checks the state of the bridge. */
  async probe(): Promise<void> {
    const health = await probeBridge();
    if (health) rememberedMode.write(health.mode);
    const line = this.#line();
    // An open connection is more reliable than an unanswered probe.
    if (line === 'page' || (line === 'worker' && !health)) return;
    this.state = health ? 'reachable' : 'stopped';
    this.#served = health === null || health.host !== null;
  }
}
