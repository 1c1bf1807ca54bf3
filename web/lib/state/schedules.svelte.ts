import { RpcError } from '#shared/rpc/errors.ts';
import type { Job, JobRun } from '#shared/rpc/methods/cron.ts';
import type { MethodParams } from '#shared/rpc/methods/index.ts';
import { isLost, type Problem, problemOf } from '#lib/errors.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { m } from '#lib/i18n/frame.ts';
import { isFailure } from '#lib/schedules/failure.ts';
import { announcer } from './announcer.svelte.ts';
import { toasts } from './toasts.svelte.ts';

/** Scheduled jobs, what became of their ticks, and how many have failed the last time. */
class Schedules {
  /** Next to run first; null before the first answer. */
  jobs = $state.raw<Job[] | null>(null);
  problem = $state<Problem | null>(null);
  /** Up by one at each change of a job or of its runs. */
  changes = $state(0);
  readonly failed = $derived((this.jobs ?? []).filter(({ lastStatus }) => isFailure(lastStatus)).length);
  #asked = 0;

  start(): void {
    gateway.on('cron.changed', () => {
      this.changes++;
      void this.load();
    });
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const { jobs } = await gateway.call('cron.list', {});
      if (asked !== this.#asked) return;
      this.jobs = jobs;
      this.problem = null;
    } catch (error) {
      // A host of an older build schedules nothing.
      const unknown = error instanceof RpcError && error.code === 'METHOD_NOT_FOUND';
      if (asked === this.#asked && !unknown && !isLost(error)) this.problem = problemOf(error, m.state_doing_read_schedules());
    }
  }

  /** The newest first. All of these reject where the gateway refuses. */
  async history(jobId: string, limit: number): Promise<JobRun[]> {
    return (await gateway.call('cron.history', { jobId, limit })).records;
  }

  async add(given: MethodParams<'cron.add'>): Promise<void> {
    await gateway.call('cron.add', given);
    announcer.say(m.state_schedule_added());
    await this.load();
  }

  async update(given: MethodParams<'cron.update'>): Promise<void> {
    await gateway.call('cron.update', given);
    announcer.say(m.state_schedule_changed());
    await this.load();
  }

  async toggle({ id, name }: Job, enabled: boolean): Promise<void> {
    await gateway.call('cron.toggle', { id, enabled });
    announcer.say(enabled ? m.state_schedule_on({ name }) : m.state_schedule_off({ name }));
    await this.load();
  }

  async run({ id, name }: Job): Promise<void> {
    await gateway.call('cron.run', { id });
    announcer.say(m.state_schedule_runs({ name }));
    await this.load();
  }

  async remove({ id, name }: Job): Promise<void> {
    await gateway.call('cron.remove', { id });
    announcer.say(m.state_schedule_removed({ name }));
    toasts.show(m.state_schedule_removed_toast({ name }));
    await this.load();
  }
}

export const schedules = new Schedules();
