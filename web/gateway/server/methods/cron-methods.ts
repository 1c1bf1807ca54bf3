import type { cronContracts } from '#shared/rpc/methods/cron-contracts.ts';
import { requirePerson } from '../../system/person.ts';
import type { CronService } from '../../automation/cron/cron-service.ts';
import type { Handlers } from '../dispatch.ts';

export const cronMethods = ({ cron: load }: { cron(): Promise<CronService> }): Handlers<typeof cronContracts> => ({
  'cron.list': async () => {
    const jobs = await (await load()).jobs.list();
    return { jobs, count: jobs.length };
  },
  'cron.add': async ({ idempotencyKey: _, ...input }, caller) => {
    if (input.outsideGrant) requirePerson(caller, 'allow changes after reading from outside');
    const job = await (await load()).jobs.add({ ...input, by: caller.principal });
    return { jobId: job.id, ok: true, job };
  },
  'cron.update': async ({ id, ...change }, caller) => {
    if (change.outsideGrant) requirePerson(caller, 'allow changes after reading from outside');
    return { job: await (await load()).jobs.update(id, change, caller.principal) };
  },
  'cron.toggle': async ({ id, enabled }) => {
    await (await load()).jobs.toggle(id, enabled);
    return { ok: true, enabled };
  },
  'cron.remove': async ({ id }) => {
    await (await load()).jobs.remove(id);
    return { ok: true };
  },
  'cron.run': async ({ id }) => ({ ok: true, record: await (await load()).run(id) }),
  'cron.history': async ({ jobId, limit }) => {
    const records = await (await load()).jobs.history(jobId, limit);
    return { records, count: records.length };
  },
});
