import { expect, test } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { TEST_VAULT_KEY, newMessage, newRun, newSession, createTestVault } from './fixture.ts';

type TestVault = Awaited<ReturnType<typeof createTestVault>>;

const startWrite = (vault: TestVault, id: string, above: ReturnType<typeof newMessage> | null = null): Promise<void> =>
  vault.runs.begin({ session: newSession(), message: newMessage(id, above), run: newRun(`run-${id}`, id) });

/** Records sent to the journal, a list for each push. */
function collectPushes(vault: TestVault): string[][] {
  const pushedRecords: string[][] = [];
  vault.vault.sync.forward = async (records) => void pushedRecords.push(records.map(({ store, key }) => `${store} ${key}`));
  return pushedRecords;
}

const IDS = Array.from({ length: 20 }, (_, i) => `m${i}`);
const messages = (pushed: readonly string[]): string[] => pushed.filter((record) => record.startsWith('messages '));

verifies(
  'vault.sync/grouped',
  'writes that come while another one commits go together in the next transaction, in their order',
  async () => {
    await using vault = await createTestVault();
    const sent = collectPushes(vault);
    await Promise.all(IDS.map((id) => startWrite(vault, id)));
    expect(sent.map(messages)).toEqual([['messages m0'], IDS.slice(1).map((id) => `messages ${id}`)]);
    expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ messageCount: 20, headId: 'm19' });
  },
);

test('a later write of a group sees what an earlier one wrote', async () => {
  await using vault = await createTestVault();
  const lone = startWrite(vault, 'm0');
  const first = newMessage('m1', null);
  await Promise.all([lone, startWrite(vault, 'm1'), startWrite(vault, 'm2', first)]);
  expect(await vault.messages.get('m2')).toMatchObject({ parentId: 'm1' });
});

verifies('vault.sync/grouped', 'a failed operation leaves nothing behind, and does not affect others of its group', async () => {
  await using vault = await createTestVault();
  const removed = newMessage('gone', null);
  const outcomes = await Promise.allSettled(IDS.map((id, i) => startWrite(vault, id, i === 7 ? removed : null)));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'NOT_FOUND' } }]);
  expect(outcomes[7]).toMatchObject({ status: 'rejected' });
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ messageCount: 19, headId: 'm19' });
  expect(await vault.messages.get('m7')).toBeUndefined();
});

test('a vault that is closed first writes what waits for its turn', async () => {
  await using vault = await createTestVault();
  const written = IDS.map((id) => vault.memories.add({ id, text: 'x', category: 'fact', createdAt: 1 }));
  await Promise.all([vault.close(), ...written]);
  await using next = await createTestVault({ name: vault.name });
  expect(await next.memories.list()).toHaveLength(20);
});
