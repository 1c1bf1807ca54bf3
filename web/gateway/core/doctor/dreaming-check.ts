import { toClause } from '#shared/clause.ts';
import { ticksOf } from '../cron/schedule.ts';
import { scheduleProblem } from '../dreamer/jobs.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

/** Time after a scheduled run without a record at which the schedule counts as not working. */
const LATE_MS = 2 * 24 * 3_600_000;

/** Whether memory is consolidated as scheduled. */
export const dreamingChecks = ({ config, clock, vault }: DoctorDeps): Check[] => [
  {
    id: 'dreaming',
    title: 'Dreaming',
    async look() {
      const misfits = config.faults.misfits.filter((path) => path.split('.')[0] === 'dreaming');
      if (misfits.length > 0)
        return wrong(
          'warning',
          `Dreaming is off because these settings are invalid: ${misfits.join(', ')}.`,
          'Set each of them again with `config.set` (null resets it).',
        );
      if (!config.settings.dreaming.enabled) return null;
      const problem = scheduleProblem(config.settings, clock.now());
      if (problem !== undefined)
        return wrong(
          'error',
          `The dreaming schedule is invalid. ${problem}`,
          'Set another schedule in Dreaming (`config.set` with the key `dreaming.cron`).',
        );
      const jobs = (await vault.collection('jobs').list()).filter(({ system }) => system === 'dreaming');
      if (jobs.length === 0) return wrong('info', 'Dreaming is on, but no agent has memory turned on.');
      const told = await Promise.all(
        jobs.map(async ({ id, since, agentId, enabled, schedule }) => {
          const runs = (await vault.collection('jobRuns').list(`${id}@`)).sort((a, b) => a.startedAt - b.startedAt);
          const newest = runs.findLast(({ status }) => status !== 'running');
          if (newest?.status === 'failed') return `the last run for ${agentId} failed (${toClause(newest.error ?? 'unknown reason')})`;
          // The first scheduled time after the last recorded run.
          const due = ticksOf(schedule, since, 'UTC').after(Math.max(since, runs.at(-1)?.scheduledAt ?? 0));
          return enabled && due !== null && clock.now() - due > LATE_MS ? `no run for ${agentId} since ${new Date(due).toISOString()}` : [];
        }),
      );
      const wrongs = told.flat();
      if (wrongs.length === 0) return fine('Dreaming runs on schedule.');
      return wrong(
        'warning',
        `Dreaming: ${wrongs.join('; ')}.`,
        'Check the logs (`logs.tail`), or run it now in Dreaming (`dreaming.run`).',
      );
    },
  },
];
