import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { createCronHosts, advanceUntil, HOUR, MINUTE } from '../../../../tests/support/cron-hosts.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import type { Say } from '../../../../tests/support/test-gateway.ts';

const START = new FakeClock().now();

verifies('cron/tools', 'in a run, and the prompt when the job is due', async () => {
  const pendingSteps: Say[][] = [];
  await using gw = await createCronHosts().open(({ body }) =>
    body.messages.at(-1)?.role === 'tool' ? ['done'] : (pendingSteps.shift() ?? ['nothing']),
  );
  await gw.api.call('agents.add', { agent_id: 'helper' });
  await gw.api.call('config.set', { key: 'tools.policies', value: { cron_add: 'auto', cron_remove: 'auto' } });
  /** Result of the tool when an agent's model calls it. */
  const callTool = async (agentId: string, tool: string, args: unknown): Promise<unknown> => {
    pendingSteps.push([{ tool, args }]);
    await gw.api.call('chat.send', { agentId, message: 'Go on' });
    return JSON.parse(String(gw.calls.at(-1)?.body.messages.at(-1)?.content));
  };
  const { tools } = await gw.api.call('tools.catalog', {});
  expect(tools.filter(({ name }) => name.startsWith('cron_')).map(({ name, source }) => [name, source])).toEqual([
    ['cron_add', 'core'],
    ['cron_list', 'core'],
    ['cron_remove', 'core'],
  ]);
  const own = await gw.add({ schedule: { kind: 'every', everyMs: HOUR }, name: 'Of main' });
  const added = await callTool('helper', 'cron_add', { message: 'Water the plants', at: '2026-11-20T13:01:00+01:00', inMainSession: true });
  expect(added).toMatchObject({ name: 'Water the plants', nextRunAt: '2026-11-20T12:01:00.000Z', schedule: 'at 2026-11-20T12:01:00.000Z' });
  const weekly = await callTool('helper', 'cron_add', { message: 'x', cron: '0 9 * * MON', timeZone: 'Europe/Berlin' });
  expect(weekly).toMatchObject({ nextRunAt: '2026-11-23T08:00:00.000Z' });
  expect(await callTool('helper', 'cron_add', { message: 'x', at: '2026-11-21T09:00' })).toEqual({
    error: expect.stringContaining('has no time zone') as string,
  });
  const local = await callTool('helper', 'cron_add', { message: 'x', at: '2026-11-21T09:00', timeZone: 'Asia/Tokyo' });
  expect(local).toMatchObject({ schedule: 'at 2026-11-21T00:00:00.000Z' });
  await callTool('helper', 'cron_remove', { id: (local as { id: string }).id });
  expect(await callTool('helper', 'cron_add', { message: 'x', everyMinutes: 5 })).toMatchObject({ schedule: 'every 300 s' });
  expect(await callTool('helper', 'cron_list', {})).toMatchObject({ jobs: [{ name: 'Water the plants' }, { name: 'x' }, { name: 'x' }] });
  for (const wrong of [{}, { cron: '* * * * *', everyMinutes: 5 }, { cron: 'x' }, { at: '2026-11-20T11:00:00Z' }, { at: 'tomorrow' }]) {
    expect(await callTool('helper', 'cron_add', { message: 'x', ...wrong })).toEqual({ error: expect.any(String) as string });
  }
  expect(await callTool('helper', 'cron_remove', { id: own })).toEqual({
    error: `You have no job with id "${own}". Call cron_list to get ids.`,
  });
  const { id } = weekly as { id: string };
  expect(await callTool('helper', 'cron_remove', { id })).toEqual({ removed: id });
  expect((await gw.api.call('cron.list', {})).jobs.map(({ agentId }) => agentId).sort()).toEqual(['helper', 'helper', 'main']);
  await advanceUntil(gw.clock, async () => (await gw.history()).some(({ status }) => status === 'completed'));
  expect(await gw.history()).toMatchObject([{ scheduledAt: START + MINUTE, agentId: 'helper', sessionId: 'main' }]);
  const { messages } = await gw.api.call('chat.history', { agentId: 'helper', sessionId: 'main' });
  expect(messages.slice(-2)).toMatchObject([{ content: 'Water the plants' }, { content: 'nothing' }]);
});
