import type { BackupEntry } from '#shared/rpc/methods/backup.ts';
import type { MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { needsBridge } from '#lib/gateway/needs-bridge.ts';
import { m } from '#lib/i18n/pages.ts';
import { announcer } from './announcer.svelte.ts';
import { toasts } from './toasts.svelte.ts';

/** Records that a restore adds, changes and removes, by store. */
export type RestoreChanges = MethodResult<'backup.restore'>['changes'];

/** The backups on the bridge's disk. */
class Backups {
  /** The newest first; null before the first answer. */
  list = $state.raw<BackupEntry[] | null>(null);
  problem = $state<Problem | null>(null);
  /** The bridge is away, and the backups with it. */
  missing = $state(false);

  async load(): Promise<void> {
    try {
      this.list = (await gateway.call('backup.status', {})).backups;
      this.problem = null;
      this.missing = false;
    } catch (error) {
      if (isLost(error)) return;
      this.missing = needsBridge(error);
      this.problem = this.missing ? null : problemOf(error, m.backups_doing_read());
    }
  }

  /** Makes one; with a passphrase the providers' keys are in it. Rejects where the gateway refuses, as the others do. */
  async create(passphrase?: string): Promise<void> {
    const { missing } = await gateway.call('backup.export', passphrase === undefined ? {} : { passphrase });
    const said = m.backups_made();
    announcer.say(said);
    toasts.show(missing > 0 ? m.backups_made_without({ count: missing }) : said);
    await this.load();
  }

  /** Computes the changes that restoring this backup would make. */
  async preview(given: Omit<MethodParams<'backup.restore'>, 'dryRun'>): Promise<RestoreChanges> {
    return (await gateway.call('backup.restore', { ...given, dryRun: true })).changes;
  }

  async restore(given: Omit<MethodParams<'backup.restore'>, 'dryRun'>): Promise<void> {
    const { restored } = await gateway.call('backup.restore', given);
    const said = restored ? m.backups_restored() : m.backups_restored_nothing();
    announcer.say(said);
    toasts.show(said);
  }
}

export const backups = new Backups();
