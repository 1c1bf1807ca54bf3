import type { CronJobDefinition } from '#shared/rpc/methods/cron-contracts.ts';
import { MAIN_AGENT_ID } from '../../config/main-agent.ts';
import { type MessageRecord, toSessionKey } from '../../storage/chat-records.ts';
import { type HealthCheck, type DoctorDeps, reportOk, reportProblem } from './doctor-deps.ts';

/** Maximum number of messages of a job's last run that are examined. */
const MAX_MESSAGES = 200;
const OUTSIDE_TOOLS = /^(web_fetch$|browser_|mcp(__|:))/;

/** Whether jobs that read from outside have a grant for the changes that they make then: nobody is there to approve them. */
export const jobChecks = ({ vault, tools }: DoctorDeps): HealthCheck[] => [
  {
    id: 'jobs',
    title: 'Schedules',
    async run() {
      const jobs = (await vault.collection('jobs').list()).filter(
        ({ system, outsideGrant, enabled }) => !system && enabled && !outsideGrant,
      );
      if (jobs.length === 0) return null;
      await tools.loadAll();
      const toolsWithEffects = new Set(
        tools.list().flatMap(({ name, modelName = name, effect, impact }) => (effect || !impact ? [name, modelName] : [])),
      );
      const affected = await Promise.all(
        jobs.map(async (job) => {
          const calledTools = findChangesAfterReading(await readLastRun(vault, job), toolsWithEffects);
          return calledTools.length > 0 ? `${job.name} (${calledTools.join(', ')})` : [];
        }),
      );
      const found = affected.flat();
      if (found.length === 0) return reportOk('No schedule needs permission for changes after reading from outside.');
      return reportProblem(
        'warning',
        `These schedules made changes after reading from outside, which now wait for approval: ${found.join('; ')}.`,
        'Edit each schedule and choose what it may change after reading from outside.',
      );
    },
  },
];

async function readLastRun(vault: DoctorDeps['vault'], { id, agentId }: CronJobDefinition): Promise<MessageRecord[]> {
  const runs = await vault.collection('jobRuns').list(`${id}@`);
  const last = runs.filter(({ sessionId }) => sessionId !== undefined).sort((a, b) => b.startedAt - a.startedAt)[0];
  if (last?.sessionId === undefined) return [];
  const key = toSessionKey(last.agentId ?? agentId ?? MAIN_AGENT_ID, last.sessionId);
  return (await vault.messages.branch(key, { limit: MAX_MESSAGES, most: 0 })).messages;
}

/** Names of tools with effects that were called after outside content had been read. */
function findChangesAfterReading(messages: readonly MessageRecord[], toolsWithEffects: ReadonlySet<string>): string[] {
  const names = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ tool }) => tool));
  const from = names.findIndex((name) => OUTSIDE_TOOLS.test(name));
  return from === -1 ? [] : [...new Set(names.slice(from + 1).filter((name) => toolsWithEffects.has(name) && name !== 'web_fetch'))];
}
