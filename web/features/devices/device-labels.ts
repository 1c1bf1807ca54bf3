import type { AttachedHost } from '#shared/ports/journal-info.ts';
import type { Scope } from '#shared/rpc/contract.ts';
import type { SyncConflict } from '#shared/rpc/methods/sync-contracts.ts';
import { m } from '#app/i18n/messages.ts';

export const getHostKindLabel = ({ kind }: Pick<AttachedHost, 'kind'>): string =>
  kind === 'headless' ? m.devices_kind_headless() : m.devices_kind_tab();

/** Role of an attached host, in words. */
export const getHostRoleLabel = ({ holder, ready }: Pick<AttachedHost, 'holder' | 'ready'>): string =>
  holder ? m.devices_part_serves() : ready ? m.devices_part_ready() : m.devices_part_catching_up();

/** Permissions of a device with these scopes, in words. */
export const getRightsLabel = (scopes: readonly Scope[]): string =>
  scopes.includes('admin') ? m.devices_rights_admin() : scopes.includes('write') ? m.devices_rights_write() : m.devices_rights_read();

const CHANGE_TEXTS = {
  session: () => m.devices_conflict_session(),
  setting: () => m.devices_conflict_setting(),
  memory: () => m.devices_conflict_memory(),
  file: () => m.devices_conflict_file(),
  project: () => m.devices_conflict_project(),
};

/** The two versions of a conflict, and the buttons that choose between them. */
export function getConflictTexts({ kind, kept }: Pick<SyncConflict, 'kind' | 'kept'>): {
  what: string;
  kept: string;
  aside: string;
  keep: string;
  restore: string;
} {
  if (kind === 'branch') {
    return {
      what: m.devices_conflict_branch(),
      kept: m.devices_conflict_branch_kept(),
      aside: m.devices_conflict_branch_aside(),
      keep: m.devices_conflict_branch_keep(),
      restore: m.devices_conflict_branch_restore(),
    };
  }
  return {
    what: CHANGE_TEXTS[kind](),
    kept: kept === null ? m.devices_conflict_deleted() : m.devices_conflict_used(),
    aside: m.devices_conflict_aside(),
    keep: kept === null ? m.devices_conflict_keep_deleted() : m.devices_conflict_keep(),
    restore: kept === null ? m.devices_conflict_bring_back() : m.devices_conflict_restore(),
  };
}
