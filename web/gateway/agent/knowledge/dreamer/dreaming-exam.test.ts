import { expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { runDreaming } from '../../../../../tests/support/dreaming-fixtures.ts';
import { createScript, createTestGateway } from '../../../../../tests/support/test-gateway.ts';

const DAY_MS = 24 * 3_600_000;
const OLD = 'Anna lives in Lisbon.';
const LABELLED = 'Anna lives in Evilcorp City now.';

verifies('dreaming.exam/methods', 'changes are listed with the result of the exam; people decide on them', async () => {
  await using gw = await createTestGateway({ model: createScript(['Noted.']) });
  const { client: api } = await gw.client();
  const addMemory = (text: string, createdAt: number) => api.call('memory.add', { text, category: 'fact', createdAt });
  await addMemory(OLD, Date.now() - 9 * DAY_MS);
  await addMemory(LABELLED, Date.now() - DAY_MS);
  await gw.vault.collection('contentLabels').put({
    id: `memory:main/${toMemoryId(LABELLED)}`,
    sources: ['web:evil.test'],
    at: Date.now(),
  });
  await api.call('chat.send', { message: 'Anna moved to Porto.' });
  const run = await runDreaming(api);
  expect(run).toMatchObject({ state: 'completed', exam: { kept: 1 } });
  expect(run.exam?.after.right).toBeGreaterThan(run.exam?.before.right ?? 0);
  const list = () => api.call('dreaming.changes', {});
  const [change] = (await list()).changes;
  const changeId = change?.id ?? '';
  expect(change).toMatchObject({ kind: 'update', state: 'proposed', removed: [{ text: OLD }], added: [{ text: 'Anna moved to Porto.' }] });
  const { questions, count } = await api.call('dreaming.exam', {});
  expect(count).toBe(questions.length);
  expect(questions).toContainEqual(expect.objectContaining({ question: 'Anna lives in', expected: 'Porto' }));
  expect(JSON.stringify(questions)).not.toContain('Evilcorp');
  const program = await GatewayClient.connect(gw.link({ principal: 'key:1' }), { params: { clientName: 'test' } });
  for (const method of ['dreaming.applyChange', 'dreaming.undoChange', 'dreaming.dismissChange'] as const)
    await expect(program.call(method, { changeId })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  await expect(program.call('dreaming.exam', {})).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  program.close();
  const texts = async () => (await api.call('memory.list', {})).memories.map(({ text }) => text).sort();
  expect((await api.call('dreaming.applyChange', { changeId })).change.state).toBe('applied');
  expect(await texts()).toEqual([LABELLED, 'Anna moved to Porto.'].sort());
  await expect(api.call('dreaming.applyChange', { changeId })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  await expect(api.call('dreaming.dismissChange', { changeId })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  expect((await api.call('dreaming.undoChange', { changeId })).change.state).toBe('undone');
  expect(await texts()).toEqual([LABELLED, OLD].sort());
  await api.call('memory.forget', { id: toMemoryId(OLD) });
  await expect(api.call('dreaming.applyChange', { changeId })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(api.call('dreaming.undoChange', { changeId: 'short' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  expect(gw.faults).toEqual([]);
});

verifies('dreaming.exam/methods', 'a model may write questions; answers that no statement contains are dropped', async () => {
  const reply =
    '[{"number":1,"question":"In which town does Anna live?","answer":"Lisbon"},{"number":1,"question":"Who?","answer":"Nobody"}]';
  await using gw = await createTestGateway({ model: () => [reply] });
  const { client: api } = await gw.client();
  await api.call('config.patch', { patch: { dreaming: { exam: 'model' } } });
  await api.call('memory.add', { text: OLD, category: 'fact' });
  expect(await runDreaming(api)).toMatchObject({ state: 'completed' });
  const { questions } = await api.call('dreaming.exam', {});
  expect(questions.filter(({ by }) => by === 'model')).toMatchObject([{ question: 'In which town does Anna live?', expected: 'Lisbon' }]);
  await api.call('config.patch', { patch: { dreaming: { exam: 'off' } } });
  expect(await runDreaming(api)).not.toHaveProperty('exam');
});
