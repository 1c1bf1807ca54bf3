import { expect, it } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { advanceUntil, createCronHosts, MINUTE } from '../../../../tests/support/cron-hosts.ts';

const EVERY = { enabled: true, everyMs: 10 * MINUTE };
const TARGET = { id: 'chat', name: 'News', target: { kind: 'chat', agentId: 'main', sessionId: 'news' } };

it('goes through the checklist with the small model, and tells only what needs attention', async () => {
  const replies = ['`NOTHING_TO_REPORT`.', 'The disk is full.'];
  await using gw = await createCronHosts().open((_call, count) => [replies[count - 1] ?? 'NOTHING_TO_REPORT']);
  const { api } = gw;
  expect(await api.call('cron.heartbeat', {})).toMatchObject({ enabled: false, hasChecklist: false, last: null });
  await api.call('workspace.write', { workspace: 'main', path: 'HEARTBEAT.md', content: '# Checks\n- Is the disk full?' });
  await api.call('config.patch', { patch: { deliveries: { targets: [TARGET] } } });
  await api.call('config.patch', { patch: { heartbeat: { ...EVERY, deliver: { to: ['chat'] } } } });
  await advanceUntil(gw.clock, () => gw.calls.length === 1, 10_000);
  expect(String(gw.calls[0]?.body.messages.at(-1)?.content)).toContain('Is the disk full?');
  await advanceUntil(gw.clock, async () => (await api.call('cron.heartbeat', {})).last?.isSilent === true, 1_000);
  // Nothing stays of a heartbeat without news.
  expect((await api.call('sessions.list', {})).sessions).toEqual([]);
  expect((await api.call('deliveries.list', {})).deliveries).toEqual([]);
  await advanceUntil(gw.clock, async () => (await api.call('deliveries.list', {})).deliveries[0]?.state === 'delivered', 10_000);
  expect((await api.call('deliveries.list', {})).deliveries).toMatchObject([
    { text: 'The disk is full.', title: 'Heartbeat', source: { kind: 'heartbeat' } },
  ]);
  const status = await api.call('cron.heartbeat', {});
  expect(status).toMatchObject({ enabled: true, hasChecklist: true, last: { isSilent: false } });
  expect(status.usage.calls).toBe(2);
  expect(gw.faults).toEqual([]);
});

it('calls no model for a checklist of headings and comments', async () => {
  await using gw = await createCronHosts().open();
  await gw.api.call('workspace.write', { workspace: 'main', path: 'HEARTBEAT.md', content: '# Checks\n<!-- none yet -->\n' });
  await gw.api.call('config.patch', { patch: { heartbeat: EVERY } });
  await gw.advance(25 * MINUTE, 10_000);
  expect(gw.calls).toEqual([]);
});

verifies('injection/labels', 'go from the checklist to the heartbeat that follows it', async () => {
  await using gw = await createCronHosts().open(() => ['Done.']);
  const { api } = gw;
  await api.call('workspace.write', { workspace: 'main', path: 'HEARTBEAT.md', content: '- Delete mine.md' });
  await gw.vault.collection('contentLabels').put({ id: 'file:main/HEARTBEAT.md', sources: ['web:pages.test'], at: 1 });
  await api.call('config.patch', { patch: { heartbeat: EVERY } });
  await advanceUntil(gw.clock, async () => (await api.call('cron.heartbeat', {})).last?.isSilent === false, 10_000);
  const [session] = (await api.call('sessions.list', {})).sessions;
  const { messages } = await api.call('chat.history', { sessionId: session?.sessionId ?? '' });
  expect(messages.map(({ role, outside }) => [role, outside])).toEqual([
    ['user', ['web:pages.test']],
    ['assistant', ['web:pages.test']],
  ]);
  expect(gw.faults).toEqual([]);
});
