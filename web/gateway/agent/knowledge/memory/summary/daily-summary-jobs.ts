import { type Agents, getWorkspaceName } from '../../../agents.ts';
import type { SystemJob } from '../../../../system/system-jobs.ts';
import { getDreamingAgents } from '../../dreamer/dreaming-jobs.ts';
import type { Settings } from '../../../../config/settings-schema.ts';

/** Shortly after midnight in the user's time zone, when the last messages have been answered. */
const AFTER_MIDNIGHT = '10 0 * * *';

/** Jobs that summarise past days, one per workspace with a memory. A missed run is made up for once. */
export function createDailySummaryJobs({ memory }: Pick<Settings, 'memory'>, agents: Pick<Agents, 'list'>): SystemJob[] {
  return getDreamingAgents(agents).map((agent) => ({
    id: `summaries-${getWorkspaceName(agent)}`,
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
