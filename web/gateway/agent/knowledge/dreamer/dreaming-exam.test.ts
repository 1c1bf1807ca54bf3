import { expect } from 'vitest';
import { GatewayClient } from '#shared/client/client.ts';
import { toMemoryId } from '../../../knowledge/memory/index/index-entry.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { runDreaming } from '../../../../../tests/support/dreaming-fixtures.ts';
import { createScript, createTestGateway, type ModelScript } from '../../../../../tests/support/test-gateway.ts';

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
  const applied = (await api.call('dreaming.applyChange', { changeId })).change;
  expect(applied).toMatchObject({ state: 'applied', memoryId: toMemoryId('Anna moved to Porto.') });
  expect((await list()).changes).toEqual([applied]);
  expect(await texts()).toEqual([LABELLED, 'Anna moved to Porto.'].sort());
  const getOrigin = (text: string) => api.call('provenance.get', { kind: 'memory', name: toMemoryId(text) });
  expect(await getOrigin('Anna moved to Porto.')).toMatchObject({
    state: 'intact',
    versions: [
      { by: 'dreaming', messages: [{ role: 'user', state: 'intact', quote: 'Anna moved to Porto.' }] },
      { by: 'person', messages: [] },
    ],
  });
  await expect(api.call('dreaming.applyChange', { changeId })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  await expect(api.call('dreaming.dismissChange', { changeId })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  expect((await api.call('dreaming.undoChange', { changeId })).change.state).toBe('undone');
  expect(await texts()).toEqual([LABELLED, OLD].sort());
  const restored = await getOrigin(OLD);
  expect([restored.state, restored.versions.map(({ by }) => by)]).toEqual(['intact', ['person', 'dreaming', 'person']]);
  await api.call('memory.forget', { id: toMemoryId(OLD) });
  await expect(api.call('dreaming.applyChange', { changeId })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(api.call('dreaming.undoChange', { changeId: 'short' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  expect(gw.faults).toEqual([]);
});

verifies('provenance/chain', 'memories that a night has changed name the messages of both statements', async () => {
  const remember: ModelScript = (_call, count) =>
    count === 1 ? [{ tool: 'memory_add', args: { text: OLD, category: 'fact' }, id: 'a' }] : ['Noted.'];
  const clock = new FakeClock(Date.UTC(2026, 10, 20, 12));
  await using gw = await createTestGateway({ model: remember, clock });
  const { client: api } = await gw.client();
  await api.call('config.patch', { patch: { dreaming: { promotion: 'promote' } } });
  await api.call('chat.send', { message: 'My friend Anna lives in Lisbon.' });
  await clock.advance(DAY_MS);
  await api.call('chat.send', { message: 'Anna moved to Porto.' });
  expect(await runDreaming(api)).toMatchObject({ state: 'completed', exam: { kept: 1 } });
  const name = toMemoryId('Anna moved to Porto.');
  const chain = await api.call('provenance.get', { kind: 'memory', name });
  expect(chain.state).toBe('intact');
  expect(chain.versions.map(({ by, messages }) => [by, messages.map(({ quote }) => quote)])).toEqual([
    ['dreaming', ['Anna moved to Porto.']],
    ['agent', ['My friend Anna lives in Lisbon.']],
  ]);
  // The next night records nothing twice.
  await runDreaming(api);
  expect((await api.call('provenance.get', { kind: 'memory', name })).versions).toHaveLength(2);
  expect((await api.call('provenance.check', {})).problems).toEqual([]);
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
