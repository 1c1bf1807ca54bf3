import type { Receipt } from '#shared/link/splice.ts';
import { guessed } from '../providers/estimate.ts';
import type { Providers } from '../providers/providers.ts';
import type { UsageRecord, Vault } from '../vault.ts';

export interface ReceiptsDeps {
  providers: Pick<Providers, 'priced'>;
  usage: Pick<Vault['usage'], 'keep'>;
  /** Logs requests that the host has not seen. */
  note?: (message: string, fields: Record<string, unknown>) => void;
}

/**
 * Stores the usage of spliced calls; resolves once it is stored. The same receipt may arrive several times, even at another host: it counts
 * once, by its id.
 */
export async function keepReceipts(given: Receipt[], { providers, usage, note }: ReceiptsDeps): Promise<void> {
  const records = given.map(async ({ call, endedAt, usage: told, chars }): Promise<UsageRecord> => {
    const { id, provider, model, principal, inputTokens, requestId } = call;
    if (requestId !== undefined) note?.('Answered by a cached route', { requestId, principal, model, status: 200 });
    const priced = await providers.priced(model, told ?? guessed(inputTokens, chars));
    return { id, at: endedAt, provider, model, principal, usage: priced, sessionKey: null };
  });
  await usage.keep(await Promise.all(records));
}
