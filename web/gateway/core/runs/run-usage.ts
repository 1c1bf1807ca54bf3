import type { UsageRecord } from '../vault.ts';
import type { Share } from './generate.ts';

/** What a run has used, by model, the one that was asked last being the last; its record has the run's own id. */
export const usageOf = (
  runId: string,
  shares: readonly Share[],
  about: Pick<UsageRecord, 'at' | 'sessionKey' | 'principal'>,
): UsageRecord[] =>
  shares.map(({ key, usage }, index) => {
    const [provider = ''] = key.split('/', 1);
    return { id: index === shares.length - 1 ? runId : `${runId}-${index}`, provider, model: key, usage, ...about };
  });
