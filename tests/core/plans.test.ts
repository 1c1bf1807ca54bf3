import { IDBFactory } from 'fake-indexeddb';
import { describe, expect } from 'vitest';
import type { GatewayClient } from '#shared/client/client.ts';
import type { Plan } from '#shared/rpc/methods/plan.ts';
import { verifies } from '../requirements.ts';
import { FakeClock } from '../support/clock.ts';
import { FakeSync } from '../support/fake-sync.ts';
import { withRun } from '../support/foreign-run.ts';
import { TestHosts } from '../support/hosts.ts';
import { type Say, type Script, testGateway, until } from '../support/gateway.ts';

const STEPS = ['Look around', 'Write it down', 'Send it'];
const make = (args: Record<string, unknown> = {}): Say => ({ tool: 'plan_create', args: { goal: 'A report', steps: STEPS, ...args } });
const update = (args: Record<string, unknown>): Say => ({ tool: 'plan_update', args });
const done = (result: string): Say => update({ status: 'completed', result });

/** Says one thing after the other, whatever it is asked. */
const inOrder =
  (...turns: readonly (readonly Say[])[]): Script =>
  (_call, count) =>
    turns[count - 1] ?? ['nothing more'];

const plansOf = async (client: GatewayClient): Promise<Plan[]> => (await client.call('plan.list', {})).plans;
const states = (plan: Plan | undefined): string =>
  `${plan?.status}: ${plan?.steps.map(({ status }) => status).join(' ')} @${plan?.currentStepIndex}`;
const onlyPlan = async (client: GatewayClient): Promise<Plan> => {
  const [plan, ...others] = await plansOf(client);
  if (!plan || others.length > 0) throw new Error(`there are ${others.length + (plan ? 1 : 0)} plans`);
  return plan;
};

