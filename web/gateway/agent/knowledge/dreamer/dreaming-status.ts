import { formatSchedule } from '#shared/cron/format-schedule.ts';
import { describeCronInEnglish } from '#shared/cron/cron-in-english.ts';
import type { CronJob } from '#shared/rpc/methods/cron-contracts.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { getTicks } from '#shared/cron-schedule.ts';
import type { Settings } from '../../../config/settings-schema.ts';
import type { Dreamer } from './dreamer.ts';
import { getDreamingAgents, toDreamingJobId, findScheduleProblem } from './dreaming-jobs.ts';
import { type Agents, getWorkspaceName } from '../../agents.ts';

const MAX_PROBLEMS = 20;

interface DreamingStatusDeps {
  dreamer: Dreamer;
  agents: Agents;
  settings(): Settings;
  timeZone(): string;
  jobs(): Promise<readonly CronJob[]>;
  now(): number;
}

/** Status of dreaming for an agent. */
export async function getDreamingStatus(
  agentId: string,
  { dreamer, agents, settings, timeZone, jobs, now }: DreamingStatusDeps,
): Promise<MethodResult<'dreaming.status'>> {
  const target = await dreamer.openWorkspace(agentId);
  const { phases, config } = dreamer.getPhases(target);
  const { enabled, cron } = settings().dreaming;
  const remembers = getDreamingAgents(agents).some((agent) => getWorkspaceName(agent) === target.name);
  const problem = findScheduleProblem(settings(), now());
  const next = async (): Promise<number | null> => {
    if (!enabled || !remembers || problem !== undefined) return null;
    const enabledJob = (await jobs()).find(({ id, enabled: isEnabled }) => isEnabled && id === toDreamingJobId(target.name));
    // The settings may be newer than the job, which is updated after them.
    const job = enabledJob && formatSchedule(enabledJob.schedule) === cron ? enabledJob : undefined;
    return job ? job.nextRunAt : getTicks({ kind: 'cron', expr: cron, tz: config.timezone }, 0, timeZone()).after(now());
  };
  const [{ runs, problems }, { total }, waiting, broken] = await Promise.all([
    dreamer.listRuns(target, 100),
    phases.signals.getStats(),
    phases.review.pending(),
    phases.signals.brokenLines(),
  ]);
  const { limit, minScore, minRecallCount, minUniqueQueries, recencyHalfLifeDays, maxAgeDays, storage, promotion, exam } = config;
  return {
    agentId,
    workspace: target.name,
    enabled,
    remembers,
    schedule: {
      cron,
      timezone: config.timezone,
      words: describeCronInEnglish(cron),
      nextRunAt: await next(),
      ...(problem === undefined ? {} : { problem }),
    },
    limits: { limit, minScore, minRecallCount, minUniqueQueries, recencyHalfLifeDays, maxAgeDays, storage, promotion, exam },
    weights: { ...config.scoringWeights },
    running: runs.find(({ state }) => state === 'running') ?? null,
    lastRun: runs.find(({ state }) => state !== 'running') ?? null,
    signals: total,
    waiting: waiting.length,
    problems: [...broken, ...problems].slice(0, MAX_PROBLEMS),
  };
}
