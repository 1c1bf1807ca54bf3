import type { UsageReceipt } from '#shared/link/splice.ts';
import { guessUsage } from '../../providers/estimate-usage.ts';
import type { Providers } from '../../providers/providers.ts';
import type { UsageRecord, Vault } from '../../storage/vault-interface.ts';

export interface ReceiptsDeps {
  providers: Pick<Providers, 'addCost'>;
  usage: Pick<Vault['usage'], 'addStrict'>;
  /** Logs requests that the host has not seen. */
  note?: (message: string, fields: Record<string, unknown>) => void;
}

/**
 * Stores the usage of spliced calls; resolves once it is stored. The same receipt may arrive several times, even at another host: it counts
 * once, by its id.
 */
export async function storeReceipts(receipts: UsageReceipt[], { providers, usage, note }: ReceiptsDeps): Promise<void> {
  const records = receipts.map(async ({ call, endedAt, usage: reported, chars }): Promise<UsageRecord> => {
    const { id, provider, model, principal, inputTokens, requestId } = call;
    if (requestId !== undefined) note?.('Answered by a cached route', { requestId, principal, model, status: 200 });
    const usageWithCost = await providers.addCost(model, reported ?? guessUsage(inputTokens, chars));
    return { id, at: endedAt, provider, model, principal, usage: usageWithCost, sessionKey: null };
  });
  await usage.addStrict(await Promise.all(records));
}