/** A plan that a run follows. */
const followed: Plan = {
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
    const seen: string[] = [];
    await using gw = await testGateway({
      model: (call, count) => {
        seen.push(call.context);
        return (
          [
            [make()],
            [{ tool: 'file_write', args: { path: 'seen.md', content: 'much' } }],
            [done('Seen much')],
            [{ tool: 'file_read', args: { path: 'seen.md' } }, done('Written')],
            [done('Sent')],
            ['All done.'],
          ][count - 1] ?? ['?']
        );
      },
    });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'Report to me' });
    const plan = await onlyPlan(client);
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
    const told = messages.filter(({ name }) => name?.startsWith('plan_')).map(({ content }) => String(content));
    expect(told.map((text) => text.match(/"status":"running"/g)?.length ?? 0)).toEqual([2, 2, 2, 0]);
    expect(seen[0]).not.toContain('Plan ');
    await client.call('chat.send', { message: 'Thanks' });
    expect(gw.calls.at(-1)?.context).not.toContain('A report');
    expect(gw.faults).toEqual([]);
  });

  verifies(
    ['plan/paused', 'plan.resume/resumes', 'states.plan/resumed'],
    'is paused when its run ends early, is in the next prompt, and goes on when resumed',
    async () => {
      await using gw = await testGateway({
        model: inOrder([make()], [done('Seen')], ['I pause here.'], [done('Written')], [done('Sent')], ['Finished.']),
      });
      const { client, events } = await gw.client();
      await client.call('chat.send', { message: 'Report to me', sessionId: 'work' });
      const paused = await onlyPlan(client);
      expect(states(paused)).toBe('paused: completed pending pending @1');
      expect(paused.steps[1]).not.toHaveProperty('result');
      // The step starts again.
      expect(paused.steps[1]).not.toHaveProperty('startedAt');
      const resumed = await client.call('plan.resume', { planId: paused.id });
      expect([resumed.resumed, states(resumed.plan)]).toEqual([true, 'running: completed running pending @1']);
      await until(() =>
        events.some(({ event, payload }) => event === 'chat.done' && (payload as { runId: string }).runId === resumed.plan.runId),
      );
      expect(states(await onlyPlan(client))).toBe('completed: completed completed completed @3');
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
    const begun = Promise.withResolvers<void>();
    await using gw = await testGateway({
      model: (_call, count) => {
        if (count === 2) begun.resolve();
        return (
          [[make()], [{ wait: new Promise(() => {}) }], [update({ status: 'running' })]][count - 1] ?? [{ status: 500, body: 'broken' }]
        );
      },
    });
    const { client } = await gw.client();
    const sent = client.call('chat.send', { message: 'go' });
    await begun.promise;
    await client.call('chat.abort', { sessionId: 'main' });
    await expect(sent).rejects.toMatchObject({ code: 'ABORTED' });
    const aborted = await onlyPlan(client);
    expect([states(aborted), aborted.steps[0]?.result]).toEqual(['paused: pending pending pending @0', 'The run was aborted.']);
    await expect(client.call('chat.send', { message: 'go on' })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(gw.calls[2]?.context).toContain('is paused');
    const failed = await onlyPlan(client);
    expect(states(failed)).toBe('paused: pending pending pending @0');
    expect(failed.steps[0]?.result).toMatch(/500/);
  });

  verifies('plan/transitions', 'moves along allowed ways only; steps are added, rewritten and skipped', async () => {
    const results: unknown[] = [];
    const turns: Say[][] = [
      [make()],
      [update({ stepId: 's2', status: 'completed' })],
      [update({ stepId: 's2', status: 'running' })],
      [update({ stepId: 's9', status: 'running' })],
      [update({})],
      [update({ planId: 'another', result: 'x' })],
      [update({ status: 'failed', result: 'It is dark' })],
      [update({ stepId: 's2', description: 'Write less', add: ['Light a lamp'], after: 's1' })],
      [update({ stepId: 's1', status: 'skipped' })],
      [done('Lit')],
      [update({ stepId: 's4', status: 'running' })],
      ['So far.'],
    ];
    await using gw = await testGateway({
      model: ({ body }, count) => {
        results.push(body.messages.at(-1)?.content);
        return turns[count - 1] ?? ['?'];
      },
    });
    const { client, events } = await gw.client();
    await client.call('chat.send', { message: 'go' });
    const told = results.map(String);
    expect(told[2]).toContain('Step s2 is pending and can’t become completed. Allowed: running or skipped.');
    expect(told[3]).toContain('Step s1 is running. Set it to completed or failed or skipped first.');
    expect(told[4]).toContain('No step with id \\"s9\\". Steps: s1, s2, s3.');
    expect(told[5]).toContain('must include at least one of status');
    expect(told[6]).toContain('No plan with id \\"another\\" in this chat.');
    expect(told[7]).toContain('"status":"failed"');
    expect(told[11]).toContain('Step s4 is completed and can’t become running. Allowed: nothing else.');
    const plan = await onlyPlan(client);
    expect(plan.steps.map(({ id, description, status }) => `${id} ${description}: ${status}`)).toEqual([
      's1 Look around: skipped',
      's4 Light a lamp: completed',
      's2 Write less: pending',
      's3 Send it: pending',
    ]);
    expect(states(plan)).toBe('paused: skipped completed pending pending @2');
    expect(events.filter(({ event }) => event === 'chat.tool_result').length).toBe(11);
  });

  verifies(
    'plan/transitions',
    'an unknown step changes nothing; the current step stays current if others are inserted before it',
    async () => {
      const results: unknown[] = [];
      const turns: Say[][] = [
        [make({ goal: 'First' })],
        [update({ goal: 'Second', stepId: 's9' })],
        [update({ goal: 'Third', after: 's9' })],
        [done('Seen')],
        [update({ add: ['Breathe'], after: 's1', status: 'completed', result: 'Written' })],
        ['So far.'],
      ];
      await using gw = await testGateway({
        model: ({ body }, count) => {
          results.push(body.messages.at(-1)?.content);
          return turns[count - 1] ?? ['?'];
        },
      });
      const { client } = await gw.client();
      await client.call('chat.send', { message: 'go' });
      for (const told of results.slice(2, 4)) expect(told).toContain('No step with id \\"s9\\". Steps: s1, s2, s3.');
      const plan = await onlyPlan(client);
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
    await using gw = await testGateway({
      model: inOrder(
        [make({ goal: 'First' })],
        [update({ status: 'failed', result: 'no' })],
        ['Failed.'],
        [make({ goal: 'Second', start: false })],
        ['ok?'],
      ),
    });
    const { client } = await gw.client();
    await client.call('chat.send', { message: 'go' });
    const failed = await onlyPlan(client);
    expect(await client.call('plan.resume', { planId: failed.id })).toEqual({
      resumed: false,
      plan: failed,
      reason: 'The plan is failed. Only paused plans can be resumed.',
    });
    await client.call('chat.send', { message: 'again' });
    const [second, first] = await plansOf(client);
    expect([second?.goal, states(second), first?.goal]).toEqual(['Second', 'paused: pending pending pending @0', 'First']);
    const both = await Promise.all([1, 2].map(() => client.call('plan.resume', { planId: second?.id ?? '' })));
    expect(both.map(({ resumed }) => resumed)).toEqual([true, false]);
    expect(both[1]?.reason).toContain('The plan is running');
    await until(async () => (await client.call('plan.get', { planId: second?.id ?? '' })).status === 'paused');
    await expect(client.call('plan.resume', { planId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  verifies('plan.resume/not-paused', 'where its agent is gone; a run that cannot begin leaves it paused', async () => {
    await using gw = await testGateway({ model: inOrder([make()], ['later']) });
    const { client } = await gw.client();
    await client.call('agents.add', { agent_id: 'helper' });
    await client.call('chat.send', { message: 'go', agentId: 'helper' });
    const plan = await onlyPlan(client);
    await client.call('config.patch', { patch: { agents: { helper: { model: 'none/none' } } } });
    expect(await client.call('plan.resume', { planId: plan.id })).toMatchObject({ resumed: true });
    await until(async () => (await onlyPlan(client)).status === 'paused');
    expect((await onlyPlan(client)).steps[0]?.result).toMatch(/none/);
    await client.call('agents.remove', { agent_id: 'helper' });
    expect(await client.call('plan.resume', { planId: plan.id })).toMatchObject({ resumed: false, reason: 'No agent with id "helper".' });
  });

  verifies('plan.delete/deletes', 'while a run follows it, which goes on', async () => {
    const hold = Promise.withResolvers<void>();
    await using gw = await testGateway({ model: inOrder([make()], [{ wait: hold.promise }, done('x')], ['Ended.']) });
    const { client, events } = await gw.client();
    const sent = client.call('chat.send', { message: 'go' });
    await until(async () => (await plansOf(client)).length === 1);
    const { id } = await onlyPlan(client);
    expect(await client.call('plan.delete', { planId: id })).toEqual({ deleted: true });
    await expect(client.call('plan.delete', { planId: id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.call('plan.get', { planId: id })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    hold.resolve();
    expect(await sent).toMatchObject({ completed: true });
    expect(await plansOf(client)).toEqual([]);
    expect(events.filter(({ event }) => event === 'plan.changed').at(-1)?.payload).toEqual({ planId: id, deleted: true });
  });
});

describe('a plan whose host died', () => {
  verifies(['plan.resume/resumes', 'plan/paused'], 'is paused at the next start, and goes on at the very step', async () => {
    const indexedDB = new IDBFactory();
    const name = 'killed';
    const hung = Promise.withResolvers<void>();
    // Never closed: as if the process were gone in the middle of the second step.
    const dead = await testGateway({
      indexedDB,
      name,
      model: (_call, count) => {
        if (count === 3) hung.resolve();
        return [[make()], [done('Seen')], [{ wait: new Promise(() => {}) }]][count - 1] ?? ['?'];
      },
    });
    const { client: gone } = await dead.client();
    gone.call('chat.send', { message: 'go' }).catch(() => {});
    await hung.promise;
    expect(states(await onlyPlan(gone))).toBe('running: completed running pending @1');

    await using gw = await testGateway({ indexedDB, name, model: inOrder([done('Written')], [done('Sent')], ['Finished.']) });
    const { client } = await gw.client();
    const paused = await onlyPlan(client);
    expect(states(paused)).toBe('paused: completed pending pending @1');
    expect(paused.steps[1]?.result).toBe('Interrupted: the gateway was closed');
    expect(paused.steps[0]).toMatchObject({ status: 'completed', result: 'Seen' });
    expect(await client.call('plan.resume', { planId: paused.id })).toMatchObject({ resumed: true, plan: { status: 'running' } });
    await until(async () => (await onlyPlan(client)).status === 'completed');
    expect(String(gw.calls[0]?.body.messages.at(-1)?.content)).toContain('with step s2: Write it down\n\nProgress so far: Interrupted');
    expect((await onlyPlan(client)).steps.map(({ result }) => result)).toEqual(['Seen', 'Written', 'Sent']);
    expect(gw.faults).toEqual([]);
  });

  verifies('plan/hosts', 'is left alone while another host follows it, and paused when that one is gone', async () => {
    const [clock, sync] = [new FakeClock(), new FakeSync({ role: 'holder' })];
    await using gw = await withRun({ clock, sync });
    await gw.base.vault.collection('plans').put(followed);
    await using next = await testGateway({ vault: gw.vault, clock, sync, useGuide: true });
    const { client } = await next.client();
    expect(await onlyPlan(client)).toEqual(followed);
    expect(await client.call('plan.resume', { planId: 'p' })).toMatchObject({ resumed: false });
    // Its host is gone: the journal gives the run to this one.
    sync.fence = 7;
    await clock.waitsFor(10_000);
    clock.advance(10_000);
    await until(async () => (await onlyPlan(client)).status === 'paused');
    expect((await onlyPlan(client)).steps[0]).toMatchObject({ status: 'pending', result: 'Interrupted: the gateway was closed' });
  });

  verifies('plan/paused', 'although its run had not begun, or had ended, when the host died; nobody need ask for it', async () => {
    const indexedDB = new IDBFactory();
    const name = 'between';
    const dead = await testGateway({ indexedDB, name, useGuide: true });
    await dead.vault.collection('plans').put(followed);
    await dead.vault.collection('plans').put({ ...followed, id: 'later', runId: 'none', sessionId: 'other', status: 'pending' });
    await using gw = await testGateway({ indexedDB, name, useGuide: true });
    await until(async () => (await gw.vault.collection('plans').list()).every(({ status }) => status === 'paused'));
    expect((await gw.vault.collection('plans').get('p'))?.steps[0]?.result).toBe('Interrupted: the gateway was closed');
    expect(gw.faults).toEqual([]);
  });

  verifies('plan/hosts', 'reports changes made by another host', async () => {
    const hosts = new TestHosts();
    await using one = await hosts.host({
      model: inOrder([make()], [done('Seen')], ['I pause here.'], [done('Written')], [done('Sent')], ['Done.']),
    });
    await using two = await hosts.host();
    const [{ client }, { client: other, events }] = [await one.client(), await two.client()];
    await client.call('chat.send', { message: 'go' });
    await one.synced();
    await two.synced();
    const { id } = await onlyPlan(other);
    expect(states(await onlyPlan(other))).toBe('paused: completed pending pending @1');
    expect(events).toContainEqual(expect.objectContaining({ event: 'plan.changed', payload: { planId: id } }));
    await client.call('plan.delete', { planId: id });
    await one.synced();
    await two.synced();
    expect(await plansOf(other)).toEqual([]);
    expect(events.filter(({ event }) => event === 'plan.changed').at(-1)?.payload).toEqual({ planId: id, deleted: true });
  });
});
