import type { BridgeHealth } from '#shared/link/link-credentials.ts';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';

/** How a page reaches a gateway: over the bridge's `/ws`, or at this browser's own worker. */
export type Transport = 'bridge' | 'browser';

/** State that the choice of transport depends on. */
export interface TransportState {
  /** This browser has a credential that the bridge accepts, as far as known. */
  linked: boolean;
  bridge: 'unknown' | 'reachable' | 'stopped';
  /** A host serves the bridge's clients, as far as known. */
  served: boolean;
  /** Host mode last reported by the bridge; null before the first report. */
  mode: BridgeHealth['mode'] | null;
  /** This browser's own host: whether it serves the bridge's clients. */
  role: SyncState['role'];
  /** This browser's host could not start, or its data is of a newer build. */
  unfit: boolean;
  /** The transport in use. */
  current: Transport | null;
}

/**
 * Chooses the route: this browser's own worker if it serves, if there is no bridge, or if no host serves behind it; else the bridge. While
 * the worker catches up its role is undecided, and the current route is kept. `ask`: nothing is known yet, and the bridge has to be probed first.
 */
export function chooseTransport({ linked, bridge, served, mode, role, unfit, current }: TransportState): Transport | 'ask' {
  if (!linked || bridge === 'stopped' || role === 'holder') return 'browser';
  if (unfit) return 'bridge';
  if (!served) return 'browser';
  if (role === 'replica') return 'bridge';
  if (current) return current;
  if (mode === null) return bridge === 'unknown' ? 'ask' : 'bridge';
  return mode === 'tab' ? 'browser' : 'bridge';
}
