import type { HostStatus } from '#shared/ports/host.ts';
import type { SyncState } from '#shared/rpc/methods/sync.ts';
import { tooNew } from './standing.ts';
import { counted } from './words.ts';

/** Why this browser reads only, in plain words, and what becomes of what was made here. */
export function outdatedWords(host: HostStatus | null, sync: SyncState | null): { what: string; waiting: string } {
  const what = tooNew(host)
    ? 'A newer Perch has changed the form of this browser’s data. This page still runs the version before it, which cannot open that data and does not touch it.'
    : 'Another browser, or the bridge, already runs a newer Perch and has written data in its form. This browser still runs the version before it, so it reads and changes nothing until it is updated.';
  if (tooNew(host)) return { what, waiting: 'Nothing is lost: what was made here is where it was.' };
  return {
    what,
    waiting: sync?.pending
      ? `Nothing is lost: ${counted(sync.pending, 'change')} made in this browser ${sync.pending === 1 ? 'waits' : 'wait'} here, and ${sync.pending === 1 ? 'goes' : 'go'} to disk after the update.`
      : 'Nothing is lost: no change made in this browser is waiting to go to disk.',
  };
}
