import type { Agent, Agents } from '../agents.ts';
import { workspaceOf } from '../agents.ts';
import { checkSchedule } from '../cron/schedule.ts';
import type { SystemJob } from '../cron/system-jobs.ts';
import type { Settings } from '../settings.ts';

/** Agents that dream, one per workspace, because agents of one workspace share its memory. `main` goes first, then by id. */
export function dreamersOf(agents: Pick<Agents, 'list'>): Agent[] {
  const taken = new Set<string>();
  return agents.list().filter((agent) => {
    const workspace = workspaceOf(agent);
    if (agent.config.memory === false || taken.has(workspace)) return false;
    taken.add(workspace);
    return true;
  });
}

/** Id of the job that consolidates a workspace. */
export const dreamingJobId = (workspace: string): string => `dreaming-${workspace}`;

/** Why the configured schedule is invalid; undefined if it is valid. */
export function scheduleProblem({ dreaming: { cron, timezone } }: Pick<Settings, 'dreaming'>, now: number): string | undefined {
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
export function dreamingJobs(settings: Settings, agents: Pick<Agents, 'list'>, now: number): SystemJob[] {
  const { enabled, cron, timezone } = settings.dreaming;
  const isKept = enabled && scheduleProblem(settings, now) === undefined;
  return dreamersOf(agents).map((agent) => ({
    id: dreamingJobId(workspaceOf(agent)),
    name: `Dreaming: ${agent.name}`,
    enabled: isKept,
    schedule: { kind: 'cron', expr: cron, ...(timezone === undefined ? {} : { tz: timezone }) },
    message: 'Consolidate memory (light, REM, deep)',
    agentId: agent.id,
    sessionTarget: 'isolated',
    catchUp: true,
    system: 'dreaming',
  }));
}
