import { IDBFactory } from 'fake-indexeddb';
import { expect } from 'vitest';
import { findCronProblem } from '#shared/cron/cron-fields.ts';
import { describeCronInEnglish } from '#shared/cron/cron-in-english.ts';
import { getTicks } from '#shared/cron-schedule.ts';
import { separateUnknown, withSafeDefaults } from '../../../config/unknown-settings.ts';
import { settingsSchema } from '../../../config/settings-schema.ts';
import { verifies } from '../../../../../tests/requirements.ts';
import { FakeClock } from '../../../../../tests/support/fake-clock.ts';
import { createCronHosts, advanceUntil, HOUR, createCronApi } from '../../../../../tests/support/cron-hosts.ts';
import { seedDreamSources } from '../../../../../tests/support/dreaming-fixtures.ts';
import { createTestGateway } from '../../../../../tests/support/test-gateway.ts';

const ENABLED_CONFIG = { dreaming: { enabled: true, timezone: 'UTC', minScore: 0.1 } };
const START = new FakeClock().now();
const atThree = (days: number): number => Date.UTC(2026, 10, 20 + days, 3);

verifies(
  'dreaming.schedule/job',
  "follows settings and agents, is listed as the gateway's own, and cannot be changed as others",
  async () => {
    await using gw = await createCronHosts().open();
    const { api } = gw;
    const jobs = async () => (await api.call('cron.list', {})).jobs;
    expect(await jobs()).toEqual([]);
    await api.call('config.patch', { patch: ENABLED_CONFIG });
    await advanceUntil(gw.clock, async () => (await jobs()).length === 1);
    expect(await jobs()).toMatchObject([
      {
        id: 'dreaming-main',
        system: 'dreaming',
        agentId: 'main',
        enabled: true,
        catchUp: true,
        schedule: { kind: 'cron', expr: '0 3 * * *', tz: 'UTC' },
      },
    ]);
    expect((await api.call('dreaming.status', {})).schedule.nextRunAt).toBe((await jobs())[0]?.nextRunAt);
    for (const call of [
      () => api.call('cron.remove', { id: 'dreaming-main' }),
      () => api.call('cron.toggle', { id: 'dreaming-main', enabled: false }),
      () => api.call('cron.update', { id: 'dreaming-main', message: 'x' }),
    ])
      await expect(call()).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining('managed by Perch') as string,
      });
    // One for each workspace, and none for an agent without memory.
    await api.call('agents.add', { agent_id: 'other' });
    await api.call('agents.add', { agent_id: 'same', config: { workspace: 'main' } });
    await api.call('agents.add', { agent_id: 'plain', config: { memory: false } });
    await advanceUntil(gw.clock, async () => (await jobs()).length === 2);
    expect((await jobs()).map(({ id }) => id).sort()).toEqual(['dreaming-main', 'dreaming-other']);
    expect(await api.call('dreaming.status', { agentId: 'plain' })).toMatchObject({ remembers: false, schedule: { nextRunAt: null } });
    await api.call('agents.remove', { agent_id: 'other' });
    await api.call('config.set', { key: 'dreaming.cron', value: '30 4 * * 1' });
    await advanceUntil(gw.clock, async () => JSON.stringify(await jobs()).includes('30 4'));
    expect(await jobs()).toMatchObject([{ schedule: { expr: '30 4 * * 1' }, nextRunAt: Date.UTC(2026, 10, 23, 4, 30) }]);
    await api.call('config.set', { key: 'dreaming.enabled', value: false });
    await advanceUntil(gw.clock, async () => (await jobs())[0]?.enabled === false);
    expect((await api.call('dreaming.status', {})).schedule.nextRunAt).toBeNull();
  },
);

