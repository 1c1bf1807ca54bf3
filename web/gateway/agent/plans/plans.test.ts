import { IDBFactory } from 'fake-indexeddb';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { Plan } from '#shared/rpc/methods/plan-contracts.ts';
import { verifies } from '../../../../tests/requirements.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { FakeSync } from '../../../../tests/support/fake-sync.ts';
import { createGatewayWithRun } from '../../../../tests/support/remote-run.ts';
import { TestHosts } from '../../../../tests/support/test-hosts.ts';
import { type Say, type ModelScript, createTestGateway, waitFor } from '../../../../tests/support/test-gateway.ts';

const STEPS = ['Look around', 'Write it down', 'Send it'];
const toPlanCreate = (args: Record<string, unknown> = {}): Say => ({
  tool: 'plan_create',
  args: { goal: 'A report', steps: STEPS, ...args },
});
const toPlanUpdate = (args: Record<string, unknown>): Say => ({ tool: 'plan_update', args });
const toPlanDone = (result: string): Say => toPlanUpdate({ status: 'completed', result });

/** Says one thing after the other, whatever it is asked. */
const createOrderedScript =
  (...turns: readonly (readonly Say[])[]): ModelScript =>
  (_call, count) =>
    turns[count - 1] ?? ['nothing more'];

const listPlans = async (client: GatewayClient): Promise<Plan[]> => (await client.call('plan.list', {})).plans;
const toStepStates = (plan: Plan | undefined): string =>
  `${plan?.status}: ${plan?.steps.map(({ status }) => status).join(' ')} @${plan?.currentStepIndex}`;
const getOnlyPlan = async (client: GatewayClient): Promise<Plan> => {
  const [plan, ...others] = await listPlans(client);
  if (!plan || others.length > 0) throw new Error(`there are ${others.length + (plan ? 1 : 0)} plans`);
  return plan;
};

/** A plan that a run follows. */
const FOLLOWED_PLAN: Plan = {
  id: 'p',
  goal: 'A report',
  status: 'running',
  steps: [{ id: 's1', description: 'Look around', status: 'running', startedAt: 1 }],
  currentStepIndex: 0,
  agentId: 'main',
  sessionId: 'main',
  runId: 'run-q',
  createdAt: 1,
  updatedAt: 1,
};

