/** Hosts that may be active: a tab's worker before the managed Chromium (`auto`), tabs only, or the managed Chromium only. */
export type HostMode = 'auto' | 'tab' | 'headless';

/** Rank of other bridges' hosts: after all of this bridge, but before the managed Chromium if that yields. */
const REMOTE_RANK = 4;

/**
 * Returns a host's rank: lower is better; Infinity if it may not be active. Hosts of older builds, which have no journal, rank last among
 * local ones. Other bridges' hosts follow, unless the managed Chromium `yields` to them.
 */
export function computeHostRank(
  { kind, syncs }: { kind: 'tab' | 'headless' | 'remote'; syncs: boolean },
  mode: HostMode,
  yields = false,
): number {
  if (kind === 'remote') return REMOTE_RANK;
  if (mode !== 'auto' && kind !== mode) return Infinity;
  return (kind === 'tab' ? 0 : 1) + (syncs ? 0 : 2) + (yields && kind === 'headless' ? REMOTE_RANK : 0);
}
