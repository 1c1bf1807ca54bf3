import type { Bridge } from '../core/bridge.ts';
import type { Fetch } from '../core/fetch.ts';
import type { Gateway } from '../core/gateway-options.ts';
import type { Vault } from '../core/vault.ts';

/** All that a gateway reaches beyond its worker, and what is in a vault that is new. */
export interface Outside {
  bridge: Bridge;
  fetch: Fetch;
  /** Before anybody is served. Does nothing where it was done before. */
  seed(gateway: Gateway, vault: Vault): Promise<void>;
}

export interface HostOptions {
  build: string;
  origin: string;
  /** Suffix of the names of databases, locks and channels; empty outside the demo. */
  mark: string;
  close(): void;
  /** Replaces the bridge and the network. */
  outside?: () => Promise<Outside>;
}
