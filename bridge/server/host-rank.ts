/** Who may serve: a tab's worker before the managed Chromium (`auto`), tabs alone, or the managed Chromium alone. */
export type HostMode = 'auto' | 'tab' | 'headless';

/** What is behind everything that this bridge has itself, and before the managed Chromium where that yields. */
const REMOTE = 4;

/**
 * The lower the better; infinite: it may not serve. Hosts of older builds, which have no journal, come last of those that are attached here, and behind
 * them other bridges' hosts, unless the managed Chromium `yields` to these.
 */
export function rankOf({ kind, syncs }: { kind: 'tab' | 'headless' | 'remote'; syncs: boolean }, mode: HostMode, yields = false): number {
  if (kind === 'remote') return REMOTE;
  if (mode !== 'auto' && kind !== mode) return Infinity;
  return (kind === 'tab' ? 0 : 1) + (syncs ? 0 : 2) + (yields && kind === 'headless' ? REMOTE : 0);
}
