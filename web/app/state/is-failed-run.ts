import type { CronRun } from '#shared/rpc/methods/cron-contracts.ts';

export const isFailedRun = (status: CronRun['status'] | null): boolean => status === 'failed' || status === 'timeout';
