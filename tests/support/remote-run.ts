import type { GatewayClient } from '#shared/client/client.ts';
import type { Vault } from '../../web/gateway/storage/vault-interface.ts';
import type { RunRecord } from '../../web/gateway/storage/chat-records.ts';
import { storeQuestion } from '../../web/gateway/storage/fixture.ts';
import { FakeClock } from './fake-clock.ts';
import type { FakeSync } from './fake-sync.ts';
import { type TestGateway, createTestGateway } from './test-gateway.ts';

export const getHistory = async (client: GatewayClient) => (await client.call('chat.history', { sessionId: 'main' })).messages;

/** Whether the run was ended by a host that found it. */
export const isInterrupted = async (client: GatewayClient): Promise<boolean> => (await getHistory(client)).at(-1)?.interrupted === true;

/** A gateway whose vault has a run that another host executes; `change` overrides fields of its record. */
export async function createGatewayWithRun(
  options: {
    sync?: FakeSync;
    clock?: FakeClock;
    change?: Partial<RunRecord>;
    runs?: (vault: Vault) => Partial<Vault['runs']>;
    vault?: Partial<Vault>;
  } = {},
): Promise<TestGateway & { baseGateway: TestGateway }> {
  const clock = options.clock ?? new FakeClock();
  const base = await createTestGateway({ clock });
  await storeQuestion(base.vault, 'q');
  const change = { executor: 'elsewhere', replica: 'another', ...options.change };
  const runs: Vault['runs'] = {
    ...base.vault.runs,
    // Storage lets only its executor end a run: here the first claim makes this host the executor.
    unfinished: async () => (await base.vault.runs.unfinished()).map((run) => ((run.fence ?? 0) > 1 ? run : { ...run, ...change })),
    ...options.runs?.(base.vault),
  };
  const gw = await createTestGateway({
    vault: { ...base.vault, ...options.vault, runs },
    clock,
    useGuide: true,
    ...(options.sync ? { sync: options.sync } : {}),
  });
  return { ...gw, baseGateway: base };
}
