import { type Agents, workspaceOf } from '../../agents.ts';
import type { SystemJob } from '../../cron/system-jobs.ts';
import { dreamersOf } from '../../dreamer/jobs.ts';
import type { Settings } from '../../settings.ts';

/** Soon after midnight in the person's time zone: by then what was said last is answered. */
const AFTER_MIDNIGHT = '10 0 * * *';

/** The jobs that summarise days that are over, one for each workspace with a memory: a tick that nobody was there for is done on return, once. */
export function dailySummaryJobs({ memory }: Pick<Settings, 'memory'>, agents: Pick<Agents, 'list'>): SystemJob[] {
  return dreamersOf(agents).map((agent) => ({
    id: `summaries-${workspaceOf(agent)}`,
    name: `Daily summaries: ${agent.name}`,
    enabled: memory.daily_summaries.enabled,
    schedule: { kind: 'cron', expr: AFTER_MIDNIGHT },
    message: 'Summarise past days',
    agentId: agent.id,
    sessionTarget: 'isolated',
    catchUp: true,
    system: 'summaries',
  }));
}