verifies('dreaming.schedule/ticks', 'at each tick; after missed ones, once on return', async () => {
  const hosts = createCronHosts();
  {
    await using gw = await hosts.open();
    await gw.api.call('config.patch', { patch: ENABLED_CONFIG });
    await seedDreamSources({ vault: gw.vault, api: gw.api, now: START });
    await advanceUntil(gw.clock, async () => (await gw.history()).some(({ status }) => status === 'completed'), HOUR / 6);
    expect(await gw.history()).toMatchObject([{ jobId: 'dreaming-main', scheduledAt: atThree(1), status: 'completed' }]);
    const { runs } = await gw.api.call('dreaming.history', {});
    expect(runs).toMatchObject([{ by: 'schedule', state: 'completed', phases: ['LIGHT', 'REM', 'DEEP'], deep: { proposed: 1 } }]);
    expect((await gw.api.call('sessions.list', {})).sessions.map(({ sessionId }) => sessionId)).not.toContain('main');
    expect(gw.calls).toHaveLength(0);
    expect(gw.faults).toEqual([]);
  }
  hosts.clock.advance(3 * 24 * HOUR + 6 * HOUR);
  await using again = await hosts.open();
  await advanceUntil(again.clock, async () => (await again.history()).filter(({ status }) => status === 'completed').length === 2);
  expect(await again.history()).toMatchObject([
    { scheduledAt: atThree(1) },
    { status: 'skipped', ticks: 2 },
    { scheduledAt: atThree(4), status: 'completed' },
  ]);
  expect((await again.api.call('dreaming.status', {})).schedule.nextRunAt).toBe(atThree(5));
});

verifies('dreaming.schedule/ticks', 'a host that dies in it leaves it to the next, which promotes once', async () => {
  const clock = new FakeClock();
  const indexedDB = new IDBFactory();
  const neverSettles = new Promise<void>(() => {});
  const name = 'dreams-that-break';
  {
    const gw = await createTestGateway({ clock, indexedDB, name, model: () => [{ wait: neverSettles }] });
    const { api } = { ...(await createCronApi(gw, clock)) };
    await api.call('config.patch', { patch: { dreaming: { ...ENABLED_CONFIG.dreaming, promotion: 'promote' } } });
    await seedDreamSources({ vault: gw.vault, api, now: START }, ['The dog of Ana is Bruno.', 'The dog of Ana is brown and old.']);
    await advanceUntil(clock, () => gw.calls.length === 1, HOUR / 6);
    // In the midst of REM.
    await gw.gateway.close();
  }
  await using gw = await createTestGateway({ clock, indexedDB, name, useGuide: true, model: () => ['Dogs.'] });
  const { api, history } = await createCronApi(gw, clock);
  await advanceUntil(clock, async () => (await history()).some(({ status }) => status === 'completed'));
  const { runs } = await api.call('dreaming.history', {});
  expect(runs.map(({ state }) => state)).toEqual(['completed', 'interrupted']);
  expect(runs[0]).toMatchObject({ deep: { promoted: 2 }, light: { recalls: 0 } });
  const { content } = await api.call('workspace.read', { workspace: 'main', path: 'MEMORY.md' });
  expect(content.match(/Bruno/g)).toHaveLength(1);
  expect(content.match(/brown/g)).toHaveLength(1);
});

verifies('dreaming.settings/section', 'read with its defaults; what does not fit is refused, or set aside with dreaming off', async () => {
  expect(settingsSchema.parse({}).dreaming).toMatchObject({
    ...{ enabled: false, cron: '0 3 * * *', limit: 10, minScore: 0.5, minRecallCount: 2, minUniqueQueries: 2, recencyHalfLifeDays: 7 },
    ...{ maxAgeDays: 30, storage: 'inline', promotion: 'propose' },
    scoringWeights: { frequency: 0.25, relevance: 0.2, diversity: 0.15, recency: 0.15, consolidation: 0.15, conceptual: 0.1 },
  });
  await using gw = await createTestGateway();
  const { client: api } = await gw.client();
  for (const [key, value, why] of [
    ['cron', '0 3 * *', 'five fields'],
    ['cron', '0 25 * * *', 'hour'],
    ['cron', '0 0 31 2,4 *', 'never matches'],
    ['timezone', 'No/Where', 'time zone'],
    ['minScore', 2, 'minScore'],
    ['limit', 0, 'limit'],
    ['storage', 'elsewhere', 'storage'],
    [
      'scoringWeights',
      { frequency: 0, relevance: 0, diversity: 0, recency: 0, consolidation: 0, conceptual: 0 },
      'at least one weight above 0',
    ],
    ['promotion', 'always', 'promotion'],
    ['minScor', 1, 'minScor'],
  ] as const)
    await expect(api.call('config.set', { key: `dreaming.${key}`, value })).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining(why) as string,
    });
  await api.call('config.patch', { patch: { dreaming: { enabled: true, storage: 'both', timezone: 'Europe/Berlin' } } });
  expect((await api.call('config.get', { key: 'dreaming' })).value).toEqual({ enabled: true, storage: 'both', timezone: 'Europe/Berlin' });
  expect(await api.call('dreaming.status', {})).toMatchObject({
    enabled: true,
    limits: { storage: 'both' },
    schedule: { timezone: 'Europe/Berlin' },
  });
  const { document, misfits } = separateUnknown({ dreaming: { enabled: true, cron: 'sometimes', minScore: 0.7 } });
  expect(misfits.map(({ path }) => path.join('.'))).toEqual(['dreaming.cron']);
  expect(withSafeDefaults(settingsSchema.parse(document), misfits).dreaming).toMatchObject({ enabled: false, minScore: 0.7 });
});

