import { cronContracts } from '#shared/rpc/methods/cron-contracts.ts';
import { requirePerson } from '../../system/person.ts';
import type { CronService } from './cron-service.ts';
import { defineMethods } from '../../system/methods.ts';
import type { Lazy } from '../../system/modules.ts';

export const cronMethods = defineMethods(cronContracts)(({ cron }: { cron: Lazy<CronService> }) => ({
  'cron.list': async () => {
    const jobs = await (await cron.load()).jobs.list();
    return { jobs, count: jobs.length };
  },
  'cron.add': async ({ idempotencyKey: _, ...input }, caller) => {
    if (input.outsideGrant) requirePerson(caller, 'allow changes after reading from outside');
    const job = await (await cron.load()).jobs.add({ ...input, by: caller.principal });
    return { jobId: job.id, ok: true, job };
  },
  'cron.update': async ({ id, ...change }, caller) => {
    if (change.outsideGrant) requirePerson(caller, 'allow changes after reading from outside');
    return { job: await (await cron.load()).jobs.update(id, change, caller.principal) };
  },
  'cron.toggle': async ({ id, enabled }) => {
    await (await cron.load()).jobs.toggle(id, enabled);
    return { ok: true, enabled };
  },
  'cron.remove': async ({ id }) => {
    await (await cron.load()).jobs.remove(id);
    return { ok: true };
  },
  'cron.run': async ({ id }) => ({ ok: true, record: await (await cron.load()).run(id) }),
  'cron.heartbeat': async () => (await cron.load()).getHeartbeat(),
  'cron.history': async ({ jobId, limit }) => {
    const records = await (await cron.load()).jobs.history(jobId, limit);
    return { records, count: records.length };
  },
}));
