import type { Clock } from '../clock.ts';
import { lazy } from '../lazy.ts';
import type { Cron, CronDeps } from './cron.ts';

/** Delay before a failed load is retried. */
const AGAIN_MS = 60_000;

/** The scheduler; its code is loaded when there is a job, or another reason to run it. */
export interface LazyCron {
  /** Resolves when the code is loaded. Rejects if that fails. */
  load(): Promise<Cron>;
  start(deps: CronDeps): void;
  /** Called when the settings have changed. */
  look(): void;
  /** Starts no more runs. Existing jobs and runs can still be read. */
  stop(): void;
}

export function lazyCron(clock: Clock, fault: (error: unknown) => void): LazyCron {
  let deps: CronDeps | undefined;
  let cron: Cron | undefined;
  let stopped = false;
  let cancel = (): void => {};
  let unwatch = (): void => {};
  const started = Promise.withResolvers<CronDeps>();
  const load = lazy(async () => {
    const { Cron } = await import('./cron.ts');
    cron = new Cron(await started.promise);
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
      cancel = clock.after(AGAIN_MS, () => void wake());
    }
  };
  return {
    load,
    start(given) {
      deps = given;
      started.resolve(given);
      // Another host may add the first job.
      unwatch = given.vault.onforeign((changes) => void (changes.some(({ store }) => store === 'jobs') && wake()));
      void wake();
    },
    look() {
      if (cron) cron.look();
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
