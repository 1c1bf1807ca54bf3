import { deleteDB } from 'idb';
import { expect } from 'vitest';
import { MemoryJournal } from '../../../tests/support/memory-journal.ts';
import { verifies } from '../../../tests/requirements.ts';
import { TestReplica } from '../../../tests/vault/test-replica.ts';
import { storeAnswer, storeQuestion, TEST_VAULT_KEY, newMessage } from '../storage/fixture.ts';
import { toSessionKey } from '../storage/chat-records.ts';

verifies('vault.sync/fills', 'while a new host reads, others change and delete what it has read already', async () => {
  const journal = new MemoryJournal();
  const writer = await TestReplica.open('writer');
  await writer.join(journal);
  const other = toSessionKey('main', 'other');
  await storeAnswer(writer.vault, await storeQuestion(writer.vault, 'm-1'));
  await writer.vault.runs.begin({
    session: { ...(await createSession(writer)), key: other, sessionId: 'other', headId: null },
    message: newMessage('m-2', null, { sessionKey: other }),
    run: { id: 'r-2', sessionKey: other, status: 'running', userMessageId: 'm-2', model: 'guide/guide', startedAt: 1, partial: '' },
  });

  const reader = await TestReplica.open('reader');
  const line = journal.connect();
  const { call } = line;
  let pages = 0;
  line.call = async (name, params) => {
    const result = await call(name, params);
    if (name === 'journal.pull' && ++pages === 1) {
      await writer.vault.sessions.remove(TEST_VAULT_KEY);
      await writer.vault.runs.finish({ runId: 'r-2', status: 'done', endedAt: 2, messages: [] });
    }
    return result;
  };
  reader.connection = line;
  reader.replicator.attach(line);
  await reader.waitForSync(journal);
  expect(pages).toBeGreaterThan(1);
  expect(await reader.readContent()).toEqual(await writer.readContent());
});

verifies('vault.sync/fills', 'a host whose data was cleared while it lives reads also what it wrote itself', async () => {
  const journal = new MemoryJournal();
  const host = await TestReplica.open('host');
  await host.join(journal);
  await storeAnswer(host.vault, await storeQuestion(host.vault, 'm-1'));
  await host.waitForSync(journal);
  const before = await host.readContent();
  host.disconnect();
  await deleteDB(host.name);
  await host.join(journal);
  expect(await host.readContent()).toEqual(before);
});

async function createSession({ vault }: TestReplica) {
  const found = await vault.sessions.get(TEST_VAULT_KEY);
  if (!found) throw new Error('there is no session');
  return found;
}
