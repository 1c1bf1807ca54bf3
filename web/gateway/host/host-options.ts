import type { Bridge } from '../ports/bridge-interface.ts';
import type { Fetch } from '../ports/fetch.ts';
import type { Gateway } from '../gateway-options.ts';
import type { Vault } from '../storage/vault-interface.ts';

/** Everything that a gateway reaches outside its worker, and the content of a new vault. */
export interface ExternalDeps {
  bridge: Bridge;
  fetch: Fetch;
  /** Called before any client is served. Does nothing if it has run before. */
  seed(gateway: Gateway, vault: Vault): Promise<void>;
}

export interface HostOptions {
  build: string;
  origin: string;
  /** Suffix of the names of databases, locks and channels; empty outside the demo. */
  nameSuffix: string;
  close(): void;
  /** Replaces the bridge and the network. Called by the owner of the data, before it opens the vault. */
  outside?: () => Promise<ExternalDeps>;
}
