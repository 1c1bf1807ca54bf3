import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { CronJob, CronRun } from '#shared/rpc/methods/cron-contracts.ts';
import type { MethodParams } from '#shared/rpc/methods/index.ts';
import { isConnectionLost, type Problem, toProblem } from '#kit/problems.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { isFailedRun } from './is-failed-run.ts';
import { announcer } from './announcer.svelte.ts';
import { toasts } from '#kit/toasts.svelte.ts';

/** Scheduled jobs and their runs. */
class Schedules {
  /** Next to run first; null before the first answer. */
  jobs = $state.raw<CronJob[] | null>(null);
  problem = $state<Problem | null>(null);
  /** Incremented at each change of a job or its runs. */
  changeCount = $state(0);
  /** Number of jobs whose last run failed. */
  readonly failedCount = $derived((this.jobs ?? []).filter(({ lastStatus }) => isFailedRun(lastStatus)).length);
  #loadCount = 0;

  start(): void {
    gateway.on('cron.changed', () => {
      this.changeCount++;
      void this.load();
    });
  }

  async load(): Promise<void> {
    const loadId = ++this.#loadCount;
    try {
      const { jobs } = await gateway.call('cron.list', {});
      if (loadId !== this.#loadCount) return;
      this.jobs = jobs;
      this.problem = null;
    } catch (error) {
      // A host of an older build has no schedules.
      const unknown = error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';
      if (loadId === this.#loadCount && !unknown && !isConnectionLost(error))
        this.problem = toProblem(error, m.state_doing_read_schedules());
    }
  }

  /** Runs of a job, the newest first. This and the following methods reject if the gateway refuses. */
  async history(jobId: string, limit: number): Promise<CronRun[]> {
    return (await gateway.call('cron.history', { jobId, limit })).records;
  }

  /** Resolves with the id of the new job. */
  async add(params: MethodParams<'cron.add'>): Promise<string> {
    const { job } = await gateway.call('cron.add', params);
    announcer.announce(m.state_schedule_added());
    await this.load();
    return job.id;
  }

  async update(params: MethodParams<'cron.update'>): Promise<void> {
    await gateway.call('cron.update', params);
    announcer.announce(m.state_schedule_changed());
    await this.load();
  }

  async toggle({ id, name }: CronJob, enabled: boolean): Promise<void> {
    await gateway.call('cron.toggle', { id, enabled });
    announcer.announce(enabled ? m.state_schedule_on({ name }) : m.state_schedule_off({ name }));
    await this.load();
  }

  async run({ id, name }: CronJob): Promise<void> {
    await gateway.call('cron.run', { id });
    announcer.announce(m.state_schedule_runs({ name }));
    await this.load();
  }

  async remove({ id, name }: CronJob): Promise<void> {
    await gateway.call('cron.remove', { id });
    announcer.announce(m.state_schedule_removed({ name }));
    toasts.show(m.state_schedule_removed_toast({ name }));
    await this.load();
  }
}

export const schedules = new Schedules();
