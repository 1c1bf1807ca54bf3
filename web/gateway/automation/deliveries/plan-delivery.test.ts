import { IDBFactory } from 'fake-indexeddb';
import { expect, it } from 'vitest';
import { type ModelScript, createTestGateway, type Say, waitFor } from '../../../../tests/support/test-gateway.ts';

const TARGETS = [
  { id: 'chat', name: 'News', target: { kind: 'chat', agentId: 'main', sessionId: 'news' } },
  { id: 'phone', name: 'Phone', target: { kind: 'device' } },
];
const toPlan = (args: object = {}): Say => ({
  tool: 'plan_create',
  args: { goal: 'A report', steps: ['Look around', 'Write it down'], deliverTo: ['news'], ...args },
});
const toUpdate = (args: object): Say => ({ tool: 'plan_update', args: args as Record<string, unknown> });
const toDone = (result: string): Say => toUpdate({ status: 'completed', result });

/** Says one thing after the other, whatever it is asked. */
const createOrderedScript =
  (...turns: readonly (readonly Say[])[]): ModelScript =>
  (_call, count) =>
    turns[count - 1] ?? ['nothing more'];

async function createPlanGateway(model: ModelScript, options: Parameters<typeof createTestGateway>[0] = {}) {
  const gw = await createTestGateway({ ...options, model });
  const { client } = await gw.client();
  await client.call('config.patch', { patch: { deliveries: { targets: TARGETS } } });
  return {
    ...{ gw, client },
    told: async () => (await client.call('deliveries.list', {})).deliveries.map(({ text }) => text).reverse(),
    [Symbol.asyncDispose]: () => gw[Symbol.asyncDispose](),
  };
}

it('tells the destinations of a plan that it is done, with the results', async () => {
  await using at = await createPlanGateway(createOrderedScript([toPlan()], [toDone('Much')], [toDone('Written')], ['All done.']));
  await at.client.call('chat.send', { message: 'Make a report' });
  await waitFor(async () => (await at.told()).length === 1);
  expect(await at.told()).toEqual(['The plan “A report” is done.\n\n✓ Look around: Much\n✓ Write it down: Written']);
  const { plans } = await at.client.call('plan.list', {});
  expect(plans[0]).toMatchObject({ status: 'completed', deliver: { to: ['chat'], when: 'always' }, deliveredRunId: plans[0]?.runId });
  const { deliveries } = await at.client.call('deliveries.list', {});
  expect(deliveries[0]).toMatchObject({ source: { kind: 'plan', id: plans[0]?.id }, target: TARGETS[0]?.target });
  await waitFor(async () => (await at.client.call('chat.history', { sessionId: 'news' })).messages.length === 1);
  expect(at.gw.faults).toEqual([]);
});

it('tells at the end of each run that a plan waits or has failed, not what happens meanwhile', async () => {
  await using at = await createPlanGateway(
    createOrderedScript(
      ...[[toPlan({ deliverTo: [] })], [toUpdate({ deliverTo: ['Phone', 'chat'] })], [toUpdate({ deliverTo: ['chat'] })]],
      ...[[toUpdate({ status: 'failed', result: 'Dark' })], [toUpdate({ status: 'running' })], [toDone('Much')], ['To be continued.']],
      ...[[toUpdate({ status: 'failed', result: 'No ink' })], ['Sorry.']],
    ),
  );
  await at.client.call('chat.send', { message: 'Make a report' });
  await waitFor(async () => (await at.told()).length === 1);
  const [plan] = (await at.client.call('plan.list', {})).plans;
  await at.client.call('plan.resume', { planId: plan?.id ?? '' });
  await waitFor(async () => (await at.told()).length === 2);
  expect(await at.told()).toEqual([
    'The plan “A report” waits for you at step 2 of 2. Open Perch to continue it.\n\n✓ Look around: Much\n… Write it down',
    'The plan “A report” has failed at step 2 of 2.\n\n✓ Look around: Much\n✗ Write it down: No ink',
  ]);
});

it('tells nobody without destinations, and refuses unknown ones and those that a channel may not use', async () => {
  const results: string[] = [];
  await using at = await createPlanGateway((call, count) => {
    results.push(String(call.body.messages.at(-1)?.content));
    return [[toPlan({ deliverTo: ['Moon'] })], [toPlan({ deliverTo: [] })], ['ok']][count - 1] ?? ['ok'];
  });
  await at.client.call('chat.send', { message: 'Make a report' });
  expect(JSON.parse(results[1] ?? '')).toEqual({ error: 'No destination "Moon". Destinations: "News", "Phone".' });
  expect((await at.client.call('plan.list', {})).plans).toMatchObject([{ status: 'paused' }]);
  expect(await at.told()).toEqual([]);
});

it('tells it after a restart, once', async () => {
  const database = { indexedDB: new IDBFactory(), name: 'plans-after-restart' };
  const model = createOrderedScript([toPlan({ deliverTo: [] })], ['Later.']);
  await using first = await createPlanGateway(model, database);
  await first.client.call('chat.send', { message: 'Make a report' });
  const [plan] = (await first.client.call('plan.list', {})).plans;
  if (!plan) throw new Error('there is no plan');
  // As if the host had died between the end of the run and the delivery.
  await first.gw.vault.collection('plans').put({ ...plan, deliver: { to: ['chat'], when: 'always' } });
  await first.gw[Symbol.asyncDispose]();
  for (let start = 0; start < 2; start++) {
    await using next = await createPlanGateway(createOrderedScript(), database);
    await next.client.call('plan.list', {});
    await waitFor(async () => (await next.client.call('plan.list', {})).plans[0]?.deliveredRunId === plan.runId);
    expect(await next.told()).toHaveLength(1);
  }
});
