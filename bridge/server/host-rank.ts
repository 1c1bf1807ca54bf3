/** Who may serve: a tab's worker before the managed Chromium (`auto`), tabs alone, or the managed Chromium alone. */
export type HostMode = 'auto' | 'tab' | 'headless';

/** The lower the better; infinite: it may not serve. Hosts of older builds, which have no journal, come last. */
export function rankOf({ kind, syncs }: { kind: 'tab' | 'headless'; syncs: boolean }, mode: HostMode): number {
  if (mode !== 'auto' && kind !== mode) return Infinity;
  return (kind === 'tab' ? 0 : 1) + (syncs ? 0 : 2);
}
