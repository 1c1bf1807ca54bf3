import type { HostStatus } from '#shared/ports/host-api.ts';
import type { SyncState } from '#shared/rpc/methods/sync-contracts.ts';
import { m } from '../i18n/messages.ts';
import { isDataTooNew } from './host-sync.ts';

/** Explains why this browser is read-only, and what happens to changes made here. */
export function getOutdatedText(host: HostStatus | null, sync: SyncState | null): { what: string; waiting: string } {
  if (isDataTooNew(host)) return { what: m.outdated_too_new_data(), waiting: m.outdated_nothing_lost() };
  return {
    what: m.outdated_newer_elsewhere(),
    waiting: sync?.pending ? m.outdated_changes_wait({ count: sync.pending }) : m.outdated_no_changes_wait(),
  };
}
