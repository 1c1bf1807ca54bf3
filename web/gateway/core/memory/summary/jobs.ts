import { type Agents, workspaceOf } from '../../agents.ts';
import type { SystemJob } from '../../cron/system-jobs.ts';
import { dreamersOf } from '../../dreamer/jobs.ts';
import type { Settings } from '../../settings.ts';

/** Shortly after midnight in the user's time zone, when the last messages have been answered. */
const AFTER_MIDNIGHT = '10 0 * * *';

/** Jobs that summarise past days, one per workspace with a memory. A missed run is made up for once. */
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
