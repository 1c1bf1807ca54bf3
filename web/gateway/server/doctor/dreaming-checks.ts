import { toClause } from '#shared/clause.ts';
import { getTicks } from '#shared/cron-schedule.ts';
import { findScheduleProblem } from '../../agent/knowledge/dreamer/dreaming-jobs.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';

/** Time after a scheduled run without a record at which the schedule counts as not working. */
const MAX_DELAY_MS = 2 * 24 * 3_600_000;

/** Whether memory is consolidated as scheduled. */
export const dreamingChecks = ({ config, clock, vault }: DoctorDeps): HealthCheck[] => [
  {
    id: 'dreaming',
    title: 'Dreaming',
    async run() {
      const invalidSettings = config.faults.misfits.filter((path) => path.split('.')[0] === 'dreaming');
      if (invalidSettings.length > 0)
        return reportProblem(
          'warning',
          `Dreaming is off because these settings are invalid: ${invalidSettings.join(', ')}.`,
          'Set each of them again with `config.set` (null resets it).',
        );
      if (!config.settings.dreaming.enabled) return null;
      const problem = findScheduleProblem(config.settings, clock.now());
      if (problem !== undefined)
        return reportProblem(
          'error',
          `The dreaming schedule is invalid. ${problem}`,
          'Set another schedule in Dreaming (`config.set` with the key `dreaming.cron`).',
        );
      const jobs = (await vault.collection('jobs').list()).filter(({ system }) => system === 'dreaming');
      if (jobs.length === 0) return reportProblem('info', 'Dreaming is on, but no agent has memory turned on.');
      const reports = await Promise.all(
        jobs.map(async ({ id, since, agentId, enabled, schedule }) => {
          const runs = (await vault.collection('jobRuns').list(`${id}@`)).sort((a, b) => a.startedAt - b.startedAt);
          const newest = runs.findLast(({ status }) => status !== 'running');
          if (newest?.status === 'failed') return `the last run for ${agentId} failed (${toClause(newest.error ?? 'unknown reason')})`;
          // The first scheduled time after the last recorded run.
          const due = getTicks(schedule, since, 'UTC').after(Math.max(since, runs.at(-1)?.scheduledAt ?? 0));
          return enabled && due !== null && clock.now() - due > MAX_DELAY_MS
            ? `no run for ${agentId} since ${new Date(due).toISOString()}`
            : [];
        }),
      );
      const problems = reports.flat();
      if (problems.length === 0) return reportOk('Dreaming runs on schedule.');
      return reportProblem(
        'warning',
        `Dreaming: ${problems.join('; ')}.`,
        'Check the logs (`logs.tail`), or run it now in Dreaming (`dreaming.run`).',
      );
    },
  },
];
