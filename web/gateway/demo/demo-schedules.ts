import type { GatewayClient } from '#shared/client/client.ts';
import type { MethodParams } from '#shared/rpc/methods/index.ts';
import type { Vault } from '../storage/vault-interface.ts';
import { createMorningRuns } from './demo-records.ts';
import { DAY_MS } from './demo-time.ts';

const createSchedules = (now: number): MethodParams<'cron.add'>[] => [
  { name: 'Morning lake check', cron: '0 8 * * 1-5', message: 'Summarise what the wiki says about herons.' },
  {
    name: 'Friday summary for the club',
    cron: '0 16 * * 5',
    message: 'Write three sentences about this week at the lake.',
    agentId: 'editor',
  },
  {
    name: 'Send the numbers to the bird club',
    schedule: { kind: 'at', at: now + 12 * DAY_MS },
    message: 'Draft a mail to the bird club with the spring count.',
  },
  { name: 'Weather on count days', cron: '0 6 25,28 3 *', message: 'Is it calm and dry enough to count?', enabled: false },
];

/** Adds schedules; the first has run for weeks. */
export async function seedSchedules(client: GatewayClient, vault: Vault, now: number): Promise<void> {
  const { jobs } = await client.call('cron.list', {});
  for (const [index, schedule] of createSchedules(now).entries()) {
    if (jobs.some(({ name }) => name === schedule.name)) continue;
    const { jobId } = await client.call('cron.add', schedule);
    if (index === 0) await vault.writeAll(createMorningRuns(jobId, now));
  }
}
