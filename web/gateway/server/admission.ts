import type { MovableLink } from '#shared/link/link.ts';
import type { Scope } from '#shared/rpc/contract.ts';

/**
 * How a connection was admitted. The bridge has verified the credential and sent the challenge; ports of the app's own pages are trusted.
 */
export interface Admission {
  principal: string;
  scopes: readonly Scope[];
  /** The bridge's half of the mutual proof, returned in the response to `connect`. */
  proof?: string;
  /** Pairing code presented by a device that is not paired yet; its principal is `PAIRING`. */
  pairingCode?: string;
  /** Whether the challenge has been sent, as event 1. */
  challenged: boolean;
  /** Whether the link is a socket. Sockets are rate limited; ports are not. */
  socket: boolean;
  /** Moves the client to another host; undefined if the bridge cannot. */
  movable?: MovableLink;
  /** Connection state from the host that served the client before; undefined for a new client. The client does not notice the move. */
  moved?: string;
}
