import type { HostStatus } from '#shared/ports/host-api.ts';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import { formatNumber } from '../i18n/format.ts';
import { m } from '../i18n/messages.ts';
import { isOutdated } from './host-sync.ts';

/** Sync status of this browser. */
export interface SyncStatus {
  name:
    | 'older'
    | 'no_copy'
    | 'alone'
    | 'shared'
    | 'unshared'
    | 'on_disk'
    | 'catching_up'
    | 'not_on_disk'
    | 'bridge_away'
    | 'failing'
    | 'unknown';
  /** Colour of the dot: saved, pending, failing, unknown. */
  tone: 'good' | 'warn' | 'bad' | '';
  /** Label of the dot. */
  title: string;
  /** Known problem; null if none. */
  problem: string | null;
}

/**
 * State of this browser relative to the bridge's disk. `linked`: it is paired with a bridge. `sync`: state of its own host; null if
 * unknown.
 */
export function getSyncStatus(linked: boolean, host: HostStatus | null, sync: SyncState | null): SyncStatus {
  const { state, problem } = { problem: null, ...sync };
  if (isOutdated(host)) return { name: 'older', tone: 'bad', title: m.shell_sync_older_title(), problem: null };
  if (linked && host?.state === 'failed')
    return { name: 'no_copy', tone: 'bad', title: m.shell_sync_no_copy_title(), problem: host.problem };
  if (!linked && (!sync || state === 'off')) return { name: 'alone', tone: '', title: m.shell_sync_alone_title(), problem: null };
  // A paired browser goes to the cluster itself while its bridge is away.
  const shared = host?.cluster && (!linked || host.cluster.state === 'attached');
  if (shared && state === 'synced') return { name: 'shared', tone: 'good', title: m.shell_sync_shared_title(), problem };
  if (shared && (state === 'away' || state === 'failing'))
    return { name: 'unshared', tone: state === 'failing' ? 'bad' : 'warn', title: m.shell_sync_unshared_title(), problem };
  const count = sync?.pending ?? 0;
  switch (state) {
    case 'synced':
      return { name: 'on_disk', tone: 'good', title: m.shell_sync_on_disk_title(), problem };
    case 'catching-up':
      return { name: 'catching_up', tone: 'warn', title: describeCatchUp(sync && computePercent(sync)), problem };
    case 'away':
      return count > 0
        ? { name: 'not_on_disk', tone: 'warn', title: m.shell_sync_not_on_disk_title({ count }), problem: null }
        : { name: 'bridge_away', tone: 'warn', title: m.shell_sync_bridge_away_title(), problem: null };
    case 'failing':
      return { name: 'failing', tone: 'bad', title: m.shell_sync_failing_title(), problem };
    default:
      return { name: 'unknown', tone: '', title: m.shell_sync_unknown_title(), problem };
  }
}

/** Progress of reading records in percent; null if unknown. */
export function computePercent({ progress }: SyncState): number | null {
  return progress && progress.total > 0 ? Math.min(100, Math.floor((100 * progress.done) / progress.total)) : null;
}

const describeCatchUp = (percent: number | null): string =>
  percent === null
    ? m.shell_sync_catching_up_title()
    : m.shell_sync_catching_up_percent({ percent: formatNumber(percent / 100, { style: 'percent' }) });

/** Adds a missing full stop. */
export const toSentence = (text: string): string => (/[.!?。！？؟]$/.test(text) ? text : `${text}.`);
