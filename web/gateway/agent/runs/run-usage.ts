import type { UsageRecord } from '../../storage/vault-interface.ts';
import type { ModelUsage } from './generate.ts';

/** Usage records of a run, one per model, ending with the model called last, whose record has the run's own id. */
export const toUsageRecords = (
  runId: string,
  shares: readonly ModelUsage[],
  fields: Pick<UsageRecord, 'at' | 'sessionKey' | 'principal' | 'jobId' | 'parentScopes'>,
): UsageRecord[] =>
  shares.map(({ key, usage }, index) => {
    const [provider = ''] = key.split('/', 1);
    return { id: index === shares.length - 1 ? runId : `${runId}-${index}`, provider, model: key, usage, ...fields };
  });
