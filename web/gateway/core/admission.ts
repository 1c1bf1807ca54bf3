import type { MovableLink } from '#shared/link/link.ts';
import type { Scope } from '#shared/rpc/contract.ts';

/** How a connection came to be let in. The bridge has checked the credential and sent the challenge; a page's port is trusted as it is. */
export interface Admission {
  principal: string;
  scopes: readonly Scope[];
  /** The bridge's half of the mutual proof, for the answer to `connect`. */
  proof?: string;
  /** What a device that is not paired yet has shown; its principal is `PAIRING`. */
  pairingCode?: string;
  /** The challenge has been sent, as event 1. */
  challenged: boolean;
  /** A socket, which is rate limited; ports are not. */
  socket: boolean;
  /** How the bridge takes the client to another host, where it can. */
  movable?: MovableLink;
  /** What the host that served the client before says of it, where there was one; the client does not hear of the change. */
  moved?: string;
}
