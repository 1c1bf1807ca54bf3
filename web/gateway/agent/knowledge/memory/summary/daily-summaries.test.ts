import { expect } from 'vitest';
import { verifies } from '../../../../../../tests/requirements.ts';
import { type CronHost, createCronHosts, advanceUntil, HOUR } from '../../../../../../tests/support/cron-hosts.ts';
import { DAY, storeRecalls } from '../../../../../../tests/support/dreaming-fixtures.ts';
import { type ModelCall, type ModelScript, createTestGateway } from '../../../../../../tests/support/test-gateway.ts';

const START = createCronHosts().clock.now();
const ENABLED_CONFIG = { memory: { daily_summaries: { enabled: true } }, chat: { timeZone: 'Europe/Berlin' } };
const SUMMARY = '## Goal\n\nSeveral things were talked about.';
const hasEnded = async (gw: CronHost, count: number): Promise<boolean> =>
  (await gw.history()).filter(({ status }) => status !== 'running').length >= count;
const getRequestText = ({ body }: ModelCall): string => JSON.stringify(body.messages);
const storeChat = (gw: CronHost, at: number, query: string, sessionId?: string) =>
  storeRecalls(gw.vault, { ...(sessionId === undefined ? {} : { sessionId }), turns: [{ at, query, recalled: [] }] });

verifies('memory.agents/daily', 'in the person’s time zone, once, without channels and tool results; listed among the days', async () => {
  await using gw = await createCronHosts().open(() => [SUMMARY]);
  await storeChat(gw, Date.UTC(2026, 10, 18, 22, 50), 'The boat is green');
  await storeChat(gw, Date.UTC(2026, 10, 18, 23, 30), 'The shed is blue');
  await storeChat(gw, Date.UTC(2026, 10, 18, 23, 40), 'The spy says the roof is gold', 'telegram-7');
  const [first] = await storeChat(gw, START - HOUR, 'The gate is white');
  const session = await gw.vault.sessions.get(first?.sessionKey ?? '');
  if (!first || !session) throw new Error('There is no chat');
  const beside = { ...session, key: 'main/tools', sessionId: 'tools' };
  await gw.vault.sessions.add(beside, [
    { ...first, sessionKey: 'main/tools', id: 't', role: 'tool', name: 'web_fetch', content: 'The page says red' },
  ]);
  await gw.advance(DAY, HOUR / 6);
  expect([gw.calls.length, await gw.history()]).toEqual([0, []]);

  await gw.api.call('config.patch', { patch: ENABLED_CONFIG });
  await advanceUntil(gw.clock, () => hasEnded(gw, 1), HOUR / 6);
  expect(await gw.history()).toMatchObject([{ jobId: 'summaries-main', status: 'completed', scheduledAt: Date.UTC(2026, 10, 21, 23, 10) }]);
  const prompts = gw.calls.map(getRequestText);
  expect(prompts.map((text) => /(gate|shed|boat) is/.exec(text)?.[1])).toEqual(['gate', 'shed', 'boat']);
  expect(prompts.join()).not.toMatch(/spy|page says/);
  const { days } = await gw.api.call('memory.days', {});
  expect(days.map(({ date, messages: count, notes }) => [date, count > 0, notes])).toEqual([
    ['2026-11-20', true, true],
    ['2026-11-19', true, true],
    ['2026-11-18', true, true],
  ]);
  expect((await gw.api.call('memory.day', { date: '2026-11-19' })).notes).toContain('Several things were talked about.');
  expect((await gw.api.call('usage.get', {})).calls).toBe(3);
  await advanceUntil(gw.clock, () => hasEnded(gw, 2), HOUR / 6);
  expect(gw.calls).toHaveLength(3);

  // A summary that was requested during the day lacks the rest of it; a section that a person has emptied stays empty.
  await storeChat(gw, gw.clock.now(), 'The morning is cold');
  const today = new Date(gw.clock.now() + HOUR).toISOString().slice(0, 10);
  await gw.api.call('memory.summariseDay', { date: today });
  const empty = '# A day\n\n<!-- perch:summary -->\n<!-- /perch:summary -->\n';
  await gw.api.call('workspace.write', { workspace: 'main', path: 'memory/2026-11-19.md', content: empty });
  await advanceUntil(gw.clock, () => hasEnded(gw, 3), HOUR / 6);
  expect(gw.calls).toHaveLength(5);
  expect(getRequestText(gw.calls[4] as ModelCall)).toContain('morning');
  expect((await gw.api.call('memory.day', { date: '2026-11-19' })).notes).toBe(empty);
  expect(gw.faults).toEqual([]);
});

