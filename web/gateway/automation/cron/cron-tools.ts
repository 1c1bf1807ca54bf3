import { formatSchedule } from '#shared/cron/format-schedule.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { CronJob, ScheduleInput } from '#shared/rpc/methods/cron-contracts.ts';
import { z } from '#shared/rpc/zod.ts';
import type { CronService } from './cron-service.ts';
import { defineTool } from '../../agent/tools/define-tool.ts';
import type { Tool } from '../../agent/tools/tool-registry.ts';
import type { Lazy } from '../../system/modules.ts';

const toIso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

const toJobSummary = (job: CronJob) => ({
  id: job.id,
  name: job.name,
  schedule: formatSchedule(job.schedule),
  message: job.message,
  enabled: job.enabled,
  nextRunAt: toIso(job.nextRunAt),
  lastRunAt: toIso(job.lastRunAt),
  lastStatus: job.lastStatus,
});

interface ScheduleArgs {
  cron?: string | undefined;
  timeZone?: string | undefined;
  everyMinutes?: number | undefined;
  at?: string | undefined;
}

/** The schedule of a call. Throws `INVALID_PARAMS` if there is none or more than one. */
function toSchedule({ cron: expr, timeZone, everyMinutes, at }: ScheduleArgs): ScheduleInput {
  const tz = timeZone === undefined ? {} : { tz: timeZone };
  const schedules: ScheduleInput[] = [
    ...(expr === undefined ? [] : [{ kind: 'cron' as const, expr: expr.trim(), ...tz }]),
    ...(everyMinutes === undefined ? [] : [{ kind: 'every' as const, everyMs: everyMinutes * 60_000 }]),
    ...(at === undefined ? [] : [{ kind: 'at' as const, at, ...tz }]),
  ];
  const [schedule] = schedules;
  if (!schedule || schedules.length > 1) throw new RpcError('INVALID_PARAMS', 'Provide exactly one of cron, everyMinutes and at.');
  return schedule;
}

/** Tools for an agent to schedule its own jobs; it cannot see or remove others. */
export function cronTools(cron: Lazy<CronService>): Tool[] {
  /** The job service, if the job belongs to the agent. Throws `NOT_FOUND`. */
  const ownJobs = async (id: string, agentId: string): Promise<CronService['jobs']> => {
    const { jobs } = await cron.load();
    const own = (await jobs.list()).some((job) => job.id === id && job.agentId === agentId);
    if (!own) throw new RpcError('NOT_FOUND', `You have no job with id "${id}". Call cron_list to get ids.`);
    return jobs;
  };
  return [
    defineTool({
      name: 'cron_add',
      title: 'Add schedule',
      summary: 'Schedules a message to the agent, once or repeatedly.',
      description:
        'Schedules a message to yourself: a reminder or a task for later, once or repeatedly. Give one of cron, everyMinutes and at.',
      source: 'core',
      scope: 'automation',
      params: z.strictObject({
        message: z.string().min(1).max(10_000).describe('Your task at that time, with all details'),
        name: z.string().trim().min(1).max(200).optional(),
        cron: z.string().min(1).max(200).optional().describe('Minute, hour, day, month, weekday, such as "0 9 * * MON-FRI"'),
        timeZone: z
          .string()
          .min(1)
          .max(100)
          .optional()
          .describe('Of cron or at, such as Europe/Berlin. Default for cron: the configured one'),
        everyMinutes: z.number().int().min(1).max(500_000).optional(),
        at: z.iso
          .datetime({ offset: true, local: true })
          .optional()
          .describe('Once, such as "2026-05-01T09:00:00+02:00", or with timeZone instead of the offset'),
        inMainSession: z.boolean().default(false).describe('Run in your main chat, not in a new one'),
      }),
      // The job runs unattended.
      effect: ({ message, cron: expr, everyMinutes, at }) =>
        `Schedule (${expr ?? at ?? `every ${everyMinutes ?? '?'} minutes`}): ${message}`,
      check: async (scheduleArgs) => (await cron.load()).jobs.parseSchedule(toSchedule(scheduleArgs), 'schedule'),
      async run({ message, name, inMainSession, ...scheduleArgs }, { agentId, principal, actsFor: by = principal }) {
        const schedule = toSchedule(scheduleArgs);
        const sessionTarget = inMainSession ? 'main' : 'isolated';
        const { jobs } = await cron.load();
        return toJobSummary(await jobs.add({ schedule, message, name, agentId, sessionTarget, catchUp: false, enabled: true, by }));
      },
    }),
    defineTool({
      name: 'cron_list',
      title: 'List schedules',
      summary: 'Lists the agent’s schedules.',
      description: 'Lists your schedules and reminders.',
      source: 'core',
      scope: 'automation',
      params: z.strictObject({}),
      impact: 'reads',
      run: async (_args, { agentId }) => {
        const all = await (await cron.load()).jobs.list();
        return { jobs: all.filter((job) => job.agentId === agentId).map(toJobSummary) };
      },
    }),
    defineTool({
      name: 'cron_remove',
      title: 'Delete schedule',
      summary: 'Deletes one of the agent’s schedules.',
      description: 'Deletes a schedule or reminder by its id from cron_list.',
      source: 'core',
      scope: 'automation',
      params: z.strictObject({ id: z.string().min(1).max(128) }),
      // The job may have been created by the user.
      effect: ({ id }) => `Delete the schedule ${id}`,
      check: ({ id }, { agentId }) => ownJobs(id, agentId),
      async run({ id }, { agentId }) {
        const jobs = await ownJobs(id, agentId);
        await jobs.remove(id);
        return { removed: id };
      },
    }),
  ];
}