describe('a plan', () => {
  verifies(['plan/followed', 'plan.list/entries'], 'is made, followed through all its steps with other tools, and completed', async () => {
    const planStates: string[] = [];
    await using gw = await createTestGateway({
      model: (call, count) => {
        planStates.push(call.context);
        return (
          [
            [toPlanCreate()],
            [{ tool: 'file_write', args: { path: 'seen.md', content: 'much' } }],
            [toPlanDone('Seen much')],
            [{ tool: 'file_read', args: { path: 'seen.md' } }, toPlanDone('Written')],
            [toPlanDone('Sent')],
            ['All done.'],
          ][count - 1] ?? ['?']
        );
      },
    });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'Report to me' });
    const plan = await getOnlyPlan(client);
    expect(plan).toMatchObject({ goal: 'A report', status: 'completed', agentId: 'main', sessionId: 'main', currentStepIndex: 3 });
    expect(plan.steps.map(({ id, status, result }) => `${id} ${status} ${result}`)).toEqual([
      's1 completed Seen much',
      's2 completed Written',
      's3 completed Sent',
    ]);
    for (const { startedAt, completedAt } of plan.steps) expect([typeof startedAt, typeof completedAt]).toEqual(['number', 'number']);
    expect(await client.call('plan.get', { planId: plan.id })).toEqual(plan);
    expect(events.filter(({ event }) => event === 'plan.changed')).toHaveLength(4);
    // Exactly one step was running at any time, as each result says.
    const { messages } = await client.call('chat.history', { sessionId: 'main' });
    const planResults = messages.filter(({ name }) => name?.startsWith('plan_')).map(({ content }) => String(content));
    expect(planResults.map((text) => text.match(/"status":"running"/g)?.length ?? 0)).toEqual([2, 2, 2, 0]);
    expect(planStates[0]).not.toContain('Plan ');
    await client.call('chat.send', { message: 'Thanks' });
    expect(gw.calls.at(-1)?.context).not.toContain('A report');
    expect(gw.faults).toEqual([]);
  });

  verifies(
    ['plan/paused', 'plan.resume/resumes', 'states.plan/resumed'],
    'is paused when its run ends early, is in the next prompt, and goes on when resumed',
    async () => {
      await using gw = await createTestGateway({
        model: createOrderedScript(
          [toPlanCreate()],
          [toPlanDone('Seen')],
          ['I pause here.'],
          [toPlanDone('Written')],
          [toPlanDone('Sent')],
          ['Finished.'],
        ),
      });
      const { client, events } = await gw.client();
      await client.call('chat.send', { message: 'Report to me', sessionId: 'work' });
      const paused = await getOnlyPlan(client);
      expect(toStepStates(paused)).toBe('paused: completed pending pending @1');
      expect(paused.steps[1]).not.toHaveProperty('result');
      // The step starts again.
      expect(paused.steps[1]).not.toHaveProperty('startedAt');
      const resumed = await client.call('plan.resume', { planId: paused.id });
      expect([resumed.resumed, toStepStates(resumed.plan)]).toEqual([true, 'running: completed running pending @1']);
      await waitFor(() =>
        events.some(({ event, payload }) => event === 'chat.done' && (payload as { runId: string }).runId === resumed.plan.runId),
      );
      expect(toStepStates(await getOnlyPlan(client))).toBe('completed: completed completed completed @3');
      const prompt = gw.calls[3];
      expect(prompt?.context).toMatch(
        /is in progress[\s\S]*Goal: A report\n- s1 \[completed\] Look around \(Seen\)\n→ s2 \[running\] Write it down\n- s3 \[pending\] Send it/,
      );
      expect(prompt?.body.messages.at(-1)).toMatchObject({
        role: 'user',
        content: expect.stringContaining('with step s2: Write it down'),
      });
      const { messages } = await client.call('chat.history', { sessionId: 'work' });
      expect(messages.at(-1)).toMatchObject({ content: 'Finished.' });
      expect(gw.faults).toEqual([]);
    },
  );

  verifies('plan/paused', 'with why, where its run failed or was aborted; a later run may take it up by itself', async () => {
    const runStarted = Promise.withResolvers<void>();
    await using gw = await createTestGateway({
      model: (_call, count) => {
        if (count === 2) runStarted.resolve();
        return (
          [[toPlanCreate()], [{ wait: new Promise(() => {}) }], [toPlanUpdate({ status: 'running' })]][count - 1] ?? [
            { status: 500, body: 'broken' },
          ]
        );
      },
    });
    const { client } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'go' });
    await runStarted.promise;
    await client.call('chat.abort', { sessionId: 'main' });
    await expect(pendingSend).rejects.toMatchObject({ code: 'ABORTED' });
    const aborted = await getOnlyPlan(client);
    expect([toStepStates(aborted), aborted.steps[0]?.result]).toEqual(['paused: pending pending pending @0', 'The run was aborted.']);
    await expect(client.call('chat.send', { message: 'go on' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(gw.calls[2]?.context).toContain('is paused');
    const failed = await getOnlyPlan(client);
    expect(toStepStates(failed)).toBe('paused: pending pending pending @0');
    expect(failed.steps[0]?.result).toMatch(/500/);
  });

  verifies('plan/transitions', 'moves along allowed ways only; steps are added, rewritten and skipped', async () => {
    const results: unknown[] = [];
    const turns: Say[][] = [
      [toPlanCreate()],
      [toPlanUpdate({ stepId: 's2', status: 'completed' })],
      [toPlanUpdate({ stepId: 's2', status: 'running' })],
      [toPlanUpdate({ stepId: 's9', status: 'running' })],
      [toPlanUpdate({})],
      [toPlanUpdate({ planId: 'another', result: 'x' })],
      [toPlanUpdate({ status: 'failed', result: 'It is dark' })],
      [toPlanUpdate({ stepId: 's2', description: 'Write less', add: ['Light a lamp'], after: 's1' })],
      [toPlanUpdate({ stepId: 's1', status: 'skipped' })],
      [toPlanDone('Lit')],
      [toPlanUpdate({ stepId: 's4', status: 'running' })],
      ['So far.'],
    ];
    await using gw = await createTestGateway({
      model: ({ body }, count) => {
        results.push(body.messages.at(-1)?.content);
        return turns[count - 1] ?? ['?'];
      },
    });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'go' });
    const resultTexts = results.map(String);
    expect(resultTexts[2]).toContain('Step s2 is pending and can’t become completed. Allowed: running or skipped.');
    expect(resultTexts[3]).toContain('Step s1 is running. Set it to completed or failed or skipped first.');
    expect(resultTexts[4]).toContain('No step with id \\"s9\\". Steps: s1, s2, s3.');
    expect(resultTexts[5]).toContain('must include at least one of status');
    expect(resultTexts[6]).toContain('No plan with id \\"another\\" in this chat.');
    expect(resultTexts[7]).toContain('"status":"failed"');
    expect(resultTexts[11]).toContain('Step s4 is completed and can’t become running. Allowed: nothing else.');
    const plan = await getOnlyPlan(client);
    expect(plan.steps.map(({ id, description, status }) => `${id} ${description}: ${status}`)).toEqual([
      's1 Look around: skipped',
      's4 Light a lamp: completed',
      's2 Write less: pending',
      's3 Send it: pending',
    ]);
    expect(toStepStates(plan)).toBe('paused: skipped completed pending pending @2');
    expect(events.filter(({ event }) => event === 'chat.tool_result').length).toBe(11);
  });

  verifies(
    'plan/transitions',
    'an unknown step changes nothing; the current step stays current if others are inserted before it',
    async () => {
      const results: unknown[] = [];
      const turns: Say[][] = [
        [toPlanCreate({ goal: 'First' })],
        [toPlanUpdate({ goal: 'Second', stepId: 's9' })],
        [toPlanUpdate({ goal: 'Third', after: 's9' })],
        [toPlanDone('Seen')],
        [toPlanUpdate({ add: ['Breathe'], after: 's1', status: 'completed', result: 'Written' })],
        ['So far.'],
      ];
      await using gw = await createTestGateway({
        model: ({ body }, count) => {
          results.push(body.messages.at(-1)?.content);
          return turns[count - 1] ?? ['?'];
        },
      });
      const { client } = await gw.client();
      await client.call('chat.send', { message: 'go' });
      for (const planResult of results.slice(2, 4)) expect(planResult).toContain('No step with id \\"s9\\". Steps: s1, s2, s3.');
      const plan = await getOnlyPlan(client);
      expect(plan.goal).toBe('First');
      expect(plan.steps.map(({ id, status, result }) => [id, status, result])).toEqual([
        ['s1', 'completed', 'Seen'],
        ['s4', 'pending', undefined],
        ['s2', 'completed', 'Written'],
        ['s3', 'pending', undefined],
      ]);
    },
  );

  verifies('plan.resume/not-paused', 'one that failed, is completed, or whose chat follows another', async () => {
    await using gw = await createTestGateway({
      model: createOrderedScript(
        [toPlanCreate({ goal: 'First' })],
        [toPlanUpdate({ status: 'failed', result: 'no' })],
        ['Failed.'],
        [toPlanCreate({ goal: 'Second', start: false })],
        ['ok?'],
      ),
    });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'go' });
    const failed = await getOnlyPlan(client);
    expect(await client.call('plan.resume', { planId: failed.id })).toEqual({
      resumed: false,
      plan: failed,
      reason: 'The plan is failed. Only paused plans can be resumed.',
    });
    await client.call('chat.send', { message: 'again' });
    const [second, first] = await listPlans(client);
    expect([second?.goal, toStepStates(second), first?.goal]).toEqual(['Second', 'paused: pending pending pending @0', 'First']);
    const both = await Promise.all([1, 2].map(() => client.call('plan.resume', { planId: second?.id ?? '' })));
    expect(both.map(({ resumed }) => resumed)).toEqual([true, false]);
    expect(both[1]?.reason).toContain('The plan is running');
    await waitFor(async () => (await client.call('plan.get', { planId: second?.id ?? '' })).status === 'paused');
    await expect(client.call('plan.resume', { planId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('plan.resume/not-paused', 'where its agent is gone; a run that cannot begin leaves it paused', async () => {
    await using gw = await createTestGateway({ model: createOrderedScript([toPlanCreate()], ['later']) });
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'helper' });
    await client.call('chat.send', { message: 'go', agentId: 'helper' });
    const plan = await getOnlyPlan(client);
    await client.call('config.patch', { patch: { agents: { helper: { model: 'none/none' } } } });
    expect(await client.call('plan.resume', { planId: plan.id })).toMatchObject({ resumed: true });
    await waitFor(async () => (await getOnlyPlan(client)).status === 'paused');
    expect((await getOnlyPlan(client)).steps[0]?.result).toMatch(/none/);
    await client.call('agents.remove', { agent_id: 'helper' });
    expect(await client.call('plan.resume', { planId: plan.id })).toMatchObject({ resumed: false, reason: 'No agent with id "helper".' });
  });

  verifies('plan.delete/deletes', 'while a run follows it, which goes on', async () => {
    const hold = Promise.withResolvers<void>();
    await using gw = await createTestGateway({
      model: createOrderedScript([toPlanCreate()], [{ wait: hold.promise }, toPlanDone('x')], ['Ended.']),
    });
    const { client, events } = await gw.client();
    const pendingSend = client.call('chat.send', { message: 'go' });
    await waitFor(async () => (await listPlans(client)).length === 1);
    const { id } = await getOnlyPlan(client);
    expect(await client.call('plan.delete', { planId: id })).toEqual({ deleted: true });
    await expect(client.call('plan.delete', { planId: id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('plan.get', { planId: id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    hold.resolve();
    expect(await pendingSend).toMatchObject({ completed: true });
    expect(await listPlans(client)).toEqual([]);
    expect(events.filter(({ event }) => event === 'plan.changed').at(-1)?.payload).toEqual({ planId: id, deleted: true });
  });
});

describe('a plan whose host died', () => {
  verifies(['plan.resume/resumes', 'plan/paused'], 'is paused at the next start, and goes on at the very step', async () => {
    const indexedDB = new IDBFactory();
    const name = 'killed';
    const hung = Promise.withResolvers<void>();
    // Never closed: as if the process were gone in the middle of the second step.
    const dead = await createTestGateway({
      indexedDB,
      name,
      model: (_call, count) => {
        if (count === 3) hung.resolve();
        return [[toPlanCreate()], [toPlanDone('Seen')], [{ wait: new Promise(() => {}) }]][count - 1] ?? ['?'];
      },
    });
    const { client: deadClient } = await dead.client();
    deadClient.call('chat.send', { message: 'go' }).catch(() => {});
    await hung.promise;
    expect(toStepStates(await getOnlyPlan(deadClient))).toBe('running: completed running pending @1');

    await using gw = await createTestGateway({
      indexedDB,
      name,
      model: createOrderedScript([toPlanDone('Written')], [toPlanDone('Sent')], ['Finished.']),
    });
    const { client } = await gw.client();
    const paused = await getOnlyPlan(client);
    expect(toStepStates(paused)).toBe('paused: completed pending pending @1');
    expect(paused.steps[1]?.result).toBe('Interrupted: the gateway was closed');
    expect(paused.steps[0]).toMatchObject({ status: 'completed', result: 'Seen' });
    expect(await client.call('plan.resume', { planId: paused.id })).toMatchObject({ resumed: true, plan: { status: 'running' } });
    await waitFor(async () => (await getOnlyPlan(client)).status === 'completed');
    expect(String(gw.calls[0]?.body.messages.at(-1)?.content)).toContain('with step s2: Write it down\n\nProgress so far: Interrupted');
    expect((await getOnlyPlan(client)).steps.map(({ result }) => result)).toEqual(['Seen', 'Written', 'Sent']);
    expect(gw.faults).toEqual([]);
  });

  verifies('plan/hosts', 'is left alone while another host follows it, and paused when that one is gone', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync({ role: 'holder' })];
    await using gw = await createGatewayWithRun({ clock, sync });
    await gw.baseGateway.vault.collection('plans').put(FOLLOWED_PLAN);
    await using next = await createTestGateway({ vault: gw.vault, clock, sync, useGuide: true });
    const { client } = await next.client();
    expect(await getOnlyPlan(client)).toEqual(FOLLOWED_PLAN);
    expect(await client.call('plan.resume', { planId: 'p' })).toMatchObject({ resumed: false });
    // Its host is gone: the journal gives the run to this one.
    sync.fence = 7;
    await clock.waitForTimer(10_000);
    clock.advance(10_000);
    await waitFor(async () => (await getOnlyPlan(client)).status === 'paused');
    expect((await getOnlyPlan(client)).steps[0]).toMatchObject({ status: 'pending', result: 'Interrupted: the gateway was closed' });
  });

  verifies('plan/paused', 'although its run had not begun, or had ended, when the host died; nobody need ask for it', async () => {
    const indexedDB = new IDBFactory();
    const name = 'between';
    const dead = await createTestGateway({ indexedDB, name, useGuide: true });
    await dead.vault.collection('plans').put(FOLLOWED_PLAN);
    await dead.vault.collection('plans').put({ ...FOLLOWED_PLAN, id: 'later', runId: 'none', sessionId: 'other', status: 'pending' });
    await using gw = await createTestGateway({ indexedDB, name, useGuide: true });
    await waitFor(async () => (await gw.vault.collection('plans').list()).every(({ status }) => status === 'paused'));
    expect((await gw.vault.collection('plans').get('p'))?.steps[0]?.result).toBe('Interrupted: the gateway was closed');
    expect(gw.faults).toEqual([]);
  });

  verifies('plan/hosts', 'reports changes made by another host', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({
      model: createOrderedScript(
        [toPlanCreate()],
        [toPlanDone('Seen')],
        ['I pause here.'],
        [toPlanDone('Written')],
        [toPlanDone('Sent')],
        ['Done.'],
      ),
    });
    await using two = await hosts.host();
    const [{ client }, { client: other, events }] = [await one.client(), await two.client()];
    await client.call('chat.send', { message: 'go' });
    await one.waitForSync();
    await two.waitForSync();
    const { id } = await getOnlyPlan(other);
    expect(toStepStates(await getOnlyPlan(other))).toBe('paused: completed pending pending @1');
    expect(events).toContainEqual(expect.objectContaining({ event: 'plan.changed', payload: { planId: id } }));
    await client.call('plan.delete', { planId: id });
    await one.waitForSync();
    await two.waitForSync();
    expect(await listPlans(other)).toEqual([]);
    expect(events.filter(({ event }) => event === 'plan.changed').at(-1)?.payload).toEqual({ planId: id, deleted: true });
  });
});
