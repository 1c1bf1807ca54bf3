import type { Agent, Agents } from '../../agents.ts';
import { getWorkspaceName } from '../../agents.ts';
import { checkSchedule } from '#shared/cron-schedule.ts';
import type { SystemJob } from '../../../system/system-jobs.ts';
import type { Settings } from '../../../config/settings-schema.ts';

/** Agents that dream, one per workspace, because agents of one workspace share its memory. `main` goes first, then by id. */
export function getDreamingAgents(agents: Pick<Agents, 'list'>): Agent[] {
  const usedIds = new Set<string>();
  return agents.list().filter((agent) => {
    const workspace = getWorkspaceName(agent);
    if (agent.config.memory === false || usedIds.has(workspace)) return false;
    usedIds.add(workspace);
    return true;
  });
}

/** Id of the job that consolidates a workspace. */
export const toDreamingJobId = (workspace: string): string => `dreaming-${workspace}`;

/** Why the configured schedule is invalid; undefined if it is valid. */
export function findScheduleProblem({ dreaming: { cron, timezone } }: Pick<Settings, 'dreaming'>, now: number): string | undefined {
  try {
    checkSchedule({ kind: 'cron', expr: cron, ...(timezone === undefined ? {} : { tz: timezone }) }, now, 'dreaming.cron');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Jobs that consolidate memory, according to the settings. A missed run is made up for once. With an invalid schedule the jobs exist but
 * are disabled.
 */
export function createDreamingJobs(settings: Settings, agents: Pick<Agents, 'list'>, now: number): SystemJob[] {
  const { enabled, cron, timezone } = settings.dreaming;
  const isEnabled = enabled && findScheduleProblem(settings, now) === undefined;
  return getDreamingAgents(agents).map((agent) => ({
    id: toDreamingJobId(getWorkspaceName(agent)),
    name: `Dreaming: ${agent.name}`,
    enabled: isEnabled,
    schedule: { kind: 'cron', expr: cron, ...(timezone === undefined ? {} : { tz: timezone }) },
    message: 'Consolidate memory (light, REM, deep)',
    agentId: agent.id,
    sessionTarget: 'isolated',
    catchUp: true,
    system: 'dreaming',
  }));
}
