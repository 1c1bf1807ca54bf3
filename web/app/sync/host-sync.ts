import type { HostStatus } from '#shared/ports/host-api.ts';
import type { AttachedHost } from '#shared/ports/journal-info.ts';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';

/** Sync state before the first report: no bridge. */
export const NO_SYNC: SyncState = { state: 'off', role: 'none', pending: 0, lastSyncAt: null, progress: null, problem: null };

/** Whether the worker could not open its data because a newer build wrote it. */
export const isDataTooNew = (host: HostStatus | null): boolean =>
  host?.state === 'failed' && /newer build of Perch/.test(host.problem ?? '');

/** Whether this build is older than the data, which is read-only then or cannot be opened. */
export const isOutdated = (host: HostStatus | null): boolean => host?.sync?.state === 'outdated' || isDataTooNew(host);

/** Whether this browser's own host cannot serve. */
export const isUnfit = (host: HostStatus | null): boolean => host?.state === 'failed' || isOutdated(host);

/** Finds this browser among the attached hosts; undefined if that is unknown. */
export function findOwnHost(hosts: readonly AttachedHost[], host: HostStatus | null): AttachedHost | undefined {
  if (host?.uplink !== 'attached') return undefined;
  if (host.origin !== undefined) return hosts.find(({ origin }) => origin === host.origin);
  const tabs = hosts.filter(({ kind }) => kind === 'tab');
  return host.sync?.role === 'holder' ? tabs.find(({ holder }) => holder) : tabs.length === 1 ? tabs[0] : undefined;
}
