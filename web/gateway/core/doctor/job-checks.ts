import type { JobDefinition } from '#shared/rpc/methods/cron.ts';
import { MAIN } from '../agents.ts';
import { type MessageRecord, sessionKey } from '../vault.ts';
import { type Check, type DoctorDeps, fine, wrong } from './deps.ts';

/** Maximum number of messages of a job's last run that are examined. */
const MAX_MESSAGES = 200;
const OUTSIDE_TOOLS = /^(web_fetch$|browser_|mcp(__|:))/;

/** Whether jobs that read from outside have a grant for the changes that they make then: nobody is there to approve them. */
export const jobChecks = ({ vault, tools }: DoctorDeps): Check[] => [
  {
    id: 'jobs',
    title: 'Schedules',
    async look() {
      const jobs = (await vault.collection('jobs').list()).filter(
        ({ system, outsideGrant, enabled }) => !system && enabled && !outsideGrant,
      );
      if (jobs.length === 0) return null;
      await tools.ready();
      const changing = new Set(
        tools.list().flatMap(({ name, modelName = name, effect, impact }) => (effect || !impact ? [name, modelName] : [])),
      );
      const wanting = await Promise.all(
        jobs.map(async (job) => {
          const used = changesAfterReading(await lastRun(vault, job), changing);
          return used.length > 0 ? `${job.name} (${used.join(', ')})` : [];
        }),
      );
      const found = wanting.flat();
      if (found.length === 0) return fine('No schedule needs permission for changes after reading from outside.');
      return wrong(
        'warning',
        `These schedules made changes after reading from outside, which now wait for approval: ${found.join('; ')}.`,
        'Edit each schedule and choose what it may change after reading from outside.',
      );
    },
  },
];

async function lastRun(vault: DoctorDeps['vault'], { id, agentId }: JobDefinition): Promise<MessageRecord[]> {
  const runs = await vault.collection('jobRuns').list(`${id}@`);
  const last = runs.filter(({ sessionId }) => sessionId !== undefined).sort((a, b) => b.startedAt - a.startedAt)[0];
  if (last?.sessionId === undefined) return [];
  const key = sessionKey(last.agentId ?? agentId ?? MAIN, last.sessionId);
  return (await vault.messages.branch(key, { limit: MAX_MESSAGES, most: 0 })).messages;
}

/** Names of tools with effects that were called after outside content had been read. */
function changesAfterReading(messages: readonly MessageRecord[], changing: ReadonlySet<string>): string[] {
  const names = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ tool }) => tool));
  const from = names.findIndex((name) => OUTSIDE_TOOLS.test(name));
  return from === -1 ? [] : [...new Set(names.slice(from + 1).filter((name) => changing.has(name) && name !== 'web_fetch'))];
}
