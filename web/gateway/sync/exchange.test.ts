import { deleteDB } from 'idb';
import { expect } from 'vitest';
import { MemoryJournal } from '../../../tests/support/memory-journal.ts';
import { verifies } from '../../../tests/requirements.ts';
import { TestReplica } from '../../../tests/vault/replicas.ts';
import { answer, ask, KEY, newMessage } from '../storage/fixture.ts';
import { sessionKey } from '../core/vault.ts';

verifies('vault.sync/fills', 'while a new host reads, others change and delete what it has read already', async () => {
  const journal = new MemoryJournal();
  const writer = await TestReplica.open('writer');
  await writer.join(journal);
  const other = sessionKey('main', 'other');
  await answer(writer.vault, await ask(writer.vault, 'm-1'));
  await writer.vault.runs.begin({
    session: { ...(await session(writer)), key: other, sessionId: 'other', headId: null },
    message: newMessage('m-2', null, { sessionKey: other }),
    run: { id: 'r-2', sessionKey: other, status: 'running', userMessageId: 'm-2', model: 'guide/guide', startedAt: 1, partial: '' },
  });

  const reader = await TestReplica.open('reader');
  const line = journal.line();
  const { call } = line;
  let pages = 0;
  line.call = async (name, params) => {
    const result = await call(name, params);
    if (name === 'journal.pull' && ++pages === 1) {
      await writer.vault.sessions.remove(KEY);
      await writer.vault.runs.finish({ runId: 'r-2', status: 'done', endedAt: 2, messages: [] });
    }
    return result;
  };
  reader.line = line;
  reader.replicator.attach(line);
  await reader.synced(journal);
  expect(pages).toBeGreaterThan(1);
  expect(await reader.content()).toEqual(await writer.content());
});

verifies('vault.sync/fills', 'a host whose data was cleared while it lives reads also what it wrote itself', async () => {
  const journal = new MemoryJournal();
  const host = await TestReplica.open('host');
  await host.join(journal);
  await answer(host.vault, await ask(host.vault, 'm-1'));
  await host.synced(journal);
  const before = await host.content();
  host.cut();
  await deleteDB(host.name);
  await host.join(journal);
  expect(await host.content()).toEqual(before);
});

async function session({ vault }: TestReplica) {
  const found = await vault.sessions.get(KEY);
  if (!found) throw new Error('there is no session');
  return found;
}
