import type { JobRun } from '#shared/rpc/methods/cron.ts';

export const isFailure = (status: JobRun['status'] | null): boolean => status === 'failed' || status === 'timeout';
