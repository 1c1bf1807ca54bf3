import type { BackupEntry } from '#shared/rpc/methods/backup-contracts.ts';
import type { MethodParams, MethodResult } from '#shared/rpc/methods/index.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { isBridgeMissing } from '#app/connection/needs-bridge.ts';
import { m } from '#app/i18n/messages.ts';
import { announcer } from '#app/state/announcer.svelte.ts';
import { toasts } from '#kit/toasts.svelte.ts';

/** Records that a restore adds, changes and removes, by store. */
export type RestoreChanges = MethodResult<'backup.restore'>['changes'];

/** The backups on the bridge's disk. */
class Backups {
  /** The newest first; null before the first answer. */
  list = $state.raw<BackupEntry[] | null>(null);
  problem = $state<Problem | null>(null);
  /** The bridge, which stores the backups, is not available. */
  isBridgeMissing = $state(false);

  async load(): Promise<void> {
    try {
      this.list = (await gateway.call('backup.status', {})).backups;
      this.problem = null;
      this.isBridgeMissing = false;
    } catch (error) {
      if (isConnectionLost(error)) return;
      this.isBridgeMissing = isBridgeMissing(error);
      this.problem = this.isBridgeMissing ? null : toProblem(error, m.backups_doing_read());
    }
  }

  /** Creates a backup; with a passphrase it includes the providers' keys. Rejects if the gateway refuses, as do `preview` and `restore`. */
  async create(passphrase?: string): Promise<void> {
    const { missing } = await gateway.call('backup.export', passphrase === undefined ? {} : { passphrase });
    const message = m.backups_made();
    announcer.announce(message);
    toasts.show(missing > 0 ? m.backups_made_without({ count: missing }) : message);
    await this.load();
  }

  /** Computes the changes that restoring this backup would make. */
  async preview(params: Omit<MethodParams<'backup.restore'>, 'dryRun'>): Promise<RestoreChanges> {
    return (await gateway.call('backup.restore', { ...params, dryRun: true })).changes;
  }

  async restore(params: Omit<MethodParams<'backup.restore'>, 'dryRun'>): Promise<void> {
    const { restored } = await gateway.call('backup.restore', params);
    const message = restored ? m.backups_restored() : m.backups_restored_nothing();
    announcer.announce(message);
    toasts.show(message);
  }
}

export const backups = new Backups();