verifies('memory.agents/daily', 'catches up on missed days, seven at a time, within the retention period', async () => {
  const hosts = createCronHosts();
  {
    await using gw = await hosts.open();
    for (let back = 1; back <= 40; back++) if (back < 12 || back > 35) await storeChat(gw, START - back * DAY, `Day ${back}`);
    await gw.api.call('config.patch', { patch: ENABLED_CONFIG });
    await advanceUntil(gw.clock, async () => (await gw.api.call('cron.list', {})).jobs.length === 1);
  }
  hosts.clock.advance(3 * DAY);
  await using gw = await hosts.open(() => [SUMMARY]);
  await advanceUntil(gw.clock, async () => (await gw.history()).some(({ status }) => status === 'completed'));
  expect(gw.calls.map((call) => /Day (\d+)/.exec(getRequestText(call))?.[1])).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  await advanceUntil(gw.clock, () => gw.calls.length === 11, HOUR / 6);
  const before = (await gw.history()).length;
  await advanceUntil(gw.clock, async () => (await gw.history()).length > before, HOUR / 6);
  expect(gw.calls).toHaveLength(11);
});

verifies(
  'memory.agents/daily',
  'a model that fails is told in the history and asked again the next night; without one the log says so once',
  async () => {
    let fails = true;
    const model: ModelScript = () => (fails ? [{ status: 400, body: '{"error":{"message":"No such key"}}' }] : [SUMMARY]);
    const hosts = createCronHosts();
    await using gw = await hosts.open(model);
    await gw.api.call('config.patch', { patch: { ...ENABLED_CONFIG, chat: { ...ENABLED_CONFIG.chat, model: null } } });
    await storeChat(gw, START - DAY, 'The shed is blue');
    await advanceUntil(gw.clock, () => hasEnded(gw, 2), HOUR / 6);
    expect((await gw.history()).map(({ status }) => status)).toEqual(['completed', 'completed']);
    const { lines } = await gw.api.call('logs.tail', { limit: 500 });
    expect(lines.filter((line) => JSON.stringify(line).includes('Skipped daily summaries'))).toHaveLength(1);
    expect(gw.calls).toHaveLength(0);

    await gw.api.call('config.set', { key: 'chat.model', value: 'test/scripted' });
    await advanceUntil(gw.clock, () => hasEnded(gw, 3), HOUR / 6);
    expect((await gw.history()).at(-1)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/2026-11-19: .*No such key/) as string,
    });
    expect((await gw.api.call('memory.day', { date: '2026-11-19' })).notes).toBeNull();
    expect(gw.faults).toEqual([]);
    fails = false;
    await advanceUntil(gw.clock, () => hasEnded(gw, 4), HOUR / 6);
    expect((await gw.api.call('memory.day', { date: '2026-11-19' })).notes).toContain('Several things');
  },
);

verifies('memory.agents/daily', 'the setting is read strictly', async () => {
  await using gw = await createTestGateway();
  const { client } = await gw.client();
  await expect(client.call('config.set', { key: 'memory.daily_summaries', value: { enabled: 'yes' } })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
    message: expect.stringContaining('daily_summaries') as string,
  });
});
