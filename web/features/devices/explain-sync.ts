import { m } from '#app/i18n/messages.ts';
import { toSentence, type SyncStatus } from '#app/sync/sync-status.ts';

interface SyncExplanation {
  /** Two or three words, for a heading. */
  summary: string;
  /** Meaning and consequences. */
  details: string;
}

/** Explains the sync status of this browser in detail. */
export function explainSyncStatus({ name, problem }: SyncStatus): SyncExplanation {
  const params = problem === null ? null : { problem: toSentence(problem) };
  switch (name) {
    case 'older':
      return { summary: m.devices_sync_older(), details: m.devices_sync_older_about() };
    case 'no_copy':
      return { summary: m.devices_sync_no_copy(), details: params ? m.devices_sync_no_copy_why(params) : m.devices_sync_no_copy_about() };
    case 'alone':
      return { summary: m.devices_sync_alone(), details: m.devices_sync_alone_about() };
    case 'shared':
      return { summary: m.devices_sync_shared(), details: m.devices_sync_shared_about() };
    case 'unshared':
      return { summary: m.devices_sync_unshared(), details: params ? m.devices_sync_failing_why(params) : m.devices_sync_unshared_about() };
    case 'on_disk':
      return { summary: m.devices_sync_on_disk(), details: m.devices_sync_on_disk_about() };
    case 'catching_up':
      return { summary: m.devices_sync_catching_up(), details: m.devices_sync_catching_up_about() };
    case 'not_on_disk':
      return { summary: m.devices_sync_not_on_disk(), details: params?.problem ?? m.devices_sync_bridge_away_about() };
    case 'bridge_away':
      return { summary: m.devices_sync_bridge_away(), details: params?.problem ?? m.devices_sync_bridge_away_about() };
    case 'failing':
      return { summary: m.devices_sync_failing(), details: params ? m.devices_sync_failing_why(params) : m.devices_sync_failing_about() };
    case 'unknown':
      return { summary: m.devices_sync_unknown(), details: m.devices_sync_unknown_about() };
  }
}
