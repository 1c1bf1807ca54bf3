import type { HostStatus } from '#shared/ports/host.ts';
import type { AttachedHost } from '#shared/ports/journal.ts';
import type { SyncState } from '#shared/rpc/methods/sync.ts';

/** Sync state before the first report: no bridge. */
export const NO_SYNC: SyncState = { state: 'off', role: 'none', pending: 0, lastSyncAt: null, progress: null, problem: null };

/** The worker could not open its data because a newer build wrote it. */
export const tooNew = (host: HostStatus | null): boolean => host?.state === 'failed' && /newer build of Perch/.test(host.problem ?? '');

/** This build is older than the data: it reads only, or not even that. */
export const outdated = (host: HostStatus | null): boolean => host?.sync?.state === 'outdated' || tooNew(host);

/** This browser's own host cannot serve, whatever the bridge says. */
export const unfit = (host: HostStatus | null): boolean => host?.state === 'failed' || outdated(host);

/** Finds this browser among the attached hosts; undefined if that is unknown. */
export function ownHost(hosts: readonly AttachedHost[], host: HostStatus | null): AttachedHost | undefined {
  if (host?.uplink !== 'attached') return undefined;
  if (host.origin !== undefined) return hosts.find(({ origin }) => origin === host.origin);
  const tabs = hosts.filter(({ kind }) => kind === 'tab');
  return host.sync?.role === 'holder' ? tabs.find(({ holder }) => holder) : tabs.length === 1 ? tabs[0] : undefined;
}
