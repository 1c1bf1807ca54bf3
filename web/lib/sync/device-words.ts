import type { AttachedHost } from '#shared/ports/journal.ts';
import type { Scope } from '#shared/rpc/contract.ts';
import type { Conflict } from '#shared/rpc/methods/sync.ts';
import { m } from '#lib/i18n/pages.ts';

export { ago, exactTime } from './ago.ts';

export const kindOf = ({ kind }: Pick<AttachedHost, 'kind'>): string =>
  kind === 'headless' ? m.sync_host_managed() : m.sync_host_browser();

/** What a host that is attached does. */
export const partOf = ({ holder, ready }: Pick<AttachedHost, 'holder' | 'ready'>): string =>
  holder ? m.sync_host_serves() : ready ? m.sync_host_stands_by() : m.sync_host_catches_up();

/** What a device may do that was given these scopes. */
export const rightsOf = (scopes: readonly Scope[]): string =>
  scopes.includes('admin') ? m.sync_rights_all() : scopes.includes('write') ? m.sync_rights_write() : m.sync_rights_read();

/** The two versions of a conflict, and the buttons that choose between them. */
export function conflictWords({ kind, kept }: Pick<Conflict, 'kind' | 'kept'>): {
  what: string;
  kept: string;
  aside: string;
  keep: string;
  restore: string;
} {
  if (kind === 'branch') {
    return {
      what: m.sync_conflict_branch(),
      kept: m.sync_conflict_shown(),
      aside: m.sync_conflict_other_branch(),
      keep: m.sync_conflict_dismiss(),
      restore: m.sync_conflict_open_branch(),
    };
  }
  const what = {
    session: () => m.sync_conflict_session(),
    setting: () => m.sync_conflict_setting(),
    memory: () => m.sync_conflict_memory(),
    file: () => m.sync_conflict_file(),
  };
  return {
    what: what[kind](),
    kept: kept === null ? m.sync_conflict_deleted() : m.sync_conflict_used(),
    aside: m.sync_conflict_aside(),
    keep: kept === null ? m.sync_conflict_leave_deleted() : m.sync_conflict_keep(),
    restore: kept === null ? m.sync_conflict_bring_back() : m.sync_conflict_use_other(),
  };
}
