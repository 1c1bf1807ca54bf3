import { defineModule, type Lazy } from '../../system/modules.ts';
import type { Dreamer } from '../../agent/knowledge/dreamer/dreamer.ts';
import type { DailySummaries } from '../../agent/knowledge/memory/summary/daily-summaries.ts';
import type { CronServiceDeps } from './cron-service.ts';

type CronNeeds = Omit<CronServiceDeps, 'dream' | 'summarise'> & { dreamer: Lazy<Dreamer>; dailySummaries: Lazy<DailySummaries> };

/** The scheduler: needed once there are jobs, or while dreaming, daily summaries or the heartbeat are enabled. */
export const cronModule = defineModule<CronNeeds>()({
  name: 'cron',
  needs: [
    'vault',
    'hub',
    'clock',
    'sync',
    'runs',
    'agents',
    'labels',
    'events',
    'settings',
    'timeZone',
    'log',
    'dreamer',
    'dailySummaries',
    'deliveries',
    'models',
    'findSmallModel',
    'fault',
  ],
  load: async ({ dreamer, dailySummaries, ...needs }) =>
    new (await import('./cron-service.ts')).CronService({
      ...needs,
      dream: async (agentId) => (await dreamer.load()).runScheduled(agentId),
      summarise: async (agentId) => (await dailySummaries.load()).summarisePastDays(agentId),
    }),
  wakeOn: {
    async if({ settings, vault }) {
      const { heartbeat, dreaming, memory } = settings();
      const isOn = [heartbeat, dreaming, memory.daily_summaries].some(({ enabled }) => enabled);
      return isOn || (await vault.collection('jobs').list()).length > 0;
    },
    // Another host may add the first job.
    changes: ['jobs'],
  },
  refresh: (cron) => cron.refresh(),
  // Existing jobs and runs can still be read.
  drain: async (cron) => cron.stop(),
  stop: (cron) => cron.stop(),
});
