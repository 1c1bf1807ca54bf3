import { scheduleText } from '#shared/cron/schedule-text.ts';
import { cronInWords } from '#shared/cron/words.ts';
import type { Job } from '#shared/rpc/methods/cron.ts';
import type { MethodResult } from '#shared/rpc/methods/index.ts';
import { ticksOf } from '../cron/schedule.ts';
import type { Settings } from '../settings.ts';
import type { Dreamer } from './dreamer.ts';
import { dreamersOf, dreamingJobId, scheduleProblem } from './jobs.ts';
import { type Agents, workspaceOf } from '../agents.ts';

const MOST_PROBLEMS = 20;

export interface StatusDeps {
  dreamer: Dreamer;
  agents: Agents;
  settings(): Settings;
  timeZone(): string;
  jobs(): Promise<readonly Job[]>;
  now(): number;
}

/** Status of dreaming for an agent. */
export async function statusOf(
  agentId: string,
  { dreamer, agents, settings, timeZone, jobs, now }: StatusDeps,
): Promise<MethodResult<'dreaming.status'>> {
  const place = await dreamer.place(agentId);
  const { phases, config } = dreamer.phases(place);
  const { enabled, cron } = settings().dreaming;
  const remembers = dreamersOf(agents).some((agent) => workspaceOf(agent) === place.name);
  const problem = scheduleProblem(settings(), now());
  const next = async (): Promise<number | null> => {
    if (!enabled || !remembers || problem !== undefined) return null;
    const kept = (await jobs()).find(({ id, enabled: on }) => on && id === dreamingJobId(place.name));
    // The settings may be newer than the job, which is updated after them.
    const job = kept && scheduleText(kept.schedule) === cron ? kept : undefined;
    return job ? job.nextRunAt : ticksOf({ kind: 'cron', expr: cron, tz: config.timezone }, 0, timeZone()).after(now());
  };
  const [{ runs, problems }, { total }, waiting, broken] = await Promise.all([
    dreamer.runs(place, 100),
    phases.signals.getStats(),
    phases.review.pending(),
    phases.signals.brokenLines(),
  ]);
  const { limit, minScore, minRecallCount, minUniqueQueries, recencyHalfLifeDays, maxAgeDays, storage, promotion } = config;
  return {
    agentId,
    workspace: place.name,
    enabled,
    remembers,
    schedule: {
      cron,
      timezone: config.timezone,
      words: cronInWords(cron),
      nextRunAt: await next(),
      ...(problem === undefined ? {} : { problem }),
    },
    limits: { limit, minScore, minRecallCount, minUniqueQueries, recencyHalfLifeDays, maxAgeDays, storage, promotion },
    weights: { ...config.scoringWeights },
    running: runs.find(({ state }) => state === 'running') ?? null,
    lastRun: runs.find(({ state }) => state !== 'running') ?? null,
    signals: total,
    waiting: waiting.length,
    problems: [...broken, ...problems].slice(0, MOST_PROBLEMS),
  };
}
