import type { Clock } from '#shared/async/clock.ts';
import { lazy } from '#shared/async/lazy.ts';
import type { CronService, CronServiceDeps } from './cron-service.ts';

/** Delay before a failed load is retried. */
const RETRY_MS = 60_000;

/** The scheduler; its code is loaded when there is a job, or another reason to run it. */
export interface LazyCron {
  /** Resolves when the code is loaded. Rejects if that fails. */
  load(): Promise<CronService>;
  start(deps: CronServiceDeps): void;
  /** Called when the settings have changed. */
  refresh(): void;
  /** Starts no more runs. Existing jobs and runs can still be read. */
  stop(): void;
}

export function createLazyCron(clock: Clock, fault: (error: unknown) => void): LazyCron {
  let deps: CronServiceDeps | undefined;
  let cron: CronService | undefined;
  let stopped = false;
  let cancel = (): void => {};
  let unwatch = (): void => {};
  const started = Promise.withResolvers<CronServiceDeps>();
  const load = lazy(async () => {
    const { CronService } = await import('./cron-service.ts');
    cron = new CronService(await started.promise);
    unwatch();
    if (stopped) cron.stop();
    return cron;
  });
  /** Loads the code if there are jobs, or dreaming, daily summaries or the heartbeat are enabled. */
  const wake = async (): Promise<void> => {
    if (!deps || cron || stopped) return;
    try {
      const { heartbeat, dreaming, memory } = deps.settings();
      const isOn = [heartbeat, dreaming, memory.daily_summaries].some(({ enabled }) => enabled);
      if (isOn || (await deps.vault.collection('jobs').list()).length > 0) await load();
    } catch (error) {
      if (stopped) return;
      fault(error);
      cancel();
      cancel = clock.after(RETRY_MS, () => void wake());
    }
  };
  return {
    load,
    start(options) {
      deps = options;
      started.resolve(options);
      // Another host may add the first job.
      unwatch = options.vault.onRemoteChanges((changes) => void (changes.some(({ store }) => store === 'jobs') && wake()));
      void wake();
    },
    refresh() {
      if (cron) cron.refresh();
      else void wake();
    },
    stop() {
      stopped = true;
      cancel();
      unwatch();
      cron?.stop();
    },
  };
}
