import type { Clock } from '../clock.ts';
import { lazy } from '../lazy.ts';
import type { Cron, CronDeps } from './cron.ts';

/** A load that failed is tried again after this. */
const AGAIN_MS = 60_000;

/** The scheduled jobs, whose code is fetched once the gateway is up. */
export interface LazyCron {
  /** Resolves when it is there. Rejects where its code cannot be fetched. */
  load(): Promise<Cron>;
  start(deps: CronDeps): void;
  /** The settings have changed. */
  look(): void;
  /** Begins no more runs. What there is can still be asked for. */
  stop(): void;
}

export function lazyCron(clock: Clock, fault: (error: unknown) => void): LazyCron {
  let cron: Cron | undefined;
  let stopped = false;
  let cancel = (): void => {};
  const started = Promise.withResolvers<CronDeps>();
  const load = lazy(async () => {
    const { Cron } = await import('./cron.ts');
    cron = new Cron(await started.promise);
    if (stopped) cron.stop();
    return cron;
  });
  const begin = (): void =>
    void load().catch((error: unknown) => {
      fault(error);
      if (!stopped) cancel = clock.after(AGAIN_MS, begin);
    });
  return {
    load,
    start(deps) {
      started.resolve(deps);
      begin();
    },
    look: () => cron?.look(),
    stop() {
      stopped = true;
      cancel();
      cron?.stop();
    },
  };
}