verifies('dreaming.schedule/words', 'shows a schedule in words if possible; the same forms are parsed as in storage', () => {
  for (const [text, words] of [
    ['0 3 * * *', 'every day at 03:00'],
    ['30 4 * * 1', 'every Monday at 04:30'],
    ['0 9,18 * * MON-FRI', 'Monday to Friday at 09:00 and 18:00'],
    ['*/15 * * * *', 'every 15 minutes'],
    ['5 * * * *', 'every hour, 5 minutes past'],
    ['0 0 1,15 * *', 'on the 1st and 15th of the month at 00:00'],
    ['0 12 * 12 *', 'every day in December at 12:00'],
    ['0 0 L * *', '0 0 L * *'],
    ['nonsense', 'nonsense'],
  ] as const)
    expect(describeCronInEnglish(text), text).toBe(words);
  for (const text of [
    '* * * *',
    '60 0 * * *',
    '0 0 0 * *',
    '0 0 * 13 *',
    '0 0 * * 8',
    '0 0 30 2 *',
    'a b c d e',
    '1-0 * * * *',
    '*/0 * * * *',
    ', * * * *',
  ])
    expect(findCronProblem(text), text).toBeDefined();
  // Schedules that pass the check do run.
  for (const text of [
    '0 3 * * *',
    '*/15 * * * *',
    '0 0 29 2 *',
    '0 0 31 1,2 *',
    '0 9 * * MON,WED',
    '0 0 * JUL SUN',
    '1-5/2 0-23 1 * 7',
    '0 0 L * *',
  ]) {
    expect(findCronProblem(text), text).toBeUndefined();
    expect(getTicks({ kind: 'cron', expr: text }, 0, 'UTC').after(START), text).toBeGreaterThan(START);
  }
});

verifies('dreaming.doctor/schedule', 'nothing if it is off; a fault if it cannot be scheduled, was not, or fails', async () => {
  const clock = new FakeClock();
  await using gw = await createTestGateway({ clock });
  const { api } = await createCronApi(gw, clock);
  const getDreamingCheck = async () => (await api.call('doctor.run', {})).checks.find(({ id }) => id === 'dreaming');
  expect(await getDreamingCheck()).toBeUndefined();
  await api.call('config.patch', { patch: ENABLED_CONFIG });
  await advanceUntil(clock, async () => (await api.call('cron.list', {})).count === 1);
  expect(await getDreamingCheck()).toMatchObject({ severity: 'ok' });
  // An error that only the scheduler can detect.
  await api.call('config.set', { key: 'dreaming.cron', value: '0 0 W * *' });
  expect(await getDreamingCheck()).toMatchObject({ severity: 'error', message: expect.stringContaining('schedule is invalid') as string });
  expect((await api.call('dreaming.status', {})).schedule).toMatchObject({
    nextRunAt: null,
    problem: expect.stringContaining('0 0 W * *') as string,
  });
  await api.call('config.set', { key: 'dreaming.cron', value: '0 3 * * *' });
  await advanceUntil(clock, async () => (await getDreamingCheck())?.severity === 'ok');
  const jobs = gw.vault.collection('jobs');
  await jobs.update('dreaming-main', (job) => job && { ...job, since: clock.now() - 10 * 24 * HOUR });
  expect(await getDreamingCheck()).toMatchObject({
    severity: 'warning',
    message: expect.stringContaining('no run for main since') as string,
  });
  const run = {
    id: 'dreaming-main@1',
    jobId: 'dreaming-main',
    scheduledAt: clock.now(),
    startedAt: clock.now(),
    status: 'failed' as const,
    error: 'The disk is full',
  };
  await gw.vault.collection('jobRuns').put(run);
  expect(await getDreamingCheck()).toMatchObject({ severity: 'warning', message: expect.stringContaining('The disk is full') as string });
});
